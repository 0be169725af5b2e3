// How values travel in Nix's worker protocol, both ways, in each version. Sources: Nix's worker-protocol.cc,
// common-protocol.cc and, for what old versions do, their history.
#ifndef HYDRANT_LIB_NIX_DAEMON_ENCODING_H_
#define HYDRANT_LIB_NIX_DAEMON_ENCODING_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/nix/build_result.h"
#include "lib/nix/daemon_format.h"
#include "lib/nix/daemon_protocol.h"
#include "lib/nix/daemon_values.h"
#include "lib/nix/derived_path.h"

namespace hydrant::nix {

// Each Read… reads what its Put… wrote. They break the reader with DataLoss for what no daemon says: an
// unknown status, text that is no store path where one must be, a count without reason.

// With its path before it, or without.
void PutPathInfo(WireWriter& out, const PathInfo& info);
void PutUnkeyedPathInfo(WireWriter& out, const PathInfo& info);
absl::StatusOr<PathInfo> ReadPathInfo(WireReader& in);
absl::StatusOr<PathInfo> ReadUnkeyedPathInfo(WireReader& in, std::string path);

void PutBasicDerivation(WireWriter& out, const BasicDerivation& derivation);
absl::StatusOr<BasicDerivation> ReadBasicDerivation(WireReader& in);

// Unimplemented: before 1.30 a derivation itself, not its outputs, cannot be asked for.
absl::Status PutDerivedPaths(WireWriter& out, const DaemonProtocol& protocol,
                             const std::vector<DerivedPath>& paths);
absl::StatusOr<std::vector<DerivedPath>> ReadDerivedPaths(WireReader& in, const DaemonProtocol& protocol);

void PutBuildResult(WireWriter& out, const DaemonProtocol& protocol, const BuildResult& result);
absl::StatusOr<BuildResult> ReadBuildResult(WireReader& in, const DaemonProtocol& protocol);

void PutKeyedBuildResults(WireWriter& out, const DaemonProtocol& protocol,
                          const std::vector<KeyedBuildResult>& results);
absl::StatusOr<std::vector<KeyedBuildResult>> ReadKeyedBuildResults(WireReader& in,
                                                                    const DaemonProtocol& protocol);

void PutMissingPaths(WireWriter& out, const MissingPaths& missing);
absl::StatusOr<MissingPaths> ReadMissingPaths(WireReader& in);

void PutSubstitutablePaths(WireWriter& out, const std::map<std::string, SubstitutablePath>& paths);
absl::StatusOr<std::map<std::string, SubstitutablePath>> ReadSubstitutablePaths(WireReader& in);

void PutGarbageRoots(WireWriter& out, const std::vector<GarbageRoot>& roots);
absl::StatusOr<std::vector<GarbageRoot>> ReadGarbageRoots(WireReader& in);

void PutGarbageRequest(WireWriter& out, const DaemonProtocol& protocol, const GarbageRequest& request);
absl::StatusOr<GarbageRequest> ReadGarbageRequest(WireReader& in, const DaemonProtocol& protocol);
void PutGarbageResult(WireWriter& out, const GarbageResult& result);
absl::StatusOr<GarbageResult> ReadGarbageResult(WireReader& in);

void PutSettings(WireWriter& out, const DaemonSettings& settings);

// The answer to QueryRealisation; `id`: what was asked for.
void PutOutputId(WireWriter& out, const DaemonProtocol& protocol, const DerivationOutputId& id);
absl::StatusOr<std::optional<DaemonRealisation>> ReadFoundRealisation(WireReader& in,
                                                                      const DaemonProtocol& protocol,
                                                                      const DerivationOutputId& id);
void PutFoundRealisation(WireWriter& out, const DaemonProtocol& protocol,
                         const std::optional<DaemonRealisation>& realisation);
// What RegisterDrvOutput sends.
void PutRealisation(WireWriter& out, const DaemonProtocol& protocol, const DaemonRealisation& realisation);

// Before startup, the greeting's answer: whether the daemon trusts us. From 1.35 on.
absl::StatusOr<std::optional<bool>> ReadTrust(WireReader& in);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_ENCODING_H_
