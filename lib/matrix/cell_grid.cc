#include "lib/matrix/cell_grid.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hydrant {
namespace {

uint64_t SaturatingProduct(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

}  // namespace

uint64_t CellCount(const CellGrid& grid) {
  uint64_t count = grid.packages.size();
  for (const Axis& axis : grid.axes) count = SaturatingProduct(count, axis.values.size());
  return count;
}

std::string CellCountText(const CellGrid& grid) {
  std::string text = absl::StrCat(grid.packages.size(), " packages");
  for (const Axis& axis : grid.axes) absl::StrAppend(&text, " x ", axis.values.size(), " ", axis.name);
  return text;
}

void ForEachPoint(const std::vector<Axis>& axes, const std::function<void(AxisPoint)>& visit) {
  std::vector<size_t> digits(axes.size(), 0);
  while (true) {
    AxisPoint point;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].values.empty()) return;
      point[axes[i].name] = axes[i].values[digits[i]];
    }
    visit(std::move(point));
    size_t wheel = axes.size();
    while (wheel > 0 && ++digits[wheel - 1] == axes[wheel - 1].values.size()) digits[--wheel] = 0;
    if (wheel == 0) return;
  }
}

CellGrid DeclaredGrid(const Matrix& matrix) { return {matrix.packages, matrix.axes}; }

CellGrid IncludedGrid(const Matrix& matrix, const Selection& include) {
  CellGrid grid = DeclaredGrid(matrix);
  if (const auto packages = include.axes.find("package"); packages != include.axes.end())
    grid.packages = packages->second;
  for (Axis& axis : grid.axes) {
    const auto chosen = include.axes.find(axis.name);
    if (chosen == include.axes.end()) continue;
    axis.values.clear();
    for (const std::string& value : chosen->second) {
      axis.values.push_back(axis.name == "capabilities" ? AxisValue{absl::StrSplit(value, '+')}
                                                        : AxisValue{{value}});
    }
  }
  return grid;
}

}  // namespace hydrant
