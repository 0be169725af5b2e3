#include "daemon/init.h"

#include "absl/strings/str_cat.h"
#include "daemon/serve/tokens_file.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/signing_key.h"

namespace hydrant {
namespace {

constexpr const char* kConfig = R"(# hydrantd's configuration. Every key: proto/hydrant/v1/config.proto; paths are relative to this file.
matrices = "matrices.d"

[database]
embedded = "postgres"
[grpc]
listen = "127.0.0.1:8581"
[http]
listen = "127.0.0.1:8580"
[metrics]
listen = "127.0.0.1:9581"
[auth]
tokens = "tokens"
[nix]
evaluators = 2
evaluator_memory = "1500MB"
[cache]
directory = "cache"
key_file = "keys/cache.sec"
[upstream]
substituters = ["https://cache.nixos.org"]
public_keys = ["cache.nixos.org-1:6NCHdD59X431o0gWypbMrAURkbJ16ZPMQFGspcDShjY="]
)";

}  // namespace

absl::StatusOr<Initialised> InitDirectory(const std::string& directory, const std::string& key_name) {
  Initialised made{.config = directory + "/hydrantd.toml"};
  if (FileExists(made.config)) return absl::AlreadyExistsError(absl::StrCat(made.config, " exists; nothing was changed"));
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(directory, 0700));
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(directory + "/keys", 0700));
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(directory + "/matrices.d", 0755));
  const nix::SecretKey key = nix::SecretKey::Generate(key_name);
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(directory + "/keys/cache.sec", key.ToString() + "\n", 0600));
  made.public_key = key.public_key().ToString();
  HYDRANT_ASSIGN_OR_RETURN(made.token, IssueToken(directory + "/tokens", "operator", "operator"));
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(made.config, kConfig, 0644));
  return made;
}

absl::StatusOr<std::string> IssueToken(const std::string& tokens_file, const std::string& name,
                                       const std::string& role) {
  for (Role each : {Role::kReader, Role::kSubmitter, Role::kOperator, Role::kWorker}) {
    if (RoleName(each) != role) continue;
    std::string token = NewToken();
    HYDRANT_RETURN_IF_ERROR(AddToken(tokens_file, name, each, token));
    return token;
  }
  return absl::InvalidArgumentError(absl::StrCat("'", role, "' is no role; expected reader, submitter, operator or worker"));
}

}  // namespace hydrant
