#include "lib/matrix/axis_value.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/matrix/names.h"
#include "lib/matrix/nearest_word.h"

namespace hydrant {
namespace {

bool IsNixSystem(const std::string& text) {
  const size_t dash = text.find('-');
  return dash != text.npos && dash > 0 && dash + 1 < text.size() && text.find('/') == text.npos;
}

std::string NotOneOf(const std::string& text, const std::vector<std::string>& words, const char* list) {
  const std::string nearest = NearestWord(text, words);
  return absl::StrCat("'", text, "' is not one of ", list,
                      nearest.empty() ? "" : absl::StrCat("; the nearest is '", nearest, "'"));
}

}  // namespace

bool IsKnownAxis(const std::string& name) {
  return name == "system" ||
         std::find(std::begin(kAxisOrder), std::end(kAxisOrder), name) != std::end(kAxisOrder);
}

std::string AxisValueFault(const std::string& axis, const AxisValue& value) {
  const std::string text = value.Joined();
  if (value.is_default()) return "";
  if (axis == "system" && !IsNixSystem(text))
    return absl::StrCat("'", text, "' is not a Nix system; expected one such as x86_64-linux");
  const std::vector<std::string> flavours = {"redist", "runfile"};
  if (axis != "flavour" || std::find(flavours.begin(), flavours.end(), text) != flavours.end()) return "";
  return NotOneOf(text, flavours, "redist, runfile, default");
}

std::string ReadAxisValue(const std::string& axis, const std::string& text, AxisValue* value) {
  if (text.empty()) return "an empty value";
  if (axis == "package") {
    std::string fault = AttributePathFault(text);
    if (fault.empty()) *value = {{text}};
    return fault;
  }
  if (axis == "forward_compat" && text != "true" && text != "false" && text != "default")
    return NotOneOf(text, {"true", "false", "default"}, "true, false, default");
  AxisValue read{{text}};
  if (axis == "capabilities" && text != "default") {
    read.words = absl::StrSplit(text, '+');
    std::set<std::string> seen;
    for (const std::string& word : read.words) {
      if (std::string fault = CapabilityFault(word); !fault.empty()) return fault;
      if (!seen.insert(word).second) return absl::StrCat("'", word, "' stands twice in one list");
    }
  }
  std::string fault = AxisValueFault(axis, read);
  if (fault.empty()) *value = std::move(read);
  return fault;
}

}  // namespace hydrant
