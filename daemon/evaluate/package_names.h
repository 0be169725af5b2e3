// Which names there are in some sets of a tree's packages, told by a process of Nix that forces none of what
// stands under them (package_names.nix). Knows nothing of what the names are for.
#ifndef HYDRANT_DAEMON_EVALUATE_PACKAGE_NAMES_H_
#define HYDRANT_DAEMON_EVALUATE_PACKAGE_NAMES_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/evaluate/line_process.h"

namespace hydrant {

// More names than this are refused: nixpkgs has about 120,000 with all its sets.
inline constexpr size_t kMostPackageNames = 500'000;

struct PackageNames {
  std::vector<std::string> packages;  // attribute paths, set by set, by name
  std::vector<std::string> missing;   // "haskelPackages: attribute 'haskelPackages' missing"
};

// The lines of package_names.nix.
class PackageNamesTranscript {
 public:
  explicit PackageNamesTranscript(const std::string& mark) : lead_("trace: @" + mark) {}
  // Whether the line is one of them.
  bool Take(std::string_view line);
  bool complete() const { return complete_; }
  // What was wrong with a line of theirs; OK until then.
  const absl::Status& status() const { return status_; }
  const std::string& words() const { return words_; }  // of the other lines, the last 64 KiB
  PackageNames& names() { return names_; }

 private:
  absl::Status TakeNames(std::string_view text);

  const std::string lead_;
  PackageNames names_;
  std::string words_;
  absl::Status status_;
  bool complete_ = false;
};

// Runs the process, whose command and bounds the caller gives, with the driver's `mark`. FailedPrecondition
// with Nix's words when the package set does not evaluate; Unavailable when the process died of time or
// memory; Cancelled when `stop` said so; NotFound without Nix.
absl::StatusOr<PackageNames> ListPackageNames(const LineProcess& process, const std::string& mark,
                                              const std::function<bool()>& stop, uint64_t memory);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_PACKAGE_NAMES_H_
