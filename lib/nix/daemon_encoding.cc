#include "lib/nix/daemon_encoding.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {
namespace {

constexpr uint64_t kMaxThings = 1 << 22, kMaxOutputs = 1 << 16;
constexpr uint64_t kVerbosityVomit = 7;

uint64_t WholeSeconds(absl::Duration duration) {
  return static_cast<uint64_t>(absl::ToInt64Seconds(absl::Ceil(duration, absl::Seconds(1))));
}

absl::StatusOr<std::string> ReadPath(WireReader& in, bool may_be_empty) {
  HYDRANT_ASSIGN_OR_RETURN(std::string path, in.ReadString());
  if (may_be_empty && path.empty()) return path;
  if (const absl::Status fine = CheckStorePath(path); !fine.ok())
    return in.Garbled(absl::StrCat("what should be a path: ", fine.message()));
  return path;
}
absl::StatusOr<std::string> ReadStorePath(WireReader& in) { return ReadPath(in, false); }
absl::StatusOr<std::string> ReadOptionalStorePath(WireReader& in) { return ReadPath(in, true); }

}  // namespace

void PutUnkeyedPathInfo(WireWriter& out, const PathInfo& info) {
  out.PutString(info.deriver);
  out.PutString(info.nar_hash.ToBase16());
  out.PutStrings(info.references);
  out.PutTime(info.registered);
  out.PutNumber(info.nar_size);
  out.PutBool(info.ultimate);
  out.PutStrings(info.signatures);
  out.PutString(info.content_address);
}

void PutPathInfo(WireWriter& out, const PathInfo& info) {
  out.PutString(info.path);
  PutUnkeyedPathInfo(out, info);
}

absl::StatusOr<PathInfo> ReadUnkeyedPathInfo(WireReader& in, std::string path) {
  PathInfo info{.path = std::move(path)};
  HYDRANT_ASSIGN_OR_RETURN(info.deriver, ReadOptionalStorePath(in));
  HYDRANT_ASSIGN_OR_RETURN(const std::string hash, in.ReadString());
  HYDRANT_ASSIGN_OR_RETURN(info.references, in.ReadStrings());
  HYDRANT_ASSIGN_OR_RETURN(info.registered, in.ReadTime());
  HYDRANT_ASSIGN_OR_RETURN(info.nar_size, in.ReadNumber());
  HYDRANT_ASSIGN_OR_RETURN(info.ultimate, in.ReadBool());
  HYDRANT_ASSIGN_OR_RETURN(const std::set<std::string> signatures, in.ReadStrings());
  info.signatures.assign(signatures.begin(), signatures.end());
  HYDRANT_ASSIGN_OR_RETURN(info.content_address, in.ReadString());
  const auto digest = Sha256Digest::Parse(hash);
  if (!digest.ok())
    return in.Garbled(absl::StrCat("a wrong hash of ", info.path, ": ", digest.status().message()));
  info.nar_hash = *digest;
  return info;
}

absl::StatusOr<PathInfo> ReadPathInfo(WireReader& in) {
  HYDRANT_ASSIGN_OR_RETURN(std::string path, ReadStorePath(in));
  return ReadUnkeyedPathInfo(in, std::move(path));
}

void PutBasicDerivation(WireWriter& out, const BasicDerivation& derivation) {
  out.PutNumber(derivation.outputs.size());
  for (const auto& [name, output] : derivation.outputs) {
    out.PutString(name);
    out.PutString(output.path);
    out.PutString(output.hash_algo);
    out.PutString(output.hash);
  }
  out.PutStrings(derivation.input_sources);
  out.PutString(derivation.system);
  out.PutString(derivation.builder);
  out.PutStrings(derivation.arguments);
  out.PutMap(derivation.environment);
}

absl::StatusOr<BasicDerivation> ReadBasicDerivation(WireReader& in) {
  BasicDerivation derivation;
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t outputs, in.ReadCount(kMaxOutputs, "outputs"));
  for (uint64_t i = 0; i < outputs; ++i) {
    HYDRANT_ASSIGN_OR_RETURN(const std::string name, in.ReadString());
    DerivationOutput& output = derivation.outputs[name];
    HYDRANT_ASSIGN_OR_RETURN(output.path, in.ReadString());
    HYDRANT_ASSIGN_OR_RETURN(output.hash_algo, in.ReadString());
    HYDRANT_ASSIGN_OR_RETURN(output.hash, in.ReadString());
  }
  HYDRANT_ASSIGN_OR_RETURN(derivation.input_sources, in.ReadStrings());
  HYDRANT_ASSIGN_OR_RETURN(derivation.system, in.ReadString());
  HYDRANT_ASSIGN_OR_RETURN(derivation.builder, in.ReadString());
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t arguments, in.ReadCount(kMaxThings, "arguments"));
  for (uint64_t i = 0; i < arguments; ++i) {
    HYDRANT_ASSIGN_OR_RETURN(std::string argument, in.ReadString());
    derivation.arguments.push_back(std::move(argument));
  }
  HYDRANT_ASSIGN_OR_RETURN(derivation.environment, in.ReadMap());
  return derivation;
}

