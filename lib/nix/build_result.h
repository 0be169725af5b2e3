// What a Nix daemon says of a build: how it ended, when, at what cost, with which outputs. Knows no failure
// classes of ours.
#ifndef HYDRANT_LIB_NIX_BUILD_RESULT_H_
#define HYDRANT_LIB_NIX_BUILD_RESULT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "lib/nix/ansi_codes.h"
#include "lib/nix/derived_path.h"

namespace hydrant::nix {

// BuildResult::status of the protocol. 15 is no number of the protocol, which says 5 for it.
enum class BuildStatus {
  kBuilt = 0,
  kSubstituted = 1,
  kAlreadyValid = 2,
  kPermanentFailure = 3,
  kInputRejected = 4,
  kOutputRejected = 5,
  kTransientFailure = 6,
  kCachedFailure = 7,
  kTimedOut = 8,
  kMiscFailure = 9,
  kDependencyFailed = 10,
  kLogLimitExceeded = 11,
  kNotDeterministic = 12,
  kResolvesToAlreadyValid = 13,
  kNoSubstituters = 14,
  kHashMismatch = 15,
};

// "built", "permanent-failure" …
std::string_view BuildStatusName(BuildStatus status);

enum class BuildMode { kNormal = 0, kRepair = 1, kCheck = 2 };

struct BuildResult {
  BuildStatus status = BuildStatus::kMiscFailure;
  std::string error;  // ANSI codes as the daemon sent them
  // From protocol 1.29 on.
  uint64_t times_built = 0;
  bool non_deterministic = false;
  absl::Time start = absl::InfinitePast(), stop = absl::InfinitePast();
  // From protocol 1.37 on, when the daemon builds in a cgroup.
  std::optional<absl::Duration> cpu_user, cpu_system;
  // Output name -> path, from protocol 1.28 on; daemons leave it empty for what they did not look up.
  std::map<std::string, std::string> built_outputs;

  bool ok() const;
  std::string plain_error() const { return WithoutAnsiCodes(error); }
  friend bool operator==(const BuildResult&, const BuildResult&) = default;
};

// Of BuildPathsWithResults: what was asked for and what became of it.
struct KeyedBuildResult {
  DerivedPath path;
  BuildResult result;
  friend bool operator==(const KeyedBuildResult&, const KeyedBuildResult&) = default;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_BUILD_RESULT_H_
