// hydrantd's configuration file, checked, as plain options. The schema is proto/hydrant/v1/config.proto.
#ifndef HYDRANT_DAEMON_CONFIG_READER_H_
#define HYDRANT_DAEMON_CONFIG_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/presence/upstream_access.h"

namespace hydrant {

struct DaemonOptions {
  std::string file;                                 // that it was read from
  std::string matrices;                             // folder; empty: none
  std::string database_url, database_embedded;      // exactly one is set
  std::string grpc_listen, http_listen, http_url, metrics_listen;
  std::string tls_cert, tls_key, tls_client_ca;
  std::string tokens;                               // file; empty: none
  int evaluators = 2;
  uint64_t evaluator_memory = 1'500'000'000;        // bytes
  std::string store = "daemon";                     // or a folder
  absl::Duration variant_timeout = absl::Seconds(60), evaluation_timeout = absl::Hours(6);
  std::vector<std::string> allowed_uris;            // prefixes
  std::string evaluator = "nix";                    // or nix-eval-jobs, by its name or path
  std::string cache_directory, key_file;
  int cache_priority = 30;
  std::vector<std::string> substituters, substituter_keys, source_roots;
  std::map<std::string, UpstreamAccessFiles> substituter_access;  // of some of them, by URL
  int substituter_in_flight = 100;
  absl::Duration lease = absl::Seconds(20), waiting_after = absl::Seconds(60), backoff = absl::Seconds(5);
  int max_attempts = 5;
};

// InvalidArgument or NotFound names file, line or key, what was expected and the nearest right thing. Relative paths are
// relative to the file's folder.
absl::StatusOr<DaemonOptions> ReadDaemonOptions(const std::string& file);

// The file as it is understood, defaults filled in: what check-config prints.
absl::StatusOr<std::string> EffectiveConfig(const std::string& file);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CONFIG_READER_H_
