#include "lib/nix/reference_scan.h"

#include <algorithm>
#include <array>

#include "lib/nix/store_path.h"

namespace hydrant::nix {
namespace {

constexpr std::array<bool, 256> Base32Characters() {
  std::array<bool, 256> is{};
  for (const char c : std::string_view("0123456789abcdfghijklmnpqrsvwxyz"))
    is[static_cast<unsigned char>(c)] = true;
  return is;
}
constexpr std::array<bool, 256> kIsBase32 = Base32Characters();

}  // namespace

void ReferenceScan::Feed(std::string_view bytes) {
  if (missing_.empty()) return;
  if (!tail_.empty()) {
    // Windows across the border: at most 31 bytes on either side of it.
    std::string border = tail_;
    border.append(bytes.substr(0, kHashPartLength - 1));
    Search(border);
  }
  Search(bytes);
  if (bytes.size() >= kHashPartLength - 1) {
    tail_ = bytes.substr(bytes.size() - (kHashPartLength - 1));
  } else {
    tail_.append(bytes);
    if (tail_.size() > kHashPartLength - 1) tail_.erase(0, tail_.size() - (kHashPartLength - 1));
  }
}

void ReferenceScan::Search(std::string_view bytes) {
  // From the last character of a window backwards: a foreign one lets the window jump behind it.
  for (size_t start = 0; start + kHashPartLength <= bytes.size();) {
    size_t j = kHashPartLength;
    while (j > 0 && kIsBase32[static_cast<unsigned char>(bytes[start + j - 1])]) --j;
    if (j > 0) {
      start += j;
      continue;
    }
    if (const auto hit = missing_.find(bytes.substr(start, kHashPartLength)); hit != missing_.end()) {
      found_.emplace(*hit);
      missing_.erase(hit);
    }
    ++start;
  }
}

}  // namespace hydrant::nix
