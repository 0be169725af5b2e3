// What two ends of Nix's worker protocol agree on: the version, the features, and which operation exists
// since when. Numbers: Nix's worker-protocol.hh and the history of its PROTOCOL_VERSION.
#ifndef HYDRANT_LIB_NIX_DAEMON_PROTOCOL_H_
#define HYDRANT_LIB_NIX_DAEMON_PROTOCOL_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace hydrant::nix {

// Ours. Later additions to the protocol come as features, not as numbers.
inline constexpr uint64_t kProtocolMajor = 1, kProtocolMinor = 38, kOldestProtocolMinor = 21;

// Realisations are named by derivation path and sent as fields, not by hash and as JSON.
inline constexpr std::string_view kFeatureRealisationWithPath = "realisation-with-path-not-hash";
// The collector may be asked for some dead paths and their referrers.
inline constexpr std::string_view kFeatureDeleteReferrers = "delete-dead-specific-referrers";

struct DaemonProtocol {
  uint64_t minor = kProtocolMinor;
  std::set<std::string, std::less<>> features;  // both ends have them; from 1.38 on
  bool has(std::string_view feature) const { return features.contains(feature); }
};

// The features that we offer.
const std::set<std::string>& OurFeatures();

enum class DaemonOperation : uint64_t {
  kIsValidPath = 1,
  kQueryReferrers = 6,
  kAddToStore = 7,
  kAddTextToStore = 8,
  kBuildPaths = 9,
  kEnsurePath = 10,
  kAddTempRoot = 11,
  kAddIndirectRoot = 12,
  kSyncWithGC = 13,
  kFindRoots = 14,
  kSetOptions = 19,
  kCollectGarbage = 20,
  kQueryAllValidPaths = 23,
  kQueryPathInfo = 26,
  kQueryPathFromHashPart = 29,
  kQuerySubstitutablePathInfos = 30,
  kQueryValidPaths = 31,
  kQuerySubstitutablePaths = 32,
  kQueryValidDerivers = 33,
  kOptimiseStore = 34,
  kVerifyStore = 35,
  kBuildDerivation = 36,
  kAddSignatures = 37,
  kNarFromPath = 38,
  kAddToStoreNar = 39,
  kQueryMissing = 40,
  kQueryDerivationOutputMap = 41,
  kRegisterDrvOutput = 42,
  kQueryRealisation = 43,
  kAddMultipleToStore = 44,
  kAddBuildLog = 45,
  kBuildPathsWithResults = 46,
  kAddPermRoot = 47,
};

struct OperationFacts {
  DaemonOperation operation;
  std::string_view name;  // Nix's
  uint64_t since_minor;   // the oldest we speak, when it is older
};

// By number.
std::span<const OperationFacts> Operations();

// OK, or Unimplemented that names the operation, the version it needs and what was negotiated. Nix ends the
// connection over an operation that it does not know, so that nothing must be sent then.
absl::Status CheckOperation(DaemonOperation operation, const DaemonProtocol& protocol);
// The same for a part of an operation: "AddToStore of a file".
absl::Status CheckSince(uint64_t since_minor, std::string_view what, const DaemonProtocol& protocol);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_PROTOCOL_H_
