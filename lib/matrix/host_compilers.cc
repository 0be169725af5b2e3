#include "lib/matrix/host_compilers.h"

#include <algorithm>
#include <iterator>

namespace hydrant {
namespace {

constexpr std::string_view kNvcc = "nixpkgs pkgs/development/cuda-modules/_cuda/db/bootstrap/nvcc.nix";
constexpr HostCompilers kRows[] = {
    {{11, 8}, 11, 14, kNvcc}, {{12, 0}, 12, 14, kNvcc}, {{12, 1}, 12, 15, kNvcc}, {{12, 2}, 12, 16, kNvcc},
    {{12, 3}, 12, 16, kNvcc}, {{12, 4}, 13, 17, kNvcc}, {{12, 5}, 13, 17, kNvcc}, {{12, 6}, 13, 18, kNvcc},
    {{12, 8}, 14, 19, kNvcc}, {{12, 9}, 14, 19, kNvcc},
};

}  // namespace

std::span<const HostCompilers> AllHostCompilers() { return kRows; }

std::optional<HostCompilers> HostCompilersOf(CudaVersion cuda) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const HostCompilers& each) { return each.cuda == cuda; });
  return row == std::end(kRows) ? std::nullopt : std::optional(*row);
}

}  // namespace hydrant
