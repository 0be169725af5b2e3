#include "daemon/record/postgres_installation.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

constexpr int kOldest = 14;  // client_connection_check_interval

bool HasPrograms(const std::string& folder) {
  for (const char* program : {"initdb", "pg_ctl", "postgres", "createdb"}) {
    if (!FileExists(absl::StrCat(folder, "/", program))) return false;
  }
  return true;
}

std::vector<PostgresInstallation> OfDebian(const std::string& folder) {
  std::vector<PostgresInstallation> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    PostgresInstallation installation{0, entry.path().string() + "/bin"};
    if (absl::SimpleAtoi(entry.path().filename().string(), &installation.version) &&
        HasPrograms(installation.programs)) {
      found.push_back(installation);
    }
  }
  return found;
}

// "postgres (PostgreSQL) 15.20 (Debian …)": 15.
int VersionOf(const std::string& programs) {
  Subprocess::Options options;
  options.argv = {programs + "/postgres", "--version"};
  const absl::StatusOr<Completed> completed = Run(std::move(options), {}, absl::Seconds(20));
  int version = 0;
  if (!completed.ok()) return 0;
  const std::vector<std::string> words = absl::StrSplit(completed->out, absl::ByAnyChar(" .\n"));
  for (const std::string& word : words) {
    if (absl::SimpleAtoi(word, &version)) return version;
  }
  return 0;
}

std::vector<PostgresInstallation> OfPath() {
  const char* path = getenv("PATH");
  const std::vector<std::string> folders =
      absl::StrSplit(path != nullptr ? path : "", ':', absl::SkipEmpty());
  for (const std::string& folder : folders) {
    if (HasPrograms(folder)) return {{VersionOf(folder), folder}};
  }
  return {};
}

std::string Name(const PostgresInstallation& installation) {
  return absl::StrCat(installation.version, " (", installation.programs, ")");
}

}  // namespace

absl::StatusOr<PostgresInstallation> FindPostgres(std::optional<int> version,
                                                  const std::string& debian_folder) {
  std::vector<PostgresInstallation> found = OfDebian(debian_folder);
  for (const PostgresInstallation& installation : OfPath()) found.push_back(installation);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.version > b.version; });
  for (const PostgresInstallation& installation : found) {
    if (version.has_value() ? installation.version == *version : installation.version >= kOldest)
      return installation;
  }
  const std::string wanted =
      version.has_value() ? absl::StrCat(*version) : absl::StrCat(kOldest, " or newer");
  const std::string there =
      found.empty()
          ? "none"
          : absl::StrJoin(found, ", ", [](std::string* out, const auto& i) { out->append(Name(i)); });
  return absl::FailedPreconditionError(
      absl::StrCat("find PostgreSQL ", wanted, " in ", debian_folder, " and PATH: there is ", there,
                   "; install the package postgresql-", version.has_value() ? *version : 15));
}

}  // namespace hydrant
