// What is asked of a Nix daemon and what it answers, but builds (build_result.h) and what it says meanwhile
// (daemon_event.h). Paths are full paths.
#ifndef HYDRANT_LIB_NIX_DAEMON_VALUES_H_
#define HYDRANT_LIB_NIX_DAEMON_VALUES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/nix/derivation.h"
#include "lib/nix/hash.h"

namespace hydrant::nix {

struct PathInfo {
  std::string path;
  std::string deriver;  // empty: unknown
  Sha256Digest nar_hash;
  uint64_t nar_size = 0;
  std::set<std::string> references;
  std::vector<std::string> signatures;
  std::string content_address;
  bool ultimate = false;
  absl::Time registered = absl::InfinitePast();  // to the second; InfinitePast: not known
  friend bool operator==(const PathInfo&, const PathInfo&) = default;
};

// What BuildDerivation sends: a derivation whose inputs are the outputs themselves.
struct BasicDerivation {
  std::map<std::string, DerivationOutput> outputs;
  std::set<std::string> input_sources;  // input_sources and the used outputs of input_derivations
  std::string system, builder;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  friend bool operator==(const BasicDerivation&, const BasicDerivation&) = default;
};

// What it would take to make some paths.
struct MissingPaths {
  std::set<std::string> to_build;       // derivations
  std::set<std::string> to_substitute;  // outputs
  std::set<std::string> unknown;        // neither there, nor substitutable, nor with a derivation
  uint64_t download_bytes = 0, nar_bytes = 0;
  friend bool operator==(const MissingPaths&, const MissingPaths&) = default;
};

// What a substituter has.
struct SubstitutablePath {
  std::string deriver;  // empty: unknown
  std::set<std::string> references;
  uint64_t download_bytes = 0, nar_bytes = 0;  // 0: unknown
  friend bool operator==(const SubstitutablePath&, const SubstitutablePath&) = default;
};

// One reason why the collector keeps a path. `link`: the symlink, or "{temp:PID}", "{lsof}" and the like.
struct GarbageRoot {
  std::string link, target;
  friend auto operator<=>(const GarbageRoot&, const GarbageRoot&) = default;
};

struct GarbageRequest {
  enum class Action { kReturnLive = 0, kReturnDead = 1, kDeleteDead = 2, kDeleteSpecific = 3 };
  Action action = Action::kReturnDead;
  std::set<std::string> paths;              // kDeleteSpecific: these, and only when dead
  std::optional<uint64_t> max_freed_bytes;  // stop once so many are freed
  // With kDeleteDead or kDeleteSpecific and `paths`: dead referrers go with them. Needs
  // kFeatureDeleteReferrers.
  bool delete_referrers = false;
  friend bool operator==(const GarbageRequest&, const GarbageRequest&) = default;
};

struct GarbageResult {
  std::set<std::string> paths;  // live, dead or deleted, as asked
  uint64_t bytes_freed = 0;     // of what was deleted
  friend bool operator==(const GarbageResult&, const GarbageResult&) = default;
};

// An output of a content-addressed derivation. `derivation`: "sha256:<base16>" (its hash modulo), or the
// derivation's path where the daemon has kFeatureRealisationWithPath.
struct DerivationOutputId {
  std::string derivation, output;
  friend bool operator==(const DerivationOutputId&, const DerivationOutputId&) = default;
};

struct DaemonRealisation {
  DerivationOutputId id;
  std::string out_path;
  std::set<std::string> signatures;
  friend bool operator==(const DaemonRealisation&, const DaemonRealisation&) = default;
};

struct DaemonSettings {
  int verbosity = 0;  // Nix's level; 0: errors. Build log lines come at any level
  absl::Duration max_silent = absl::ZeroDuration();  // zero: no limit
  absl::Duration timeout = absl::ZeroDuration();
  int max_jobs = 1;     // of BuildPaths and its like
  int build_cores = 0;  // NIX_BUILD_CORES; 0: all
  bool use_substitutes = false;
  bool keep_failed = false, keep_going = false;
  bool fall_back = false;                        // build what could not be substituted
  std::map<std::string, std::string> overrides;  // any nix.conf setting: "sandbox-paths" …
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_VALUES_H_
