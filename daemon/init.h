// First credentials: a folder with configuration, key and an operator's token; further tokens.
#ifndef HYDRANT_DAEMON_INIT_H_
#define HYDRANT_DAEMON_INIT_H_

#include <string>

#include "absl/status/statusor.h"

namespace hydrant {

struct Initialised {
  std::string config, public_key;
  std::string token;  // the operator's; kept nowhere but in the answer
};

// Makes `directory` (mode 0700) with hydrantd.toml, keys/cache.sec (mode 0600) and tokens. `key_name`: of the cache's key, such
// as "cache.example.org-1". AlreadyExists when it holds a configuration.
absl::StatusOr<Initialised> InitDirectory(const std::string& directory, const std::string& key_name);

// Adds a token of `role` to the file; the token, which is kept nowhere. InvalidArgument, AlreadyExists.
absl::StatusOr<std::string> IssueToken(const std::string& tokens_file, const std::string& name,
                                       const std::string& role);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_INIT_H_
