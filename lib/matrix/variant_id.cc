#include "lib/matrix/variant_id.h"

#include <unordered_map>

namespace hydrant {
namespace {

constexpr std::string_view kPythonSet = "python3Packages.";

bool IsPlain(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

// Whatever could be taken for a part of an id, a glob or a path: %XX.
std::string Escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    if (IsPlain(c)) {
      escaped += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      escaped += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return escaped;
}

// python313 -> py313; pypy310 stays.
std::string PythonText(std::string_view value) {
  constexpr std::string_view kPython = "python";
  if (value.starts_with(kPython)) return "py" + Escaped(value.substr(kPython.size()));
  return value.starts_with("py") ? Escaped(value) : "py" + Escaped(value);
}

std::string CapabilitiesText(const AxisValue& value) {
  std::string text = "cap";
  for (size_t i = 0; i < value.words.size(); ++i) text += (i == 0 ? "" : "+") + Escaped(value.words[i]);
  return text;
}

std::string AxisText(const std::string& name, const AxisValue& value) {
  if (name == "system") return Escaped(value.Joined());
  if (name == "cuda") return "cuda" + Escaped(value.Joined());
  if (name == "python") return PythonText(value.Joined());
  if (name == "capabilities") return CapabilitiesText(value);
  return Escaped(name) + "=" + Escaped(value.Joined());
}

}  // namespace

std::string AxesText(const std::map<std::string, AxisValue>& axes) {
  std::map<std::string, const AxisValue*, decltype(&AxisBefore)> ordered(&AxisBefore);
  for (const auto& [name, value] : axes) ordered[name] = &value;
  std::string text;
  for (const auto& [name, value] : ordered) {
    if (value->is_default()) continue;
    if (!text.empty()) text += '-';
    text += AxisText(name, *value);
  }
  return text;
}

std::vector<std::string> VariantNames(const std::vector<std::string>& packages) {
  const auto short_name = [](std::string_view package) {
    return package.starts_with(kPythonSet) ? package.substr(kPythonSet.size()) : package;
  };
  std::unordered_map<std::string_view, int> uses;
  for (const std::string& package : packages) ++uses[short_name(package)];
  std::vector<std::string> names;
  names.reserve(packages.size());
  for (const std::string& package : packages) {
    const std::string_view name = short_name(package);
    names.push_back(Escaped(uses[name] > 1 ? std::string_view(package) : name));
  }
  return names;
}

}  // namespace hydrant
