#include "lib/nix/build_result.h"

#include <iterator>

namespace hydrant::nix {
namespace {

constexpr std::string_view kNames[] = {"built",
                                       "substituted",
                                       "already-valid",
                                       "permanent-failure",
                                       "input-rejected",
                                       "output-rejected",
                                       "transient-failure",
                                       "cached-failure",
                                       "timed-out",
                                       "misc-failure",
                                       "dependency-failed",
                                       "log-limit-exceeded",
                                       "not-deterministic",
                                       "resolves-to-already-valid",
                                       "no-substituters",
                                       "hash-mismatch"};

}  // namespace

std::string_view BuildStatusName(BuildStatus status) {
  const auto index = static_cast<size_t>(status);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

bool BuildResult::ok() const {
  return status == BuildStatus::kBuilt || status == BuildStatus::kSubstituted ||
         status == BuildStatus::kAlreadyValid || status == BuildStatus::kResolvesToAlreadyValid;
}

}  // namespace hydrant::nix
