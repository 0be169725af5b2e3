// The encodings of builds' results and of realisations.
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/daemon_encoding.h"
#include "lib/nix/realisation.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {
namespace {

constexpr uint64_t kMaxResults = 1 << 22, kMaxOutputs = 1 << 16;
// Old clients read only what comes after it; daemons that have no hash send it so.
constexpr std::string_view kNoHash =
    "sha256:0000000000000000000000000000000000000000000000000000000000000000";

void PutCpuTime(WireWriter& out, const std::optional<absl::Duration>& time) {
  out.PutBool(time.has_value());
  if (time.has_value()) out.PutNumber(static_cast<uint64_t>(absl::ToInt64Microseconds(*time)));
}

absl::StatusOr<std::optional<absl::Duration>> ReadCpuTime(WireReader& in) {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t present, in.ReadCount(1, "CPU times"));
  if (present == 0) return std::nullopt;
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t microseconds, in.ReadNumber());
  return absl::Microseconds(static_cast<int64_t>(microseconds));
}

std::string OutputIdText(const DerivationOutputId& id) { return absl::StrCat(id.derivation, "!", id.output); }

// "" when the name is none.
std::string RealisationJson(const DaemonRealisation& realisation) {
  const absl::StatusOr<Realisation::Id> id = Realisation::Id::Parse(OutputIdText(realisation.id));
  const absl::StatusOr<StorePath> path = StorePath::Parse(realisation.out_path);
  if (!id.ok() || !path.ok()) return "";
  return Realisation{.id = *id,
                     .value = {.out_path = *path,
                               .signatures = {realisation.signatures.begin(), realisation.signatures.end()}}}
      .Print();
}

absl::StatusOr<DaemonRealisation> ReadUnkeyedRealisation(WireReader& in, DerivationOutputId id) {
  DaemonRealisation realisation{.id = std::move(id)};
  HYDRANT_ASSIGN_OR_RETURN(realisation.out_path, in.ReadString());
  HYDRANT_ASSIGN_OR_RETURN(realisation.signatures, in.ReadStrings());
  if (const absl::Status fine = CheckStorePath(realisation.out_path); !fine.ok())
    return in.Garbled(StdView(fine.message()));
  return realisation;
}

absl::StatusOr<DaemonRealisation> ReadJsonRealisation(WireReader& in) {
  HYDRANT_ASSIGN_OR_RETURN(const std::string json, in.ReadString());
  const absl::StatusOr<Realisation> realisation = Realisation::Parse(json);
  if (!realisation.ok()) return in.Garbled(StdView(realisation.status().message()));
  const auto& [id, value, dependents] = *realisation;
  return DaemonRealisation{.id = {"sha256:" + id.derivation_hash.ToBase16(), id.output_name},
                           .out_path = value.out_path.path(),
                           .signatures = {value.signatures.begin(), value.signatures.end()}};
}

void PutBuiltOutputs(WireWriter& out, const DaemonProtocol& protocol,
                     const std::map<std::string, std::string>& outputs) {
  if (!protocol.has(kFeatureRealisationWithPath) && protocol.minor < 28) return;
  out.PutNumber(outputs.size());
  for (const auto& [name, path] : outputs) {
    if (protocol.has(kFeatureRealisationWithPath)) {
      out.PutString(name);
      out.PutString(path);
      out.PutNumber(0);  // signatures
    } else {
      const DerivationOutputId id{std::string(kNoHash), name};
      out.PutString(OutputIdText(id));
      out.PutString(RealisationJson({.id = id, .out_path = path}));
    }
  }
}

absl::StatusOr<std::map<std::string, std::string>> ReadBuiltOutputs(WireReader& in,
                                                                    const DaemonProtocol& protocol) {
  std::map<std::string, std::string> outputs;
  if (!protocol.has(kFeatureRealisationWithPath) && protocol.minor < 28) return outputs;
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, in.ReadCount(kMaxOutputs, "outputs"));
  for (uint64_t i = 0; i < count; ++i) {
    HYDRANT_ASSIGN_OR_RETURN(std::string key, in.ReadString());
    if (protocol.has(kFeatureRealisationWithPath)) {
      HYDRANT_ASSIGN_OR_RETURN(DaemonRealisation realisation, ReadUnkeyedRealisation(in, {}));
      outputs.insert_or_assign(std::move(key), std::move(realisation.out_path));
    } else {
      HYDRANT_ASSIGN_OR_RETURN(DaemonRealisation realisation, ReadJsonRealisation(in));
      outputs.insert_or_assign(std::move(realisation.id.output), std::move(realisation.out_path));
    }
  }
  return outputs;
}

}  // namespace

void PutBuildResult(WireWriter& out, const DaemonProtocol& protocol, const BuildResult& result) {
  // 15 is a name of Nix's for what the protocol calls 5.
  out.PutNumber(static_cast<uint64_t>(
      result.status == BuildStatus::kHashMismatch ? BuildStatus::kOutputRejected : result.status));
  out.PutString(result.error);
  if (protocol.minor >= 29) {
    out.PutNumber(result.times_built);
    out.PutBool(result.non_deterministic);
    out.PutTime(result.start);
    out.PutTime(result.stop);
  }
  if (protocol.minor >= 37) {
    PutCpuTime(out, result.cpu_user);
    PutCpuTime(out, result.cpu_system);
  }
  PutBuiltOutputs(out, protocol, result.built_outputs);
}

