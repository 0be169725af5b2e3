// The cells that some axes span: how many, and each of them in order. Makes none of them before it is asked
// to.
#ifndef HYDRANT_LIB_MATRIX_CELL_GRID_H_
#define HYDRANT_LIB_MATRIX_CELL_GRID_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lib/matrix/matrix.h"

namespace hydrant {

// One point of some axes, by axis name.
using AxisPoint = std::map<std::string, AxisValue>;

// Packages and the values of each axis; their product is the grid.
struct CellGrid {
  std::vector<std::string> packages;
  std::vector<Axis> axes;
};

// Saturates: a product beyond uint64_t is its maximum.
uint64_t CellCount(const CellGrid& grid);

// "5000 packages x 4 cuda x 600 python"
std::string CellCountText(const CellGrid& grid);

// Each point of the axes, the first axis slowest.
void ForEachPoint(const std::vector<Axis>& axes, const std::function<void(AxisPoint)>& visit);

// What [axes] declares, and what one [[include]] adds: its own values, and the declared ones of the axes that
// it leaves out.
CellGrid DeclaredGrid(const Matrix& matrix);
CellGrid IncludedGrid(const Matrix& matrix, const Selection& include);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_CELL_GRID_H_
