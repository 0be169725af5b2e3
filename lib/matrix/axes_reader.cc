#include "lib/matrix/axes_reader.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/axis_value.h"
#include "lib/matrix/names.h"
#include "lib/matrix/nearest_word.h"
#include "lib/matrix/nixpkgs_sets.h"
#include "lib/matrix/settings.h"

namespace hydrant {
namespace {

using Kind = TomlNode::Kind;

// { changed_by = "cudaSupport", filter = ["*"] }
void ReadDerived(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  TableReader reader(table, "[axes] package", {"changed_by", "filter"}, errors);
  DerivedPackages derived;
  const auto switches = PackageSwitches();
  reader.Require("changed_by");
  reader.ReadWord("changed_by", {switches.begin(), switches.end()}, &derived.changed_by);
  reader.ReadStrings("filter", {.word_allowed = true}, &derived.filter);
  matrix->derived = std::move(derived);
}

void ReadPackages(TableReader* reader, Matrix* matrix) {
  const TomlMember* member = reader->Find("package");
  if (member != nullptr && member->value.kind == Kind::kTable)
    return ReadDerived(member->value, reader->errors(), matrix);
  reader->Require("package");
  reader->ReadStrings("package", {}, &matrix->packages);
  for (size_t i = 0; i < matrix->packages.size(); ++i) {
    const std::string fault = AttributePathFault(matrix->packages[i]);
    if (!fault.empty()) return reader->FailAt(member->value.items[i].line, *member, fault);
  }
}

// One value of `capabilities`: ["8.9", "9.0a"].
bool ReadCapabilityList(TableReader* reader, const TomlMember& member, const TomlNode& list,
                        AxisValue* value) {
  for (const TomlNode& item : list.items) {
    if (item.kind != Kind::kString)
      return reader->FailType(member, "a list of lists of strings", item), false;
    const auto& words = value->words;
    if (std::find(words.begin(), words.end(), item.text) != words.end()) {
      return reader->Fail(member, absl::StrCat("'", item.text, "' stands twice in one list")), false;
    }
    const bool alone = item.text == "default" && list.items.size() == 1;
    const std::string fault = alone ? "" : CapabilityFault(item.text);
    if (!fault.empty()) return reader->Fail(member, fault), false;
    value->words.push_back(item.text);
  }
  if (!value->words.empty()) return true;
  reader->Fail(member,
               "holds an empty list; [\"default\"] stands for what the CUDA version builds by itself");
  return false;
}

void ReadCapabilities(TableReader* reader, const TomlMember& member, Axis* axis) {
  constexpr std::string_view kExpected =
      "a list of lists of strings, such as [[\"default\"], [\"8.9\", \"9.0a\"]]";
  if (member.value.kind == Kind::kString && member.value.text == "default") {
    axis->values = {AxisValue{{"default"}}};
    return;
  }
  if (member.value.kind != Kind::kList) return reader->FailType(member, kExpected, member.value);
  for (const TomlNode& item : member.value.items) {
    AxisValue value;
    if (item.kind != Kind::kList) return reader->FailType(member, kExpected, item);
    if (!ReadCapabilityList(reader, member, item, &value)) return;
    axis->values.push_back(std::move(value));
  }
}

// Words, and booleans where the axis has such.
void ReadWords(TableReader* reader, const TomlMember& member, bool booleans, bool words, Axis* axis) {
  const std::string_view one = !booleans ? "a string"
                               : words   ? "a string, true or false"
                                         : "true, false or \"default\"";
  const bool list = member.value.kind == Kind::kList;
  const std::vector<TomlNode> lone = list ? std::vector<TomlNode>() : std::vector<TomlNode>{member.value};
  for (const TomlNode& item : list ? member.value.items : lone) {
    const bool word = item.kind == Kind::kString && (words || item.text == "default");
    const bool boolean = booleans && item.kind == Kind::kBoolean;
    if (!word && !boolean) {
      return reader->FailType(member, absl::StrCat(AbslView(one), ", or a list of such"), item);
    }
    if (word && item.text.empty()) return reader->Fail(member, "holds an empty string");
    axis->values.push_back({{word ? item.text : item.boolean ? "true" : "false"}});
  }
}

void CheckValues(TableReader* reader, const TomlMember& member, const Axis& axis,
                 const NixpkgsSpec& nixpkgs) {
  if (axis.values.empty())
    return reader->Fail(member, "is an empty list; leave the axis out, or give it a value");
  std::set<AxisValue> seen;
  const auto& items = member.value.items;
  for (size_t i = 0; i < axis.values.size(); ++i) {
    const AxisValue& value = axis.values[i];
    std::string fault = AxisValueFault(axis.name, value);
    if (fault.empty()) fault = SetFault(nixpkgs, axis.name, value);
    if (!seen.insert(value).second) fault = absl::StrCat("'", value.Joined(), "' stands there twice");
    if (!fault.empty()) return reader->FailAt(i < items.size() ? items[i].line : member.line, member, fault);
  }
}

void ReadAxis(TableReader* reader, const TomlMember& member, Matrix* matrix) {
  Axis axis{.name = member.key};
  if (axis.name == "capabilities") {
    ReadCapabilities(reader, member, &axis);
  } else {
    ReadWords(reader, member, axis.name == "mpi" || axis.name == "forward_compat",
              axis.name != "forward_compat", &axis);
  }
  if (!reader->errors()->ok()) return;
  CheckValues(reader, member, axis, matrix->nixpkgs);
  matrix->axes.push_back(std::move(axis));
}

void ReadMoreAxes(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  std::vector<std::string> names;
  for (const TomlMember& member : table.members) names.push_back(member.key);
  TableReader reader(table, "[axes.more]", names, errors);
  for (const TomlMember& member : table.members) {
    if (IsKnownAxis(member.key)) return reader.Fail(member, "is an axis of its own; it stands in [axes]");
    if (KindOfSetting(member.key) == SettingKind::kPermission) {
      return reader.Fail(
          member,
          "is a permission: it changes no derivation, so it is no axis; it stands in [nixpkgs] "
          "allow");
    }
    if (member.key == "package" || member.key == "reason" || member.key == "more") {
      return reader.Fail(member, "cannot be the name of an axis");
    }
    if (const std::string fault = NameFault(member.key); !fault.empty()) return reader.Fail(member, fault);
    ReadAxis(&reader, member, matrix);
  }
}

std::vector<std::string> DeclaredAxes(const Matrix& matrix) {
  std::vector<std::string> names = {"package"};
  for (const Axis& axis : matrix.axes) names.push_back(axis.name);
  return names;
}

// One value of an axis in a selection as a glob; false when it is none.
bool GlobOfValue(const std::string& axis, const TomlNode& node, std::string* glob) {
  const bool boolean = axis == "mpi" || axis == "forward_compat";
  if (node.kind == Kind::kString && !node.text.empty()) {
    *glob = node.text;
  } else if (boolean && node.kind == Kind::kBoolean) {
    *glob = node.boolean ? "true" : "false";
  } else {
    return false;
  }
  return true;
}

// `capabilities`: a word or glob over "8.9+9.0a", a list of one word, or a list of lists, each a value.
void ReadCapabilityGlobs(TableReader* reader, const TomlMember& member, std::vector<std::string>* globs) {
  const TomlNode& node = member.value;
  if (node.kind == Kind::kString && !node.text.empty()) return globs->push_back(node.text);
  constexpr std::string_view kExpected =
      "a string such as \"8.9\" or \"8.9+9.0a\", or a list of lists such as [[\"8.9\", \"9.0a\"]]";
  if (node.kind != Kind::kList || node.items.empty()) return reader->FailType(member, kExpected, node);
  if (node.items.size() == 1 && node.items[0].kind == Kind::kString)
    return globs->push_back(node.items[0].text);
  for (const TomlNode& item : node.items) {
    AxisValue value;
    if (item.kind != Kind::kList) return reader->FailType(member, kExpected, item);
    if (!ReadCapabilityList(reader, member, item, &value)) return;
    globs->push_back(value.Joined());
  }
}

void ReadSelectionValues(TableReader* reader, const TomlMember& member, std::vector<std::string>* globs) {
  if (member.key == "capabilities") return ReadCapabilityGlobs(reader, member, globs);
  const bool list = member.value.kind == Kind::kList;
  const std::vector<TomlNode> lone = list ? std::vector<TomlNode>() : std::vector<TomlNode>{member.value};
  for (const TomlNode& item : list ? member.value.items : lone) {
    std::string glob;
    if (!GlobOfValue(member.key, item, &glob))
      return reader->FailType(member, "a string or a list of strings", item);
    globs->push_back(std::move(glob));
  }
  if (globs->empty()) reader->Fail(member, "is an empty list");
}

Selection ReadSelection(const TomlNode& table, const char* where, ReadErrors* errors, const Matrix& matrix) {
  std::vector<std::string> known = DeclaredAxes(matrix);
  known.push_back("reason");
  TableReader reader(table, where, known, errors, ": it may name the axes that [axes] declares");
  Selection selection;
  reader.ReadString("reason", &selection.reason);
  for (const TomlMember& member : table.members) {
    if (member.key == "reason" || !errors->ok()) continue;
    ReadSelectionValues(&reader, member, &selection.axes[member.key]);
  }
  if (selection.axes.empty())
    errors->Add(table.line, absl::StrCat(where, " names no axis, so it would mean every cell"));
  return selection;
}

// Whether `value` could stand in [axes] itself.
std::string IncludedValueFault(const NixpkgsSpec& nixpkgs, const std::string& axis,
                               const std::string& value) {
  if (IsGlob(value) || value.starts_with('@'))
    return absl::StrCat("'", value, "' is a pattern; an include names values");
  AxisValue read;
  const std::string fault = ReadAxisValue(axis, value, &read);
  return fault.empty() ? SetFault(nixpkgs, axis, read) : fault;
}

}  // namespace

void ReadAxes(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  std::vector<std::string> known = {"package"};
  known.insert(known.end(), std::begin(kAxisOrder), std::end(kAxisOrder));
  known.insert(known.end(), {"system", "more"});
  TableReader reader(table, "[axes]", known, errors,
                     "; overlays, config and an axis of your own stand in [axes.more]");
  ReadPackages(&reader, matrix);
  for (const TomlMember& member : table.members) {
    if (!errors->ok()) return;
    if (IsKnownAxis(member.key)) ReadAxis(&reader, member, matrix);
  }
  if (const TomlNode* more = reader.ReadTable("more")) ReadMoreAxes(*more, errors, matrix);
  std::sort(matrix->axes.begin(), matrix->axes.end(),
            [](const Axis& a, const Axis& b) { return AxisBefore(a.name, b.name); });
}

void ReadGroups(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  std::vector<std::string> names;
  for (const TomlMember& member : table.members) names.push_back(member.key);
  TableReader reader(table, "[groups]", names, errors);
  for (const TomlMember& member : table.members) {
    if (const std::string fault = NameFault(member.key); !fault.empty()) return reader.Fail(member, fault);
    std::vector<std::string>& globs = matrix->groups[member.key];
    reader.ReadStrings(member.key, {}, &globs);
    for (const std::string& glob : globs) {
      if (glob.starts_with('@'))
        return reader.Fail(member, absl::StrCat("'", glob, "': a group has no groups in it"));
    }
  }
}

void CheckDerived(const TomlNode& table, const Matrix& matrix, ReadErrors* errors) {
  if (matrix.derived)
    CheckGroups(matrix.derived->filter, table.line, "[axes] package filter", matrix, errors);
}

void ReadInclude(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  Selection include = ReadSelection(table, "[[include]]", errors, *matrix);
  for (const auto& [axis, values] : include.axes) {
    std::set<std::string> seen;
    for (const std::string& value : values) {
      std::string fault = IncludedValueFault(matrix->nixpkgs, axis, value);
      if (!seen.insert(value).second) fault = absl::StrCat("'", value, "' stands there twice");
      if (!fault.empty()) errors->Add(table.line, absl::StrCat("[[include]] ", axis, ": ", fault));
    }
  }
  matrix->include.push_back(std::move(include));
}

void ReadExclude(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  Selection exclude = ReadSelection(table, "[[exclude]]", errors, *matrix);
  if (const auto globs = exclude.axes.find("package"); globs != exclude.axes.end()) {
    CheckGroups(globs->second, table.line, "[[exclude]] package", *matrix, errors);
  }
  matrix->exclude.push_back(std::move(exclude));
}

void CheckGroups(const std::vector<std::string>& globs, int line, std::string_view where,
                 const Matrix& matrix, ReadErrors* errors) {
  for (const std::string& glob : globs) {
    if (!glob.starts_with('@') || matrix.groups.contains(glob.substr(1))) continue;
    std::vector<std::string> known;
    for (const auto& [name, members] : matrix.groups) known.push_back(name);
    errors->Add(line, absl::StrCat(AbslView(where), ": [groups] has no '", glob.substr(1), "'",
                                   NearestHint(glob.substr(1), known)));
  }
}

}  // namespace hydrant