absl::Status PutDerivedPaths(WireWriter& out, const DaemonProtocol& protocol,
                             const std::vector<DerivedPath>& paths) {
  if (protocol.minor >= 30) {
    out.PutNumber(paths.size());
    for (const DerivedPath& path : paths) out.PutString(path.ToString());
    return absl::OkStatus();
  }
  std::vector<std::string> texts;
  for (const DerivedPath& path : paths) {
    const bool derivation = std::string_view(path.path).ends_with(".drv");
    if (derivation && path.kind == DerivedPath::Kind::kOpaque)
      HYDRANT_RETURN_IF_ERROR(CheckSince(30, "a derivation itself as a target", protocol));
    texts.push_back(path.kind == DerivedPath::Kind::kAllOutputs ? path.path : path.ToString());
  }
  out.PutStrings(texts);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DerivedPath>> ReadDerivedPaths(WireReader& in, const DaemonProtocol& protocol) {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, in.ReadCount(kMaxThings, "paths"));
  std::vector<DerivedPath> paths;
  for (uint64_t i = 0; i < count; ++i) {
    HYDRANT_ASSIGN_OR_RETURN(const std::string text, in.ReadString());
    absl::StatusOr<DerivedPath> path = DerivedPath::Parse(text);
    if (!path.ok()) return in.Garbled(StdView(path.status().message()));
    if (protocol.minor < 30 && std::string_view(path->path).ends_with(".drv") &&
        path->kind == DerivedPath::Kind::kOpaque)
      path->kind = DerivedPath::Kind::kAllOutputs;
    paths.push_back(*std::move(path));
  }
  return paths;
}

void PutMissingPaths(WireWriter& out, const MissingPaths& missing) {
  out.PutStrings(missing.to_build);
  out.PutStrings(missing.to_substitute);
  out.PutStrings(missing.unknown);
  out.PutNumber(missing.download_bytes);
  out.PutNumber(missing.nar_bytes);
}

absl::StatusOr<MissingPaths> ReadMissingPaths(WireReader& in) {
  MissingPaths missing;
  HYDRANT_ASSIGN_OR_RETURN(missing.to_build, in.ReadStrings());
  HYDRANT_ASSIGN_OR_RETURN(missing.to_substitute, in.ReadStrings());
  HYDRANT_ASSIGN_OR_RETURN(missing.unknown, in.ReadStrings());
  HYDRANT_ASSIGN_OR_RETURN(missing.download_bytes, in.ReadNumber());
  HYDRANT_ASSIGN_OR_RETURN(missing.nar_bytes, in.ReadNumber());
  return missing;
}

void PutSubstitutablePaths(WireWriter& out, const std::map<std::string, SubstitutablePath>& paths) {
  out.PutNumber(paths.size());
  for (const auto& [path, facts] : paths) {
    out.PutString(path);
    out.PutString(facts.deriver);
    out.PutStrings(facts.references);
    out.PutNumber(facts.download_bytes);
    out.PutNumber(facts.nar_bytes);
  }
}

absl::StatusOr<std::map<std::string, SubstitutablePath>> ReadSubstitutablePaths(WireReader& in) {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, in.ReadCount(kMaxThings, "paths"));
  std::map<std::string, SubstitutablePath> paths;
  for (uint64_t i = 0; i < count; ++i) {
    HYDRANT_ASSIGN_OR_RETURN(const std::string path, ReadStorePath(in));
    SubstitutablePath& facts = paths[path];
    HYDRANT_ASSIGN_OR_RETURN(facts.deriver, ReadOptionalStorePath(in));
    HYDRANT_ASSIGN_OR_RETURN(facts.references, in.ReadStrings());
    HYDRANT_ASSIGN_OR_RETURN(facts.download_bytes, in.ReadNumber());
    HYDRANT_ASSIGN_OR_RETURN(facts.nar_bytes, in.ReadNumber());
  }
  return paths;
}

void PutGarbageRoots(WireWriter& out, const std::vector<GarbageRoot>& roots) {
  out.PutNumber(roots.size());
  for (const GarbageRoot& root : roots) {
    out.PutString(root.link);
    out.PutString(root.target);
  }
}

