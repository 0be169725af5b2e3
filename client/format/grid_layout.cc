#include "client/format/grid_layout.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "client/format/json.h"
#include "client/format/policy.h"
#include "client/format/text.h"

namespace hydrant::client {
namespace {

std::string ValueOf(const SliceAxes& slice, const std::string& axis) {
  for (const auto& [name, value] : slice) {
    if (name == axis) return value;
  }
  return "";
}

// Every axis of any slice, in the order in which the slices give them.
std::vector<std::string> AllAxes(const std::vector<SliceAxes>& slices) {
  std::vector<std::string> axes;
  for (const SliceAxes& slice : slices) {
    auto place = axes.begin();
    for (const auto& [axis, value] : slice) {
      const auto found = std::find(axes.begin(), axes.end(), axis);
      place = (found == axes.end() ? axes.insert(place, axis) : found) + 1;
    }
  }
  return axes;
}

// The default first, then by number.
bool ValueLess(const std::string& a, const std::string& b) {
  if (a == b || a == "default" || b == "default") return a == "default" && b != "default";
  return NaturalLess(a, b);
}

bool ColumnLess(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return ValueLess(a[i], b[i]);
  }
  return false;
}

// Letters for the derivations that several cells of the row have; what comes after 'Z' is '+'.
void MarkGroups(GridLayout::Row& row) {
  std::map<std::string, int> cells_of;
  for (const auto* cell : row.cells) {
    if (cell != nullptr && !cell->derivation().empty()) ++cells_of[cell->derivation()];
  }
  std::map<std::string, char> letters;
  char next = 'a';
  for (const auto* cell : row.cells) {
    row.groups.push_back(0);
    if (cell == nullptr || cell->derivation().empty() || cells_of[cell->derivation()] < 2) continue;
    const auto [letter, added] = letters.try_emplace(cell->derivation(), next);
    if (added && next != '+') next = next == 'z' ? 'A' : next == 'Z' ? '+' : static_cast<char>(next + 1);
    row.groups.back() = letter->second;
  }
}

}  // namespace

std::string RowName(const v1::VariantStatus& variant) {
  const std::string name = variant.id().substr(0, variant.id().find('@'));
  return name.empty() ? variant.package() : name;
}

GridLayout LayOutGrid(const Variants& variants) {
  std::vector<SliceAxes> slices;
  for (const auto& variant : variants) slices.push_back(ReadSlice(variant.slice_json()));
  GridLayout grid;
  for (const std::string& axis : AllAxes(slices)) {
    std::set<std::string> values;
    for (const SliceAxes& slice : slices) values.insert(ValueOf(slice, axis));
    if (values.size() == 1) {
      grid.shared.emplace_back(axis, *values.begin());
    } else {
      grid.axes.push_back(axis);
    }
  }
  const auto column_of = [&](const SliceAxes& slice) {
    std::vector<std::string> column;
    for (const std::string& axis : grid.axes) column.push_back(ValueOf(slice, axis));
    return column;
  };
  for (const SliceAxes& slice : slices) grid.columns.push_back(column_of(slice));
  std::vector<std::vector<std::string>> column_of_variant = grid.columns;
  std::sort(grid.columns.begin(), grid.columns.end(), ColumnLess);
  grid.columns.erase(std::unique(grid.columns.begin(), grid.columns.end()), grid.columns.end());
  std::map<std::vector<std::string>, size_t> index;
  for (size_t i = 0; i < grid.columns.size(); ++i) index[grid.columns[i]] = i;
  std::map<std::string, size_t> row_of;
  for (int i = 0; i < variants.size(); ++i) {
    const auto [row, added] = row_of.emplace(RowName(variants[i]), grid.rows.size());
    if (added) grid.rows.push_back({row->first, std::vector<const v1::VariantStatus*>(grid.columns.size()), {}});
    grid.rows[row->second].cells[index[column_of_variant[i]]] = &variants[i];
  }
  for (GridLayout::Row& row : grid.rows) {
    MarkGroups(row);
    grid.has_groups = grid.has_groups || std::any_of(row.groups.begin(), row.groups.end(), [](char c) { return c != 0; });
  }
  const auto skips = [](const v1::VariantStatus& variant) { return variant.hydra().skips(); };
  if (std::any_of(variants.begin(), variants.end(), skips)) grid.hydra_width = HydraWidth(variants, grid.columns.size());
  return grid;
}

std::string AxisHead(const std::string& axis, const std::string& value) {
  if (axis == "python" && value.size() > 7 && absl::StartsWith(value, "python") &&
      value.find_first_not_of("0123456789", 6) == std::string::npos) {
    return value.substr(6, 1) + "." + value.substr(7);
  }
  return value.empty() ? "-" : value;
}

}  // namespace hydrant::client
