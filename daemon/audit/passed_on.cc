#include "daemon/audit/passed_on.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"

namespace hydrant {
namespace {

constexpr std::array<std::string_view, 3> kVariables = {"propagatedBuildInputs", "paths", "pkgs"};

bool PartOfName(char c) {
  constexpr std::string_view kOthers = "+-._?=";
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kOthers.find(c) != kOthers.npos;
}

// Every store path in `text`, cut where it goes on into the path's inside.
void AddPaths(std::string_view text, std::vector<std::string_view>* paths) {
  constexpr std::string_view kStore = "/nix/store/";
  for (size_t at = text.find(kStore); at != text.npos; at = text.find(kStore, at)) {
    size_t end = at + kStore.size();
    while (end < text.size() && PartOfName(text[end])) ++end;
    paths->push_back(text.substr(at, end - at));
    at = end;
  }
}

// The text of the JSON list or string behind `"name":`; "" when there is none. Store paths need no escapes,
// so brackets inside strings do not stand in what is looked for.
std::string_view JsonMember(std::string_view json, std::string_view name) {
  for (size_t at = json.find(name); at != json.npos; at = json.find(name, at + 1)) {
    const size_t behind = at + name.size();
    if (at == 0 || json[at - 1] != '"' || !json.substr(behind).starts_with("\":")) continue;
    const std::string_view value = json.substr(behind + 2);
    if (value.starts_with('[')) return value.substr(0, value.find(']'));
    if (value.starts_with('"')) return value.substr(0, value.find('"', 1));
  }
  return {};
}

}  // namespace

std::vector<std::string_view> PassedOnPaths(std::span<const EnvironmentVariable> environment) {
  std::vector<std::string_view> paths;
  for (const auto& [name, value] : environment) {
    if (std::find(kVariables.begin(), kVariables.end(), name) != kVariables.end()) AddPaths(value, &paths);
    if (name != "__json") continue;
    for (std::string_view variable : kVariables) AddPaths(JsonMember(value, variable), &paths);
  }
  return paths;
}

}  // namespace hydrant
