#include <time.h>

#include <cstdlib>
#include <iostream>

#include "lib/base/status_macros.h"
#include "lib/nix/closure.h"
#include "tests/bench/nix/verbs.h"

namespace hydrant::nix::bench {
namespace {

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

absl::Status Closure(const Arguments& arguments) {
  const int repeat = std::atoi(arguments[2].c_str());
  ClosureCounts counts;
  const double before = CpuSeconds();
  for (int i = 0; i < repeat; ++i) {
    HYDRANT_ASSIGN_OR_RETURN(const auto loader, ClosureLoader::Open({.store_root = arguments[0]}));
    HYDRANT_ASSIGN_OR_RETURN(const nix::Closure closure, loader->Load({&arguments[1], 1}));
    counts = closure.counts();
  }
  std::cout << "{\"derivations\": " << counts.derivations << ", \"edges\": " << counts.edges
            << ", \"outputs\": " << counts.outputs << ", \"fixed_output\": " << counts.fixed_outputs
            << ", \"cpu_each\": " << (CpuSeconds() - before) / repeat << "}\n";
  return absl::OkStatus();
}

}  // namespace hydrant::nix::bench
