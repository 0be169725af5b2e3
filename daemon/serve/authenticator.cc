#include "daemon/serve/authenticator.h"

#include <errno.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "lib/nix/hash.h"

namespace hydrant {
namespace {

struct Named {
  Role role;
  std::string_view name;
};
constexpr std::array<Named, 5> kRoles = {{{Role::kNone, "none"},
                                          {Role::kReader, "reader"},
                                          {Role::kSubmitter, "submitter"},
                                          {Role::kOperator, "operator"},
                                          {Role::kWorker, "worker"}}};

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

absl::StatusOr<TokenEntry> ParseLine(std::string_view line) {
  const std::vector<std::string> words =
      absl::StrSplit(AbslView(line), absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.size() != 3) return absl::InvalidArgumentError("expected NAME ROLE SHA256-OF-THE-TOKEN");
  const std::optional<Role> role = ParseRole(words[1]);
  if (!role) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown role \"", words[1], "\": expected reader, submitter, operator or worker"));
  }
  TokenEntry entry{words[0], *role, absl::AsciiStrToLower(words[2])};
  const bool hex =
      std::all_of(entry.digest.begin(), entry.digest.end(), [](char c) { return absl::ascii_isxdigit(c); });
  if (entry.digest.size() != 64 || !hex)
    return absl::InvalidArgumentError("the third word is not a SHA-256 of 64 hex digits");
  return entry;
}

}  // namespace

std::string_view RoleName(Role role) {
  for (const Named& named : kRoles) {
    if (named.role == role) return named.name;
  }
  return "none";
}

std::optional<Role> ParseRole(std::string_view name) {
  for (const Named& named : kRoles) {
    if (named.name == name && named.role != Role::kNone) return named.role;
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<TokenEntry>> ParseTokens(std::string_view text, std::string_view file) {
  std::vector<TokenEntry> entries;
  std::set<std::string> names;
  int number = 0;
  for (const auto part : absl::StrSplit(AbslView(text), '\n')) {
    ++number;
    const std::string_view line = StdView(absl::StripAsciiWhitespace(part));
    if (line.empty() || line[0] == '#') continue;
    absl::StatusOr<TokenEntry> entry = ParseLine(line);
    if (entry.ok() && !names.insert(entry->name).second) {
      entry = absl::InvalidArgumentError(absl::StrCat("the name \"", entry->name, "\" stands above already"));
    }
    if (!entry.ok()) return Annotate(entry.status(), absl::StrCat(AbslView(file), ":", number));
    entries.push_back(*std::move(entry));
  }
  return entries;
}

absl::StatusOr<std::unique_ptr<Authenticator>> Authenticator::Open(const std::string& path) {
  std::unique_ptr<Authenticator> authenticator(new Authenticator(path));
  MutexLock lock(authenticator->mu_);
  HYDRANT_RETURN_IF_ERROR(authenticator->ReloadIfChanged());
  return authenticator;
}

absl::Status Authenticator::ReloadIfChanged() {
  if (path_.empty()) return absl::OkStatus();
  struct stat info;
  if (stat(path_.c_str(), &info) != 0) return ErrnoStatus(errno, absl::StrCat("read tokens ", path_));
  const int64_t mtime_ns = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  const std::array<int64_t, 3> version = {mtime_ns, static_cast<int64_t>(info.st_ino),
                                          static_cast<int64_t>(info.st_size)};
  if (version == version_) return absl::OkStatus();
  version_ = version;
  HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path_));
  HYDRANT_ASSIGN_OR_RETURN(entries_, ParseTokens(text, path_));
  return absl::OkStatus();
}

absl::StatusOr<Identity> Authenticator::Identify(std::optional<std::string_view> token, bool loopback) {
  if (!token) return Identity{"anonymous", loopback ? Role::kReader : Role::kNone};
  const std::string digest = nix::HashSha256(*token).ToBase16();
  MutexLock lock(mu_);
  if (const absl::Status reloaded = ReloadIfChanged(); !reloaded.ok() && !complained_) {
    Log(LogLevel::kError, "tokens not read again, the old ones hold",
        {{"error", StdView(reloaded.message())}});
    complained_ = true;
  } else if (reloaded.ok()) {
    complained_ = false;
  }
  const TokenEntry* found = nullptr;
  for (const TokenEntry& entry : entries_) {
    if (EqualInConstantTime(entry.digest, digest)) found = &entry;
  }
  if (found == nullptr) return absl::UnauthenticatedError("the token is not known here");
  return Identity{found->name, found->role};
}

absl::Status Require(const Identity& identity, Role needed) {
  const bool has = needed == Role::kWorker || identity.role == Role::kWorker ? identity.role == needed
                                                                             : identity.role >= needed;
  if (has) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("this needs the role ", AbslView(RoleName(needed)), "; ",
                                                  identity.name, " has ", AbslView(RoleName(identity.role))));
}

}  // namespace hydrant
