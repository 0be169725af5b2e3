// The grid as text: packages down, slices across, one mark a cell.
#ifndef HYDRANT_CLIENT_FORMAT_GRID_H_
#define HYDRANT_CLIENT_FORMAT_GRID_H_

#include <string>

#include "client/format/grid_layout.h"
#include "client/format/writer.h"

namespace hydrant::client {

// One head line an axis that differs; in blocks below one another where the screen is too narrow for all
// columns.
void WriteGrid(const GridLayout& grid, Writer& writer);

// The marks that occur with their words and counts: legend and totals in one.
void WriteLegend(const Variants& variants, Writer& writer);

// The same grid as a markdown table.
std::string FormatMarkdownGrid(const GridLayout& grid);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_GRID_H_
