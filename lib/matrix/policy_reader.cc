#include "lib/matrix/policy_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/matrix/audit_rule.h"
#include "lib/matrix/axes_reader.h"
#include "lib/matrix/names.h"
#include "lib/matrix/nearest_word.h"

namespace hydrant {
namespace {

const std::vector<std::string> LimitKeys() {
  return {"timeout", "max_silent", "max_log", "max_output", "memory"};
}

void ReadLimitKeys(TableReader* reader, Limits* limits) {
  reader->ReadDuration("timeout", &limits->timeout);
  reader->ReadDuration("max_silent", &limits->max_silent);
  reader->ReadBytes("max_log", &limits->max_log);
  reader->ReadBytes("max_output", &limits->max_output);
  reader->ReadBytes("memory", &limits->memory);
}

void ReadLimitsFor(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  std::vector<std::string> known = LimitKeys();
  known.insert(known.begin(), "package");
  TableReader reader(table, "[[limits.for]]", known, errors);
  LimitsFor entry{.limits = matrix->limits};
  reader.Require("package");
  reader.ReadString("package", &entry.package);
  ReadLimitKeys(&reader, &entry.limits);
  CheckGroups({entry.package}, table.line, "[[limits.for]] package", *matrix, errors);
  matrix->limits_for.push_back(std::move(entry));
}

}  // namespace

void ReadGate(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  TableReader reader(table, "[gate]", {"required", "checks"}, errors);
  matrix->gate.declared = true;
  reader.Require("required");
  reader.ReadStrings("required", {}, &matrix->gate.required);
  std::string checks = "required";
  reader.ReadWord("checks", {"required", "advisory"}, &checks);
  matrix->gate.checks_required = checks == "required";
  CheckGroups(matrix->gate.required, table.line, "[gate] required", *matrix, errors);
}

void ReadCheck(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  TableReader reader(table, "[[check]]",
                     {"name", "for", "gpu", "command", "timeout", "environment", "gpu_architectures"},
                     errors);
  CheckSpec check;
  for (const char* key : {"name", "for", "command"}) reader.Require(key);
  reader.ReadString("name", &check.name);
  reader.ReadString("for", &check.variants);
  reader.ReadBoolean("gpu", &check.gpu);
  reader.ReadDuration("timeout", &check.timeout);
  reader.ReadWord("environment", {"python", "output"}, &check.environment);
  reader.ReadStrings("gpu_architectures", {.word_allowed = true}, &check.gpu_architectures);
  if (!errors->ok()) return;

  if (const std::string fault = NameFault(check.name); !fault.empty())
    return reader.Fail(*reader.Find("name"), fault);
  const bool taken = std::any_of(matrix->checks.begin(), matrix->checks.end(),
                                 [&](const CheckSpec& other) { return other.name == check.name; });
  if (taken)
    return reader.Fail(*reader.Find("name"), absl::StrCat("another check is called '", check.name, "' too"));
  const TomlMember* architectures = reader.Find("gpu_architectures");
  if (architectures != nullptr && !check.gpu)
    return reader.Fail(*architectures, "only means something with gpu = true");

  // Words of a command may well stand twice, so this is no ReadStrings.
  const TomlMember& command = *reader.Find("command");
  if (command.value.kind != TomlNode::Kind::kList)
    return reader.FailType(command, "a list of strings", command.value);
  for (const TomlNode& word : command.value.items) {
    if (word.kind != TomlNode::Kind::kString) return reader.FailType(command, "a list of strings", word);
    check.command.push_back(word.text);
  }
  if (check.command.empty() || check.command[0].empty()) return reader.Fail(command, "names no program");
  CheckGroups({check.variants}, table.line, "[[check]] for", *matrix, errors);
  matrix->checks.push_back(std::move(check));
}

void ReadLimits(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  std::vector<std::string> known = LimitKeys();
  known.push_back("for");
  TableReader reader(table, "[limits]", known, errors);
  ReadLimitKeys(&reader, &matrix->limits);
  for (const TomlNode* entry : reader.ReadTables("for")) ReadLimitsFor(*entry, errors, matrix);
}

void ReadLicence(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  TableReader reader(table, "[license]", {"public", "private"}, errors);
  matrix->licence_declared = true;
  reader.ReadStrings("public", {.may_be_empty = true}, &matrix->licence_public);
  reader.ReadStrings("private", {.may_be_empty = true}, &matrix->licence_private);
  for (const std::string& name : matrix->licence_private) {
    const auto& open = matrix->licence_public;
    if (std::find(open.begin(), open.end(), name) == open.end()) continue;
    reader.Fail(*reader.Find("private"), absl::StrCat("'", name, "' stands in public too"));
  }
}

void ReadAudit(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  TableReader reader(table, "[audit]", {"refuse"}, errors);
  reader.ReadStrings("refuse", {.may_be_empty = true}, &matrix->audit_refuse);
  std::vector<std::string> known;
  for (const AuditRule& rule : AuditRules()) known.emplace_back(rule.name);
  for (const std::string& name : matrix->audit_refuse) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    reader.Fail(*reader.Find("refuse"),
                absl::StrCat("'", name, "' is no rule", NearestHint(name, known),
                             " (known: ", absl::StrJoin(known, ", "), ")"));
  }
  const auto is_in = [](const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (is_in(matrix->audit_refuse, kForcesUnfree) && !is_in(matrix->nixpkgs.probe, "hygiene")) {
    reader.Fail(*reader.Find("refuse"),
                "'forces_unfree' judges by what [nixpkgs] probe = [\"hygiene\"] asks");
  }
}

void ReadSchedule(const TomlNode& table, ReadErrors* errors, Matrix* matrix) {
  TableReader reader(table, "[schedule]", {"every"}, errors);
  absl::Duration every = absl::ZeroDuration();
  reader.ReadDuration("every", &every);
  if (every > absl::ZeroDuration()) matrix->every = every;
}

}  // namespace hydrant