absl::StatusOr<std::vector<GarbageRoot>> ReadGarbageRoots(WireReader& in) {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, in.ReadCount(kMaxThings, "roots"));
  std::vector<GarbageRoot> roots;
  for (uint64_t i = 0; i < count; ++i) {
    GarbageRoot root;
    HYDRANT_ASSIGN_OR_RETURN(root.link, in.ReadString());
    HYDRANT_ASSIGN_OR_RETURN(root.target, ReadStorePath(in));
    roots.push_back(std::move(root));
  }
  return roots;
}

void PutGarbageRequest(WireWriter& out, const DaemonProtocol& protocol, const GarbageRequest& request) {
  out.PutNumber(static_cast<uint64_t>(request.action));
  if (protocol.has(kFeatureDeleteReferrers)) {
    const bool whole_store =
        request.action != GarbageRequest::Action::kDeleteSpecific && request.paths.empty();
    out.PutBool(whole_store);
    if (!whole_store) out.PutStrings(request.paths);
    if (!whole_store) out.PutBool(request.delete_referrers);
  } else {
    out.PutStrings(request.paths);
  }
  out.PutBool(false);  // ignore liveness: no daemon allows it
  out.PutNumber(request.max_freed_bytes.value_or(std::numeric_limits<uint64_t>::max()));
  for (int i = 0; i < 3; ++i) out.PutNumber(0);  // of old collectors
}

absl::StatusOr<GarbageRequest> ReadGarbageRequest(WireReader& in, const DaemonProtocol& protocol) {
  GarbageRequest request;
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t action, in.ReadNumber());
  if (action > static_cast<uint64_t>(GarbageRequest::Action::kDeleteSpecific))
    return in.Garbled(absl::StrCat("an unknown collector action ", action));
  request.action = static_cast<GarbageRequest::Action>(action);
  bool whole_store = false;
  if (protocol.has(kFeatureDeleteReferrers)) {
    HYDRANT_ASSIGN_OR_RETURN(whole_store, in.ReadBool());
  }
  if (!whole_store) {
    HYDRANT_ASSIGN_OR_RETURN(request.paths, in.ReadStrings());
    if (protocol.has(kFeatureDeleteReferrers)) {
      HYDRANT_ASSIGN_OR_RETURN(request.delete_referrers, in.ReadBool());
    }
  }
  HYDRANT_RETURN_IF_ERROR(in.ReadNumber().status());
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t max_freed, in.ReadNumber());
  if (max_freed != std::numeric_limits<uint64_t>::max()) request.max_freed_bytes = max_freed;
  for (int i = 0; i < 3; ++i) HYDRANT_RETURN_IF_ERROR(in.ReadNumber().status());
  return request;
}

void PutGarbageResult(WireWriter& out, const GarbageResult& result) {
  out.PutStrings(result.paths);
  out.PutNumber(result.bytes_freed);
  out.PutNumber(0);  // once: blocks freed
}

absl::StatusOr<GarbageResult> ReadGarbageResult(WireReader& in) {
  GarbageResult result;
  HYDRANT_ASSIGN_OR_RETURN(result.paths, in.ReadStrings());
  HYDRANT_ASSIGN_OR_RETURN(result.bytes_freed, in.ReadNumber());
  HYDRANT_RETURN_IF_ERROR(in.ReadNumber().status());
  return result;
}

void PutSettings(WireWriter& out, const DaemonSettings& settings) {
  std::map<std::string, std::string> overrides = settings.overrides;
  if (settings.timeout > absl::ZeroDuration())
    overrides["timeout"] = absl::StrCat(WholeSeconds(settings.timeout));
  const uint64_t numbers[] = {
      settings.keep_failed,
      settings.keep_going,
      settings.fall_back,
      static_cast<uint64_t>(settings.verbosity),
      static_cast<uint64_t>(settings.max_jobs),
      WholeSeconds(settings.max_silent),
      1,                // once: use the build hook
      kVerbosityVomit,  // not "verbose build": log lines come as results of the build's activity
      0,                // once: log type
      0,                // once: print build trace
      static_cast<uint64_t>(settings.build_cores),
      settings.use_substitutes,
  };
  for (const uint64_t number : numbers) out.PutNumber(number);
  out.PutMap(overrides);
}

absl::StatusOr<std::optional<bool>> ReadTrust(WireReader& in) {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t trust, in.ReadNumber());
  if (trust > 2) return in.Garbled(absl::StrCat("an unknown kind of trust ", trust));
  if (trust == 0) return std::nullopt;
  return trust == 1;
}

}  // namespace hydrant::nix
