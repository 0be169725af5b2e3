#include "client/format/grid.h"

#include <algorithm>
#include <map>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/format/policy.h"
#include "client/format/table.h"
#include "client/format/text.h"
#include "client/format/words.h"

namespace hydrant::client {
namespace {

constexpr int kGap = 1;
constexpr int kHydraGap = 2;
constexpr int kMostNameWidth = 40;
constexpr char kGroupsLegend[] = "The same letter in a row: one step serves these variants";

// Draws one block of columns [first, last).
class Block {
 public:
  Block(const GridLayout& grid, const std::vector<int>& widths, int left, Writer& writer)
      : grid_(grid), widths_(widths), left_(left), writer_(writer) {}

  void Write(size_t first, size_t last) {
    for (size_t axis = 0; axis < grid_.axes.size(); ++axis) WriteHead(axis, first, last);
    if (grid_.axes.empty() && grid_.hydra_width > 0) {
      writer_.Spaces(left_);
      for (size_t i = first; i < last; ++i) writer_.Spaces(kGap + widths_[i]);
      WriteHydra(kHydraHead, Style::kDim);
      writer_.Line();
    }
    for (const GridLayout::Row& row : grid_.rows) WriteRow(row, first, last);
  }

 private:
  // A value stands once over all columns that share it and the values of the axes above it.
  bool Continues(size_t axis, size_t column) const {
    for (size_t i = 0; i <= axis; ++i) {
      if (grid_.columns[column][i] != grid_.columns[column - 1][i]) return false;
    }
    return axis + 1 < grid_.axes.size();
  }

  void WriteHead(size_t axis, size_t first, size_t last) {
    writer_.Text(PadLeft(Clean(grid_.axes[axis]), left_), Style::kDim);
    for (size_t begin = first; begin < last;) {
      size_t end = begin + 1;
      int room = widths_[begin];
      while (end < last && Continues(axis, end)) room += kGap + widths_[end++];
      const std::string head = Clean(AxisHead(grid_.axes[axis], grid_.columns[begin][axis]));
      writer_.Spaces(kGap).Text(PadRight(Shorten(head, room, writer_.screen().utf8), room));
      begin = end;
    }
    if (axis + 1 == grid_.axes.size()) WriteHydra(kHydraHead, Style::kDim);
    writer_.Line();
  }

  void WriteHydra(const std::string& text, Style style) {
    if (grid_.hydra_width > 0) writer_.Spaces(kHydraGap).Text(text, style);
  }

  void WriteRow(const GridLayout::Row& row, size_t first, size_t last) {
    const auto blank = [](const v1::VariantStatus* cell) { return cell == nullptr; };
    if (std::all_of(row.cells.begin() + first, row.cells.begin() + last, blank)) return;
    writer_.Text(PadRight(Shorten(Clean(row.name), left_, writer_.screen().utf8), left_));
    for (size_t i = first; i < last; ++i) {
      writer_.Spaces(kGap);
      if (row.cells[i] != nullptr) {
        const StateMark& mark = MarkOf(row.cells[i]->state());
        const std::string more = PolicyMarks(*row.cells[i]);
        writer_.Text(MarkText(mark, writer_.screen()), mark.style);
        if (row.groups[i] != 0) writer_.Text(std::string(1, row.groups[i]), Style::kDim);
        writer_.Text(more, Style::kWarn);
        writer_.Spaces(widths_[i] - (row.groups[i] != 0 ? 2 : 1) - static_cast<int>(more.size()));
      } else {
        writer_.Spaces(widths_[i]);
      }
    }
    const std::string hydra = HydraWord(std::span(row.cells).subspan(first, last - first));
    WriteHydra(hydra, hydra == "no" ? Style::kDim : Style::kPlain);
    writer_.Line();
  }

