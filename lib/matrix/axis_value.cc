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

// 12.9, also 12 or 12.9.1, which a recipe of one's own may take; each in one way only.
bool IsVersion(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '.');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    const bool plain = part == "0" || !part.starts_with('0');
    return plain && !part.empty() && part.size() <= 4 && part.find_first_not_of("0123456789") == part.npos;
  });
}

std::string NotOneOf(const std::string& text, const std::vector<std::string>& words, const char* list) {
  return absl::StrCat("'", text, "' is not one of ", list, NearestHint(text, words));
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
  if (axis == "cuda" && !IsVersion(text))
    return absl::StrCat("'", text, "' is not a CUDA version; expected one such as 12.9, or default");
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