absl::StatusOr<BuildResult> ReadBuildResult(WireReader& in, const DaemonProtocol& protocol) {
  BuildResult result;
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t status, in.ReadNumber());
  if (status > static_cast<uint64_t>(BuildStatus::kHashMismatch))
    return in.Garbled(absl::StrCat("an unknown build status ", status));
  result.status = static_cast<BuildStatus>(status);
  HYDRANT_ASSIGN_OR_RETURN(result.error, in.ReadString());
  if (protocol.minor >= 29) {
    HYDRANT_ASSIGN_OR_RETURN(result.times_built, in.ReadNumber());
    HYDRANT_ASSIGN_OR_RETURN(result.non_deterministic, in.ReadBool());
    HYDRANT_ASSIGN_OR_RETURN(result.start, in.ReadTime());
    HYDRANT_ASSIGN_OR_RETURN(result.stop, in.ReadTime());
  }
  if (protocol.minor >= 37) {
    HYDRANT_ASSIGN_OR_RETURN(result.cpu_user, ReadCpuTime(in));
    HYDRANT_ASSIGN_OR_RETURN(result.cpu_system, ReadCpuTime(in));
  }
  HYDRANT_ASSIGN_OR_RETURN(result.built_outputs, ReadBuiltOutputs(in, protocol));
  return result;
}

void PutKeyedBuildResults(WireWriter& out, const DaemonProtocol& protocol,
                          const std::vector<KeyedBuildResult>& results) {
  out.PutNumber(results.size());
  for (const KeyedBuildResult& keyed : results) {
    out.PutString(keyed.path.ToString());
    PutBuildResult(out, protocol, keyed.result);
  }
}

absl::StatusOr<std::vector<KeyedBuildResult>> ReadKeyedBuildResults(WireReader& in,
                                                                    const DaemonProtocol& protocol) {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, in.ReadCount(kMaxResults, "results"));
  std::vector<KeyedBuildResult> results;
  for (uint64_t i = 0; i < count; ++i) {
    HYDRANT_ASSIGN_OR_RETURN(const std::string text, in.ReadString());
    absl::StatusOr<DerivedPath> path = DerivedPath::Parse(text);
    if (!path.ok()) return in.Garbled(StdView(path.status().message()));
    HYDRANT_ASSIGN_OR_RETURN(BuildResult result, ReadBuildResult(in, protocol));
    results.push_back({*std::move(path), std::move(result)});
  }
  return results;
}

void PutOutputId(WireWriter& out, const DaemonProtocol& protocol, const DerivationOutputId& id) {
  if (!protocol.has(kFeatureRealisationWithPath)) return out.PutString(OutputIdText(id));
  out.PutString(id.derivation);
  out.PutString(id.output);
}

void PutRealisation(WireWriter& out, const DaemonProtocol& protocol, const DaemonRealisation& realisation) {
  if (protocol.has(kFeatureRealisationWithPath)) {
    PutOutputId(out, protocol, realisation.id);
    out.PutString(realisation.out_path);
    out.PutStrings(realisation.signatures);
  } else if (protocol.minor >= 31) {
    out.PutString(RealisationJson(realisation));
  } else {
    out.PutString(OutputIdText(realisation.id));
    out.PutString(std::string_view(realisation.out_path).substr(kStoreDir.size() + 1));
  }
}

void PutFoundRealisation(WireWriter& out, const DaemonProtocol& protocol,
                         const std::optional<DaemonRealisation>& realisation) {
  out.PutBool(realisation.has_value());  // an optional, or the size of a set
  if (!realisation.has_value()) return;
  if (protocol.has(kFeatureRealisationWithPath)) {
    out.PutString(realisation->out_path);
    out.PutStrings(realisation->signatures);
  } else if (protocol.minor >= 31) {
    out.PutString(RealisationJson(*realisation));
  } else {
    out.PutString(realisation->out_path);
  }
}

absl::StatusOr<std::optional<DaemonRealisation>> ReadFoundRealisation(WireReader& in,
                                                                      const DaemonProtocol& protocol,
                                                                      const DerivationOutputId& id) {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, in.ReadCount(1, "realisations"));
  if (count == 0) return std::nullopt;
  if (protocol.has(kFeatureRealisationWithPath)) return ReadUnkeyedRealisation(in, id);
  if (protocol.minor >= 31) return ReadJsonRealisation(in);
  HYDRANT_ASSIGN_OR_RETURN(std::string path, in.ReadString());
  if (const absl::Status fine = CheckStorePath(path); !fine.ok()) return in.Garbled(StdView(fine.message()));
  return DaemonRealisation{.id = id, .out_path = std::move(path)};
}

}  // namespace hydrant::nix
