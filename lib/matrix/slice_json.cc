#include <string>

#include "lib/matrix/expansion.h"
#include "lib/matrix/json_text.h"

namespace hydrant {
namespace {

// Axes whose "true" and "false" a recipe gets as booleans.
bool IsBoolean(const std::string& axis, const std::string& word) {
  return (axis == "forward_compat" || axis == "mpi") && (word == "true" || word == "false");
}

std::string ValueJson(const std::string& axis, const AxisValue& value) {
  if (axis != "capabilities")
    return IsBoolean(axis, value.Joined()) ? value.Joined() : JsonQuoted(value.Joined());
  std::string list;
  for (const std::string& word : value.words) list += (list.empty() ? "" : ",") + JsonQuoted(word);
  return "[" + list + "]";
}

}  // namespace

std::string SliceJson(const Slice& slice) {
  std::string members;
  for (const auto& [axis, value] : slice.axes) {
    members += (members.empty() ? "" : ",") + JsonQuoted(axis) + ":" + ValueJson(axis, value);
  }
  return "{" + members + "}";
}

}  // namespace hydrant
