// A TOML text as plain values that know their line. The only place that knows the TOML library; nothing here
// throws.
#ifndef HYDRANT_LIB_MATRIX_TOML_READER_H_
#define HYDRANT_LIB_MATRIX_TOML_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hydrant {

// Of one text, and of each file that comes with a matrix: far above what a million cells need.
inline constexpr size_t kMaxTomlBytes = size_t{4} << 20;

struct TomlMember;

struct TomlNode {
  enum class Kind { kString, kInteger, kFloat, kBoolean, kDate, kList, kTable };

  Kind kind = Kind::kTable;
  int line = 0;  // 1 is the first
  std::string text;
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<TomlNode> items;      // of a list
  std::vector<TomlMember> members;  // of a table, in the order of the text
};

struct TomlMember {
  std::string key;
  int line = 0;
  TomlNode value;
};

// InvalidArgument "FILE:LINE: what is wrong" for a text that is not TOML 1.0, or is larger or nested
// deeper than any matrix.
absl::StatusOr<TomlNode> ParseToml(std::string_view text, std::string_view file);

// "a string", "an integer", "a list", …
std::string_view KindName(TomlNode::Kind kind);

// The node as JSON; InvalidArgument names the line of a date or of a number that JSON has not.
absl::StatusOr<std::string> TomlJson(const TomlNode& node);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_TOML_READER_H_
