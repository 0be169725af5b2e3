// A table of texts, for a screen or as markdown. Columns are as wide as their widest cell.
#ifndef HYDRANT_CLIENT_FORMAT_TABLE_H_
#define HYDRANT_CLIENT_FORMAT_TABLE_H_

#include <string>
#include <vector>

#include "client/format/writer.h"

namespace hydrant::client {

struct Cell {
  Cell(std::string text, Style style = Style::kPlain) : text(std::move(text)), style(style) {}
  Cell(const char* text) : text(text) {}
  std::string text;
  Style style = Style::kPlain;
};

struct Column {
  std::string head;
  bool right = false;  // aligned: numbers
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::string empty;  // said instead when there are no rows
};

// On a terminal the last column is cut at the screen's edge, in a pipe nothing is.
std::string FormatTable(const Table& table, const Screen& screen);
std::string FormatMarkdownTable(const Table& table);

// A text that stands for itself in markdown, on one line.
std::string MarkdownText(std::string_view text);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_TABLE_H_
