#include "client/format/table.h"

#include <algorithm>

#include "client/format/text.h"

namespace hydrant::client {
namespace {

constexpr int kGap = 2;

std::vector<int> Widths(const Table& table) {
  std::vector<int> widths;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(DisplayWidth(Clean(table.columns[i].head)));
    for (const auto& row : table.rows) widths[i] = std::max(widths[i], DisplayWidth(Clean(row[i].text)));
  }
  return widths;
}

}  // namespace

std::string FormatTable(const Table& table, const Screen& screen) {
  Writer writer(screen);
  if (table.rows.empty()) return writer.Text(table.empty, Style::kDim).Line().Take();
  const std::vector<int> widths = Widths(table);
  const auto print = [&](size_t i, const std::string& raw, Style style, int used) {
    std::string text = Clean(raw);
    const bool last = i + 1 == table.columns.size();
    if (last && screen.terminal) text = Shorten(text, std::max(12, screen.width - used), screen.utf8);
    const int blanks = widths[i] - DisplayWidth(text);
    if (table.columns[i].right) writer.Spaces(blanks);
    writer.Text(text, style);
    if (!table.columns[i].right && !last) writer.Spaces(blanks);
    if (!last) writer.Spaces(kGap);
  };
  const auto print_row = [&](auto text_of, auto style_of) {
    int used = 0;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      print(i, text_of(i), style_of(i), used);
      used += widths[i] + kGap;
    }
    writer.Line();
  };
  print_row([&](size_t i) { return table.columns[i].head; }, [](size_t) { return Style::kBold; });
  for (const auto& row : table.rows) {
    print_row([&](size_t i) { return row[i].text; }, [&](size_t i) { return row[i].style; });
  }
  return writer.Take();
}

std::string FormatMarkdownTable(const Table& table) {
  if (table.rows.empty()) return MarkdownText(table.empty) + "\n";
  std::string out = "|";
  for (const Column& column : table.columns) out += " " + MarkdownText(column.head) + " |";
  out += "\n|";
  for (const Column& column : table.columns) out += column.right ? " ---: |" : " --- |";
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (const Cell& cell : row) out += " " + MarkdownText(cell.text) + " |";
    out += "\n";
  }
  return out;
}

std::string MarkdownText(std::string_view text) {
  std::string out;
  for (const char c : CleanLines(text)) {
    if (c == '\n') {
      out += ' ';
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|#~").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace hydrant::client
