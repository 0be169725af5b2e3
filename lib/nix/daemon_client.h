// A client of the Nix daemon's worker protocol on a pair of descriptors: a socket, or a `nix-daemon --stdio` that it starts.
// Speaks 1.34 (Nix 2.8) and negotiates down from newer daemons' numbers. Source: Nix 2.8 libstore/worker-protocol.hh and
// remote-store.cc. One thread at a time; one connection builds one thing at a time. Cancel: Close() from another thread.
// A call fails with Unavailable when the daemon goes away, DeadlineExceeded after reply_timeout, DataLoss when it breaks the
// protocol: the connection is then of no further use. InvalidArgument: a path is none, nothing was asked. Any other error is
// the daemon's answer, and the connection goes on.
#ifndef HYDRANT_LIB_NIX_DAEMON_CLIENT_H_
#define HYDRANT_LIB_NIX_DAEMON_CLIENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/base/stream.h"
#include "lib/nix/derivation.h"
#include "lib/nix/hash.h"

namespace hydrant::nix {

struct PathInfo {
  std::string path;
  std::string deriver;  // full path; empty: unknown
  Sha256Digest nar_hash;
  uint64_t nar_size = 0;
  std::set<std::string> references;  // full paths
  std::vector<std::string> signatures;
  std::string content_address;
  bool ultimate = false;
};

// What the daemon says while it works. kOther: an activity of another kind begins (text) or gives a result. Types and numbers: Nix's logging.hh.
struct LogEvent {
  enum class Kind { kMessage, kBuildStart, kBuildLogLine, kPhase, kProgress, kOther, kStop };
  Kind kind = Kind::kOther;
  uint64_t activity = 0;
  std::string text;         // the line, the phase, the message
  std::string derivation;   // kBuildStart
  uint64_t done = 0, expected = 0;  // kProgress
};
using LogSink = std::function<void(const LogEvent&)>;

// BuildResult::status of the protocol.
enum class BuildStatus {
  kBuilt = 0, kSubstituted = 1, kAlreadyValid = 2, kPermanentFailure = 3, kInputRejected = 4, kOutputRejected = 5,
  kTransientFailure = 6, kCachedFailure = 7, kTimedOut = 8, kMiscFailure = 9, kDependencyFailed = 10,
  kLogLimitExceeded = 11, kNotDeterministic = 12, kResolvesToAlreadyValid = 13, kNoSubstituters = 14, kHashMismatch = 15,
};

struct BuildResult {
  BuildStatus status = BuildStatus::kMiscFailure;
  std::string error;  // ANSI codes as the daemon sent them
  uint64_t times_built = 0;
  absl::Time start = absl::InfinitePast(), stop = absl::InfinitePast();
  bool ok() const;
};

// What BuildDerivation sends: a derivation whose inputs are the outputs themselves.
struct BasicDerivation {
  std::map<std::string, DerivationOutput> outputs;
  std::set<std::string> input_sources;  // input_sources and the used outputs of input_derivations
  std::string system, builder;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
};

struct DaemonSettings {
  int verbosity = 0;       // Nix's level; 0: errors. Build log lines come at any level
  absl::Duration max_silent = absl::ZeroDuration();  // zero: no limit
  absl::Duration timeout = absl::ZeroDuration();
  int build_cores = 0;     // NIX_BUILD_CORES; 0: all
  bool use_substitutes = false;
  std::map<std::string, std::string> overrides;  // any nix.conf setting: "sandbox-paths" …
};

class DaemonClient {
 public:
  struct Options {
    // A Unix socket's path, or …
    std::string socket;
    // … a daemon started by us: `nix-daemon --stdio`, for the store under this folder (empty: the machine's own).
    std::string store_root;
    // NIX_CONFIG of a daemon started by us.
    std::string nix_config;
    std::map<std::string, std::string> env;
    // Fail when the daemon is silent for so long outside a build (DeadlineExceeded).
    absl::Duration reply_timeout = absl::Minutes(5);
  };

  // Unavailable when there is no daemon to reach; FailedPrecondition when its protocol is older than 1.21.
  static absl::StatusOr<std::unique_ptr<DaemonClient>> Connect(Options options);
  ~DaemonClient();

  // major << 8 | minor, as negotiated; the daemon's Nix version ("2.8.0"; empty before protocol 1.33).
  uint64_t protocol_version() const;
  const std::string& daemon_version() const;
  // The process that we started, if we did (for cgroups and limits); -1 otherwise.
  pid_t daemon_pid() const;

  absl::Status SetOptions(const DaemonSettings& settings);
  absl::StatusOr<bool> IsValidPath(std::string_view path);
  absl::StatusOr<std::set<std::string>> QueryValidPaths(const std::set<std::string>& paths);
  // NotFound when the path is not valid.
  absl::StatusOr<PathInfo> QueryPathInfo(std::string_view path);
  // `path` and all it refers to, references before referrers.
  absl::StatusOr<std::vector<PathInfo>> QueryClosure(const std::set<std::string>& paths);
  // Streams the archive of a valid path.
  absl::Status NarFromPath(std::string_view path, Sink& sink);
  // Adds one path from its archive; its references must be valid. check_signatures false needs a trusted client. When
  // `nar` fails its error is returned, nothing is added and the connection stays usable.
  absl::Status AddToStoreNar(const PathInfo& info, Source& nar, bool check_signatures = false, bool repair = false);
  // Adds a text file (a .drv) under its computed path, which is returned.
  absl::StatusOr<std::string> AddTextToStore(std::string_view name, std::string_view text,
                                             const std::set<std::string>& references);
  absl::Status AddTempRoot(std::string_view path);
  absl::Status AddIndirectRoot(std::string_view link);
  // Builds one derivation from the outputs of its inputs, which must be valid. OK whenever the daemon answered: what
  // became of it is in the result. `log` is called on this thread and must not call the client, but for Close().
  absl::StatusOr<BuildResult> BuildDerivation(std::string_view derivation_path, const BasicDerivation& derivation,
                                              const LogSink& log);
  // Ends the connection, so that a call in another thread, and every later one, fails with Cancelled. A daemon that we
  // started gets SIGTERM, which ends its builder too, and SIGKILL after 10 s; returns when it is gone. Any thread.
  void Close();

 private:
  class Impl;
  explicit DaemonClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_CLIENT_H_
