#include "lib/matrix/matrix.h"

#include <tuple>

namespace hydrant {
namespace {

int RankOf(const std::string& axis) {
  for (int i = 0; i < 3; ++i) {
    if (axis == kAxisOrder[i]) return i;
  }
  return axis == "system" ? 4 : 3;
}

}  // namespace

bool AxisBefore(const std::string& a, const std::string& b) {
  return std::forward_as_tuple(RankOf(a), a) < std::forward_as_tuple(RankOf(b), b);
}

std::string AxisValue::Joined() const {
  std::string joined;
  for (const std::string& word : words) {
    if (!joined.empty()) joined += '+';
    joined += word;
  }
  return joined;
}

}  // namespace hydrant
