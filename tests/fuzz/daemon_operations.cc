#include "tests/fuzz/daemon_operations.h"

#include <memory>

#include "lib/base/status_macros.h"
#include "lib/nix/nar.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/nar_tokens.h"
#include "tests/fuzz/pieces.h"

namespace hydrant::fuzz {
namespace {

using nix::DaemonClient;

constexpr size_t kMostNar = 1 << 20;

const std::string& Archive() {
  static const std::string archive = [] {
    std::string bytes;
    AppendNarTokens(bytes, {"nix-archive-1", "(", "type", "regular", "contents", "hello", ")"});
    return bytes;
  }();
  return archive;
}

// What AddText makes; what Build builds. Nix computed the paths.
constexpr std::string_view kText = "/nix/store/gn76d8dh089anfi3s47pvgsh93l1d1n9-text";
constexpr std::string_view kDerivation = "/nix/store/6563gizg4p41dv3srnm9khz56i19ldq0-built.drv";
constexpr std::string_view kOutput = "/nix/store/v3ssd82wsc6j1f6gmrw5vz6kndkj142h-built";
constexpr std::string_view kArchivePath = "/nix/store/11111111111111111111111111111111-archive";
constexpr std::string_view kDerivationText =
    "Derive([(\"out\",\"/nix/store/"
    "v3ssd82wsc6j1f6gmrw5vz6kndkj142h-built\",\"\",\"\")],[],[],\"x86_64-linux\",\"/bin/sh\","
    "[\"-c\",\"echo line; echo done > $out\"],[(\"builder\",\"/bin/sh\"),(\"name\",\"built\"),"
    "(\"out\",\"/nix/store/v3ssd82wsc6j1f6gmrw5vz6kndkj142h-built\"),(\"system\",\"x86_64-linux\")])";
constexpr std::string_view kAbsent = "/nix/store/00000000000000000000000000000000-absent";

absl::Status SetOptions(DaemonClient& client) {
  return client.SetOptions({.max_silent = absl::Seconds(100), .overrides = {{"cores", "1"}}});
}

absl::Status AddText(DaemonClient& client) { return client.AddTextToStore("text", "hello", {}).status(); }

nix::PathInfo ArchiveInfo() {
  return {.path = std::string(kArchivePath),
          .nar_hash = nix::HashSha256(Archive()),
          .nar_size = Archive().size(),
          .references = {std::string(kText)}};
}

absl::Status AddArchive(DaemonClient& client) {
  StringSource source(Archive());
  return client.AddToStoreNar(ArchiveInfo(), source);
}

absl::Status AddMany(DaemonClient& client) {
  const auto open = []() -> absl::StatusOr<std::unique_ptr<Source>> {
    return std::make_unique<StringSource>(Archive());
  };
  return client.AddMultipleToStore({{.info = ArchiveInfo(), .open = open}});
}

absl::Status AddDerivation(DaemonClient& client) {
  return client.AddTextToStore("built.drv", kDerivationText, {}).status();
}

absl::Status AddByContent(DaemonClient& client) {
  StringSource archive(Archive()), log("a log"), flat("flat");
  HYDRANT_RETURN_IF_ERROR(client.AddToStore("tree", nix::ContentMethod::kRecursive, archive).status());
  HYDRANT_RETURN_IF_ERROR(client.AddToStore("flat", nix::ContentMethod::kFlat, flat).status());
  HYDRANT_RETURN_IF_ERROR(client.AddSignatures(kText, {"key:c2ln"}));
  return client.AddBuildLog(kDerivation, log);
}

absl::Status Ask(DaemonClient& client) {
  HYDRANT_RETURN_IF_ERROR(client.IsValidPath(kText).status());
  HYDRANT_RETURN_IF_ERROR(client.IsValidPath(kAbsent).status());
  return client.QueryValidPaths({std::string(kText), std::string(kAbsent)}).status();
}

absl::Status QueryInfo(DaemonClient& client) { return client.QueryPathInfo(kText).status(); }
absl::Status QueryAbsent(DaemonClient& client) { return client.QueryPathInfo(kAbsent).status(); }

absl::Status QueryClosure(DaemonClient& client) {
  return client.QueryClosure({std::string(kArchivePath)}).status();
}

absl::Status QueryManyInfos(DaemonClient& client) {
  return client.QueryPathInfos({std::string(kText), std::string(kAbsent), std::string(kArchivePath)})
      .status();
}

absl::Status QueryNeighbours(DaemonClient& client) {
  HYDRANT_RETURN_IF_ERROR(client.QueryAllValidPaths().status());
  HYDRANT_RETURN_IF_ERROR(client.QueryReferrers(kText).status());
  HYDRANT_RETURN_IF_ERROR(client.QueryValidDerivers(kOutput).status());
  HYDRANT_RETURN_IF_ERROR(client.QueryPathFromHashPart("11111111111111111111111111111111").status());
  return client.QueryDerivationOutputMap(kDerivation).status();
}

absl::Status QueryMissing(DaemonClient& client) {
  HYDRANT_RETURN_IF_ERROR(
      client.QueryMissing({nix::DerivedPath::AllOutputs(std::string(kDerivation))}).status());
  HYDRANT_RETURN_IF_ERROR(client.QuerySubstitutablePaths({std::string(kAbsent)}).status());
  return client.QuerySubstitutablePathInfos({std::string(kAbsent)}).status();
}

absl::Status Realisations(DaemonClient& client) {
  const nix::DerivationOutputId id{client.protocol().has(nix::kFeatureRealisationWithPath)
                                       ? std::string(kDerivation)
                                       : "sha256:" + std::string(64, '0'),
                                   "out"};
  HYDRANT_RETURN_IF_ERROR(client.QueryRealisation(id).status());
  return client.RegisterRealisation({.id = id, .out_path = std::string(kText)});
}

absl::Status VerifyPath(DaemonClient& client) { return client.VerifyPath(kText); }

absl::Status NarFromPath(DaemonClient& client) {
  BoundedSink sink(kMostNar);
  HYDRANT_RETURN_IF_ERROR(client.NarFromPath(kText, sink));
  nix::NarVerifier verifier;
  DemandOk(verifier.Write(sink.value()), "an archive of the daemon's is one");
  DemandOk(verifier.Finish().status(), "an archive of the daemon's is complete");
  return absl::OkStatus();
}

absl::Status AddRoots(DaemonClient& client) {
  HYDRANT_RETURN_IF_ERROR(client.AddTempRoot(kText));
  return client.AddIndirectRoot("/tmp/hydrant-fuzz-no-such-link");
}

absl::Status MoreRoots(DaemonClient& client) {
  HYDRANT_RETURN_IF_ERROR(client.AddTempRoots({std::string(kText), std::string(kAbsent)}));
  HYDRANT_RETURN_IF_ERROR(client.SyncWithGC());
  return client.FindRoots().status();
}

absl::Status Collect(DaemonClient& client) {
  return client.CollectGarbage({.action = nix::GarbageRequest::Action::kReturnDead}).status();
}

absl::Status Verify(DaemonClient& client) {
  HYDRANT_RETURN_IF_ERROR(client.VerifyStore(/*check_contents=*/true).status());
  return client.OptimiseStore();
}

absl::Status BuildPaths(DaemonClient& client) {
  size_t told = 0;
  const nix::LogSink log = [&](const nix::LogEvent& event) { told += event.text.size(); };
  const auto out = nix::DerivedPath::Outputs(std::string(kDerivation), {"out"});
  HYDRANT_RETURN_IF_ERROR(client.BuildPathsWithResults({out}, log).status());
  HYDRANT_RETURN_IF_ERROR(client.BuildPaths({out}, log));
  return client.EnsurePath(kAbsent, log);
}

absl::Status BuildWith(DaemonClient& client, const std::string& script) {
  const nix::BasicDerivation derivation{.outputs = {{"out", {.path = std::string(kOutput)}}},
                                        .system = "x86_64-linux",
                                        .builder = "/bin/sh",
                                        .arguments = {"-c", script},
                                        .environment = {{"name", "built"}, {"out", std::string(kOutput)}}};
  size_t told = 0;
  const nix::LogSink log = [&](const nix::LogEvent& event) { told += event.text.size(); };
  return client.BuildDerivation(kDerivation, derivation, log).status();
}

absl::Status BuildFails(DaemonClient& client) {
  return BuildWith(client, "echo '@nix { \"action\": \"setPhase\", \"phase\": \"p\" }'; echo line; exit 3");
}
absl::Status Build(DaemonClient& client) { return BuildWith(client, "echo line; echo done > $out"); }

constexpr DaemonOperation kOperations[] = {
    {"set options", SetOptions},
    {"add text", AddText},
    {"add archive", AddArchive},
    {"ask", Ask},
    {"query info", QueryInfo},
    {"query absent", QueryAbsent},
    {"query closure", QueryClosure},
    {"nar from path", NarFromPath},
    {"add roots", AddRoots},
    {"build fails", BuildFails},
    {"build", Build},
    {"add derivation", AddDerivation},
    {"query missing", QueryMissing},
    {"build paths", BuildPaths},
    {"add many", AddMany},
    {"add by content", AddByContent},
    {"query many infos", QueryManyInfos},
    {"query neighbours", QueryNeighbours},
    {"verify path", VerifyPath},
    {"more roots", MoreRoots},
    {"collect", Collect},
    {"verify", Verify},
    {"realisations", Realisations},
};

}  // namespace

std::span<const DaemonOperation> DaemonOperations() { return kOperations; }

}  // namespace hydrant::fuzz
