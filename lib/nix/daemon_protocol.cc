#include "lib/nix/daemon_protocol.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

using enum DaemonOperation;

constexpr OperationFacts kOperations[] = {
    {kIsValidPath, "IsValidPath", 21},
    {kQueryReferrers, "QueryReferrers", 21},
    {kAddToStore, "AddToStore", 25},  // in this form
    {kAddTextToStore, "AddTextToStore", 21},
    {kBuildPaths, "BuildPaths", 21},
    {kEnsurePath, "EnsurePath", 21},
    {kAddTempRoot, "AddTempRoot", 21},
    {kAddIndirectRoot, "AddIndirectRoot", 21},
    {kSyncWithGC, "SyncWithGC", 21},
    {kFindRoots, "FindRoots", 21},
    {kSetOptions, "SetOptions", 21},
    {kCollectGarbage, "CollectGarbage", 21},
    {kQueryAllValidPaths, "QueryAllValidPaths", 21},
    {kQueryPathInfo, "QueryPathInfo", 21},
    {kQueryPathFromHashPart, "QueryPathFromHashPart", 21},
    {kQuerySubstitutablePathInfos, "QuerySubstitutablePathInfos", 21},
    {kQueryValidPaths, "QueryValidPaths", 21},
    {kQuerySubstitutablePaths, "QuerySubstitutablePaths", 21},
    {kQueryValidDerivers, "QueryValidDerivers", 21},
    {kOptimiseStore, "OptimiseStore", 21},
    {kVerifyStore, "VerifyStore", 21},
    {kBuildDerivation, "BuildDerivation", 21},
    {kAddSignatures, "AddSignatures", 21},
    {kNarFromPath, "NarFromPath", 21},
    {kAddToStoreNar, "AddToStoreNar", 21},
    {kQueryMissing, "QueryMissing", 21},
    {kQueryDerivationOutputMap, "QueryDerivationOutputMap", 22},
    {kRegisterDrvOutput, "RegisterDrvOutput", 27},
    {kQueryRealisation, "QueryRealisation", 27},
    {kAddMultipleToStore, "AddMultipleToStore", 32},
    {kAddBuildLog, "AddBuildLog", 33},
    {kBuildPathsWithResults, "BuildPathsWithResults", 34},
    {kAddPermRoot, "AddPermRoot", 36},
};
static_assert(std::ranges::is_sorted(kOperations, {}, &OperationFacts::operation));

}  // namespace

const std::set<std::string>& OurFeatures() {
  static const auto& features = *new std::set<std::string>{std::string(kFeatureRealisationWithPath),
                                                           std::string(kFeatureDeleteReferrers)};
  return features;
}

std::span<const OperationFacts> Operations() { return kOperations; }

absl::Status CheckSince(uint64_t since_minor, std::string_view what, const DaemonProtocol& protocol) {
  if (protocol.minor >= since_minor) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(AbslView(what), " needs worker protocol ", kProtocolMajor, ".",
                                               since_minor, ", the Nix daemon speaks ", kProtocolMajor, ".",
                                               protocol.minor));
}

absl::Status CheckOperation(DaemonOperation operation, const DaemonProtocol& protocol) {
  const auto* facts = std::ranges::lower_bound(kOperations, operation, {}, &OperationFacts::operation);
  return CheckSince(facts->since_minor, facts->name, protocol);
}

}  // namespace hydrant::nix
