// Variants arranged as a grid: packages down, slices across. Knows nothing of how it is drawn.
#ifndef HYDRANT_CLIENT_FORMAT_GRID_LAYOUT_H_
#define HYDRANT_CLIENT_FORMAT_GRID_LAYOUT_H_

#include <google/protobuf/repeated_ptr_field.h>
#include <hydrant/v1/matrix.pb.h>

#include <string>
#include <utility>
#include <vector>

namespace hydrant::client {

using Variants = google::protobuf::RepeatedPtrField<v1::VariantStatus>;

struct GridLayout {
  std::vector<std::pair<std::string, std::string>> shared;  // axis, value: what all slices have in common
  std::vector<std::string> axes;                            // those that differ; one head line each
  std::vector<std::vector<std::string>> columns;  // a value for each of `axes`; "" where a slice has none
  struct Row {
    std::string name;
    std::vector<const v1::VariantStatus*> cells;  // one a column; null: not in the matrix
    std::vector<char> groups;  // one a column: cells of the row that one step serves have the same letter; 0: of its own
  };
  std::vector<Row> rows;
  bool has_groups = false;
  int hydra_width = 0;  // of the column about Hydra; 0: it would skip none, and there is no such column
};

// Rows in the order of the variants, columns in the natural order of their values. The cells point into
// `variants`.
GridLayout LayOutGrid(const Variants& variants);

// The name of a variant's row: its id up to the slice.
std::string RowName(const v1::VariantStatus& variant);

// A value as a column's head: "3.13" of an axis python's "python313".
std::string AxisHead(const std::string& axis, const std::string& value);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_GRID_LAYOUT_H_
