#include "lib/matrix/nixpkgs_sets_reader.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/names.h"
#include "lib/matrix/settings.h"

namespace hydrant {
namespace {

using Kind = TomlNode::Kind;

std::vector<std::string> KeysOf(const TomlNode& table) {
  std::vector<std::string> keys;
  for (const TomlMember& member : table.members) keys.push_back(member.key);
  return keys;
}

// "" when a set can have the name.
std::string SetNameFault(const std::string& name, const char* stands_for) {
  if (name == "default") return absl::StrCat("cannot be the name of a set; it stands for ", stands_for);
  return NameFault(name);
}

void CheckTable(const TomlNode& table, const std::string& where, const Matrix& matrix, ReadErrors* errors) {
  for (const TomlMember& member : table.members) {
    const std::string_view axis = AxisOfSetting(member.key);
    const auto same = [&](const Axis& each) { return each.name == axis; };
    const std::string setting = absl::StrCat(where, ".", member.key, ": ");
    if (std::any_of(matrix.axes.begin(), matrix.axes.end(), same))
      errors->Add(member.line, absl::StrCat(setting, "the axis ", AbslView(axis), " says it for each slice"));
    if (matrix.derived && matrix.derived->changed_by == member.key)
      errors->Add(member.line, absl::StrCat(setting, "[axes] package = { changed_by } turns it off and on"));
  }
}

const TomlNode* TableOf(const TomlNode& table, std::string_view key) {
  const auto found = std::find_if(table.members.begin(), table.members.end(),
                                  [&](const TomlMember& member) { return member.key == key; });
  return found == table.members.end() || found->value.kind != Kind::kTable ? nullptr : &found->value;
}

}  // namespace

void ReadOverlaySets(const TomlNode& table, const NamedFileText& text_of, ReadErrors* errors,
                     Matrix* matrix) {
  TableReader reader(table, "[nixpkgs.overlay_sets]", KeysOf(table), errors);
  for (const TomlMember& member : table.members) {
    const std::string fault = SetNameFault(member.key, "[nixpkgs] overlays alone");
    if (!fault.empty()) return reader.Fail(member, fault);
    std::vector<std::string> files;
    reader.ReadStrings(member.key, {}, &files);
    for (const std::string& file : files)
      matrix->nixpkgs.overlay_sets[member.key].push_back({file, text_of(&reader, member, file)});
  }
}

void ReadConfigSets(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  TableReader reader(table, "[nixpkgs.config_sets]", KeysOf(table), errors);
  for (const TomlMember& member : table.members) {
    const std::string fault = SetNameFault(member.key, "[nixpkgs] config alone");
    if (!fault.empty()) return reader.Fail(member, fault);
    const TomlNode* settings = reader.ReadTable(member.key);
    if (settings == nullptr) return;
    if (settings->members.empty())
      return reader.Fail(member, "is an empty table; \"default\" stands for [nixpkgs] config alone");
    for (const TomlMember& setting : settings->members) {
      if (KindOfSetting(setting.key) != SettingKind::kPermission) continue;
      return errors->Add(setting.line,
                         absl::StrCat("[nixpkgs.config_sets] ", member.key, ".", setting.key,
                                      ": is a permission: it changes no derivation, so no axis chooses it; "
                                      "it stands in [nixpkgs] allow or config"));
    }
    const auto json = TomlJson(*settings);
    if (!json.ok()) return reader.Fail(member, StdView(json.status().message()));
    matrix->nixpkgs.config_sets[member.key] = *json;
  }
}

void CheckSettings(const TomlNode& nixpkgs, const Matrix& matrix, ReadErrors* errors) {
  if (const TomlNode* config = TableOf(nixpkgs, "config"))
    CheckTable(*config, "[nixpkgs] config", matrix, errors);
  const TomlNode* sets = TableOf(nixpkgs, "config_sets");
  if (sets == nullptr) return;
  for (const TomlMember& set : sets->members)
    CheckTable(set.value, absl::StrCat("[nixpkgs.config_sets] ", set.key), matrix, errors);
}

}  // namespace hydrant
