// Who a token belongs to and what role it has: the file of [auth] tokens (name, role, SHA-256 in base16, a
// line each), read again when it changes. Tokens are compared by digest in constant time; none is kept or
// logged.
#ifndef HYDRANT_DAEMON_SERVE_AUTHENTICATOR_H_
#define HYDRANT_DAEMON_SERVE_AUTHENTICATOR_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/mutex.h"

namespace hydrant {

// Each but worker includes those before it.
enum class Role { kNone, kReader, kSubmitter, kOperator, kWorker };
std::string_view RoleName(Role role);
// reader, submitter, operator or worker; nullopt for anything else.
std::optional<Role> ParseRole(std::string_view name);

// One line of the file.
struct TokenEntry {
  std::string name;
  Role role = Role::kNone;
  std::string digest;  // SHA-256 of the token, base16
};
// InvalidArgument names `file`, the line and what is wrong there. Empty lines and those that begin with # are
// skipped.
absl::StatusOr<std::vector<TokenEntry>> ParseTokens(std::string_view text, std::string_view file);

struct Identity {
  std::string name;  // "anonymous" without a token
  Role role = Role::kNone;
};

class Authenticator {
 public:
  // `path` empty: no tokens. InvalidArgument names file and line.
  static absl::StatusOr<std::unique_ptr<Authenticator>> Open(const std::string& path);

  // No token: a reader on loopback, else kNone. A token that is not known: Unauthenticated. When the file
  // became unreadable or wrong, the last good content holds and it is logged. Any thread.
  absl::StatusOr<Identity> Identify(std::optional<std::string_view> token, bool loopback);

 private:
  explicit Authenticator(std::string path) : path_(std::move(path)) {}
  absl::Status ReloadIfChanged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  const std::string path_;
  Mutex mu_;
  std::vector<TokenEntry> entries_ ABSL_GUARDED_BY(mu_);
  // Time, inode and size: two files within one tick of the clock differ by the others.
  std::array<int64_t, 3> version_ ABSL_GUARDED_BY(mu_) = {};
  bool complained_ ABSL_GUARDED_BY(mu_) = false;  // of the state that the file is in
};

// OK when `identity` has `needed`; PermissionDenied names the role that it needs.
absl::Status Require(const Identity& identity, Role needed);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_AUTHENTICATOR_H_