  const GridLayout& grid_;
  const std::vector<int>& widths_;
  const int left_;
  Writer& writer_;
};

// As wide as the innermost head and the widest cell; the last column of a group is widened to what stands over the group.
std::vector<int> ColumnWidths(const GridLayout& grid) {
  std::vector<int> widths(grid.columns.size(), grid.has_groups ? 2 : 1);
  for (const GridLayout::Row& row : grid.rows) {
    for (size_t i = 0; i < widths.size(); ++i) {
      if (row.cells[i] == nullptr) continue;
      const int marks = (row.groups[i] != 0 ? 2 : 1) + DisplayWidth(PolicyMarks(*row.cells[i]));
      widths[i] = std::max(widths[i], marks);
    }
  }
  for (size_t axis = grid.axes.size(); axis-- > 0;) {
    for (size_t begin = 0; begin < grid.columns.size();) {
      size_t end = begin + 1;
      int room = widths[begin];
      const auto same = [&](size_t column) {
        return std::equal(grid.columns[column].begin(), grid.columns[column].begin() + axis + 1,
                          grid.columns[begin].begin());
      };
      while (end < grid.columns.size() && same(end)) room += kGap + widths[end++];
      const int head = DisplayWidth(Clean(AxisHead(grid.axes[axis], grid.columns[begin][axis])));
      widths[end - 1] += std::max(0, head - room);
      begin = end;
    }
  }
  return widths;
}

// Where to break a line of columns [first, last): before a group that would be torn apart, of the outermost
// axis that allows it.
size_t GroupEnd(const GridLayout& grid, size_t first, size_t last) {
  if (last == grid.columns.size()) return last;
  for (size_t axis = 0; axis + 1 < grid.axes.size(); ++axis) {
    for (size_t end = last; end > first; --end) {
      if (grid.columns[end][axis] != grid.columns[end - 1][axis]) return end;
    }
  }
  return last;
}

int LeftWidth(const GridLayout& grid, int screen_width) {
  int left = 0;
  for (const auto& row : grid.rows) left = std::max(left, DisplayWidth(Clean(row.name)));
  for (const auto& axis : grid.axes) left = std::max(left, DisplayWidth(Clean(axis)));
  return std::min(left, std::max(12, std::min(kMostNameWidth, screen_width / 2)));
}

}  // namespace

void WriteGrid(const GridLayout& grid, Writer& writer) {
  if (!grid.shared.empty()) {
    std::vector<std::string> words;
    for (const auto& [axis, value] : grid.shared) words.push_back(axis + " " + AxisHead(axis, value));
    writer.Text("all: " + absl::StrJoin(words, ", "), Style::kDim).Line();
  }
  const int left = LeftWidth(grid, writer.screen().width);
  const std::vector<int> widths = ColumnWidths(grid);
  const int room = writer.screen().width - (grid.hydra_width > 0 ? kHydraGap + grid.hydra_width : 0);
  Block block(grid, widths, left, writer);
  for (size_t first = 0; first < grid.columns.size();) {
    size_t last = first;
    int used = left;
    do {
      used += kGap + widths[last++];
    } while (last < grid.columns.size() && used + kGap + widths[last] <= room);
    last = GroupEnd(grid, first, last);
    if (first > 0) writer.Line();
    block.Write(first, last);
    first = last;
  }
  if (grid.has_groups) writer.Paragraph(kGroupsLegend, 0, Style::kDim);
}

void WriteLegend(const Variants& variants, Writer& writer) {
  std::map<std::string, int64_t> counts;
  for (const auto& variant : variants) ++counts[variant.state()];
  const Screen& screen = writer.screen();
  int used = 0;
  const auto entry = [&](const StateMark& mark, const std::string& state, int64_t count) {
    const std::string text = absl::StrCat(" ", count, " ", Clean(state));
    const int width = 1 + DisplayWidth(text);
    if (used > 0 && used + 3 + width > screen.width) writer.Line(), used = 0;
    if (used > 0) writer.Spaces(3), used += 3;
    writer.Text(MarkText(mark, screen), mark.style).Text(text);
    used += width;
  };
  for (const StateMark& mark : StateMarks()) {
    const auto found = counts.find(mark.state);
    if (found == counts.end()) continue;
    entry(mark, found->first, found->second);
    counts.erase(found);
  }
  for (const auto& [state, count] : counts) entry(MarkOf(state), state, count);
  for (const PolicyLegend& legend : PolicyLegends(variants)) {
    entry({.mark = legend.mark, .ascii = legend.mark, .style = Style::kWarn}, legend.words, legend.count);
  }
  writer.Line();
}

std::string FormatMarkdownGrid(const GridLayout& grid) {
  const std::string axes = grid.axes.empty() ? "" : " (" + absl::StrJoin(grid.axes, " / ") + ")";
  Table table{.columns = {{"package" + axes}}, .empty = "no variants"};
  for (const auto& column : grid.columns) {
    std::vector<std::string> heads;
    for (size_t i = 0; i < column.size(); ++i) heads.push_back(AxisHead(grid.axes[i], column[i]));
    table.columns.push_back({heads.empty() ? "state" : absl::StrJoin(heads, " / ")});
  }
  if (grid.hydra_width > 0) table.columns.push_back({kHydraHead});
  for (const auto& row : grid.rows) {
    std::vector<Cell> cells = {row.name};
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const v1::VariantStatus* const cell = row.cells[i];
      std::string marks = cell == nullptr ? "" : MarkOf(cell->state()).mark + PolicyMarks(*cell);
      if (row.groups[i] != 0) absl::StrAppend(&marks, " ", std::string(1, row.groups[i]));
      cells.emplace_back(std::move(marks));
    }
    if (grid.hydra_width > 0) cells.emplace_back(HydraWord(row.cells));
    table.rows.push_back(std::move(cells));
  }
  return FormatMarkdownTable(table) + (grid.has_groups ? absl::StrCat("\n", kGroupsLegend, ".\n") : "");
}

}  // namespace hydrant::client
