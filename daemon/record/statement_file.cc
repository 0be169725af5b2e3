#include "daemon/record/statement_file.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr absl::string_view kNameMark = "-- name:";

bool IsStatementName(absl::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return absl::ascii_islower(c) || c == '_'; });
}

absl::Status Bad(std::string_view file, int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(AbslView(file), ":", line, ": ", what));
}

// Takes the `;` off the end, and refuses any other.
absl::Status Finish(std::string_view file, int line, Statement& statement) {
  absl::string_view text = absl::StripAsciiWhitespace(statement.text);
  if (!absl::ConsumeSuffix(&text, ";") || text.empty()) {
    return Bad(file, line, absl::StrCat("statement ", statement.name, " is empty or does not end with ;"));
  }
  if (absl::StrContains(text, ";")) {
    return Bad(file, line, absl::StrCat("statement ", statement.name, " is more than one statement"));
  }
  statement.text = std::string(text);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Statement>> ParseStatements(std::string_view file, std::string_view text) {
  std::vector<Statement> statements;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(AbslView(text), '\n')) {
    ++number;
    if (absl::ConsumePrefix(&line, kNameMark)) {
      if (!statements.empty()) HYDRANT_RETURN_IF_ERROR(Finish(file, number, statements.back()));
      const absl::string_view name = absl::StripAsciiWhitespace(line);
      if (!IsStatementName(name))
        return Bad(file, number, absl::StrCat("bad name \"", name, "\": expected [a-z_]+"));
      statements.push_back({std::string(name), ""});
      continue;
    }
    line = line.substr(0, line.find("--"));
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    if (statements.empty()) return Bad(file, number, "a statement without a line \"-- name: …\" before it");
    absl::StrAppend(&statements.back().text, line, "\n");
  }
  if (!statements.empty()) HYDRANT_RETURN_IF_ERROR(Finish(file, number, statements.back()));
  return statements;
}

absl::StatusOr<std::vector<Statement>> ParseStatementFiles(std::span<const EmbeddedFile> files) {
  std::vector<Statement> all;
  std::set<std::string> names;
  for (const EmbeddedFile& file : files) {
    HYDRANT_ASSIGN_OR_RETURN(std::vector<Statement> statements, ParseStatements(file.name, file.text));
    for (Statement& statement : statements) {
      if (!names.insert(statement.name).second) {
        return absl::InvalidArgumentError(
            absl::StrCat(AbslView(file.name), ": statement ", statement.name, " is there twice"));
      }
      all.push_back(std::move(statement));
    }
  }
  return all;
}

}  // namespace hydrant
