#include "daemon/record/postgres_identity.h"

#include <errno.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

bool Succeeds(const PostgresIdentity& identity, std::vector<std::string> command) {
  Subprocess::Options options;
  options.argv = identity.prefix;
  options.argv.insert(options.argv.end(), command.begin(), command.end());
  options.directory = std::string("/");
  const absl::StatusOr<Completed> completed = Run(std::move(options), {}, absl::Seconds(20));
  return completed.ok() && completed->status.ok();
}

// It must pass through all folders on the way, and write to the last. Names the first that it cannot.
absl::Status CheckReach(const PostgresIdentity& identity, const std::string& folder) {
  if (Succeeds(identity, {"test", "-x", folder, "-a", "-w", folder})) return absl::OkStatus();
  std::filesystem::path above;
  for (const auto& part : std::filesystem::path(folder)) {
    above /= part;
    if (!Succeeds(identity, {"test", "-x", above.string()})) {
      return absl::FailedPreconditionError(
          absl::StrCat("run PostgreSQL ", identity.words, ": it cannot pass through ", above.string(),
                       " to reach ", folder, "; choose another folder, or give it execute permission there"));
    }
  }
  return absl::FailedPreconditionError(
      absl::StrCat("run PostgreSQL ", identity.words, ": it cannot write to ", folder));
}

PostgresIdentity OfUser(uid_t uid, gid_t gid, std::string words) {
  return {{"setpriv", absl::StrCat("--reuid=", uid), absl::StrCat("--regid=", gid), "--clear-groups", "--"},
          uid,
          gid,
          std::move(words)};
}

std::optional<PostgresIdentity> OfPostgresUser() {
  passwd entry{}, *found = nullptr;
  std::array<char, 4096> buffer{};
  if (getpwnam_r("postgres", &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return OfUser(found->pw_uid, found->pw_gid, "as user postgres");
}

absl::StatusOr<PostgresIdentity> GiveFolder(PostgresIdentity identity, const std::string& folder) {
  if (chown(folder.c_str(), identity.uid, identity.gid) != 0)
    return ErrnoStatus(errno, "give to the server's user " + folder);
  HYDRANT_RETURN_IF_ERROR(CheckReach(identity, folder));
  return identity;
}

}  // namespace

absl::StatusOr<PostgresIdentity> ChoosePostgresIdentity(const std::string& folder, const std::string& data) {
  if (geteuid() != 0) return PostgresIdentity{{}, geteuid(), getegid(), "as this user"};
  struct stat owner {};
  const bool has_data = stat(data.c_str(), &owner) == 0;
  if (has_data && owner.st_uid != 0) {
    return GiveFolder(
        OfUser(owner.st_uid, owner.st_gid, absl::StrCat("as user ", owner.st_uid, ", who owns ", data)),
        folder);
  }
  const PostgresIdentity in_namespace{{"unshare", "--user", "--"}, 0, 0, "in a user namespace"};
  absl::Status why =
      absl::FailedPreconditionError("run PostgreSQL in a user namespace: not allowed here (unshare --user)");
  if (Succeeds(in_namespace, {"true"})) {
    why = CheckReach(in_namespace, folder);
    if (why.ok()) return in_namespace;
  }
  if (has_data) return why;  // it is root's: nobody else may use it
  const std::optional<PostgresIdentity> postgres = OfPostgresUser();
  if (!postgres.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat(why.message(), "; and there is no user postgres: install the package postgresql-15"));
  }
  absl::StatusOr<PostgresIdentity> given = GiveFolder(*postgres, folder);
  if (given.ok()) return given;
  return absl::FailedPreconditionError(absl::StrCat(why.message(), "; ", given.status().message()));
}

}  // namespace hydrant
