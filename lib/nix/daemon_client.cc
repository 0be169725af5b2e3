#include "lib/nix/daemon_client.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/daemon_connection.h"
#include "lib/nix/daemon_log.h"
#include "lib/nix/daemon_wire.h"
#include "lib/nix/nar_parser.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {
namespace {

// Numbers of Nix's worker-protocol.hh.
enum Operation : uint64_t {
  kIsValidPath = 1,
  kAddToStore = 7,
  kAddTextToStore = 8,
  kAddTempRoot = 11,
  kAddIndirectRoot = 12,
  kSetOptions = 19,
  kQueryPathInfo = 26,
  kQueryValidPaths = 31,
  kBuildDerivation = 36,
  kNarFromPath = 38,
  kAddToStoreNar = 39,
};
constexpr uint64_t kVerbosityVomit = 7, kBuildModeNormal = 0, kMaxRealisations = 1 << 16;

absl::Status NotValid(std::string_view path) {
  return absl::NotFoundError(absl::StrCat("path ", AbslView(path), " is not in the Nix store"));
}

}  // namespace

bool BuildResult::ok() const {
  return status == BuildStatus::kBuilt || status == BuildStatus::kSubstituted ||
         status == BuildStatus::kAlreadyValid || status == BuildStatus::kResolvesToAlreadyValid;
}

class DaemonClient::Impl {
 public:
  Impl(std::unique_ptr<DaemonConnection> connection, absl::Duration reply_timeout)
      : connection_(std::move(connection)), wire_(connection_->wire()), reply_timeout_(reply_timeout) {}

  DaemonConnection& connection() { return *connection_; }
  DaemonWire& wire() { return wire_; }
  uint64_t minor() const { return connection_->minor(); }

  // Puts the number of a request, when the connection is in step.
  absl::Status Begin(Operation operation) {
    if (wire_.has_unread())
      return wire_.Break(absl::DataLossError("the Nix daemon said more than its reply"));
    wire_.PutNumber(operation);
    return wire_.broken();
  }

  // As Begin, with the store path that the request is about. Nix ends the connection over text that is none.
  absl::Status BeginWithPath(Operation operation, std::string_view path) {
    HYDRANT_RETURN_IF_ERROR(CheckStorePath(path));
    HYDRANT_RETURN_IF_ERROR(Begin(operation));
    wire_.PutString(path);
    return absl::OkStatus();
  }

  // Sends what was put, and reads up to the reply.
  absl::Status Call(const LogSink& log = nullptr, Source* upload = nullptr) {
    HYDRANT_RETURN_IF_ERROR(wire_.Flush());
    return ReadDaemonLog(wire_, minor(), log, upload);
  }

  absl::Status SetOptions(const DaemonSettings& settings);
  absl::StatusOr<PathInfo> QueryPathInfo(std::string_view path);
  absl::StatusOr<PathInfo> ReadPathInfo(std::string path);
  absl::Status ReadNar(Sink& sink);
  absl::Status AddToStoreNar(const PathInfo& info, Source& nar, bool check_signatures, bool repair);
  absl::Status SendInFrames(Source& source);
  absl::StatusOr<std::string> AddTextToStore(std::string_view name, std::string_view text,
                                             const std::set<std::string>& references);
  absl::Status AddRoot(Operation operation, std::string_view path);
  absl::StatusOr<BuildResult> BuildDerivation(std::string_view path, const BasicDerivation& derivation,
                                              const LogSink& log);

  template <typename T>
  absl::StatusOr<T> Explained(absl::StatusOr<T> result) const {
    return result.ok() ? std::move(result) : absl::StatusOr<T>(connection_->Explain(result.status()));
  }
  absl::Status Explained(absl::Status status) const { return connection_->Explain(std::move(status)); }

 private:
  void PutDerivation(const BasicDerivation& derivation);
  absl::StatusOr<BuildResult> ReadBuildResult();

  std::unique_ptr<DaemonConnection> connection_;
  DaemonWire& wire_;
  const absl::Duration reply_timeout_;
};

absl::Status DaemonClient::Impl::SetOptions(const DaemonSettings& settings) {
  std::map<std::string, std::string> overrides = settings.overrides;
  if (settings.timeout > absl::ZeroDuration()) {
    overrides["timeout"] = absl::StrCat(absl::ToInt64Seconds(absl::Ceil(settings.timeout, absl::Seconds(1))));
  }
  HYDRANT_RETURN_IF_ERROR(Begin(kSetOptions));
  const uint64_t numbers[] = {
      0,  // keep failed
      0,  // keep going
      0,  // fall back to building when a substitute fails
      static_cast<uint64_t>(settings.verbosity),
      1,  // jobs
      static_cast<uint64_t>(absl::ToInt64Seconds(absl::Ceil(settings.max_silent, absl::Seconds(1)))),
      1,                // once: use the build hook
      kVerbosityVomit,  // not "verbose build": log lines come as results of the build's activity
      0,                // once: log type
      0,                // once: print build trace
      static_cast<uint64_t>(settings.build_cores),
      settings.use_substitutes ? 1u : 0u,
      overrides.size(),
  };
  for (const uint64_t number : numbers) wire_.PutNumber(number);
  for (const auto& [name, value] : overrides) {
    wire_.PutString(name);
    wire_.PutString(value);
  }
  return Call();
}

absl::StatusOr<PathInfo> DaemonClient::Impl::QueryPathInfo(std::string_view path) {
  HYDRANT_RETURN_IF_ERROR(BeginWithPath(kQueryPathInfo, path));
  HYDRANT_RETURN_IF_ERROR(Call());
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t valid, wire_.ReadNumber());
  if (valid == 0) return NotValid(path);
  return ReadPathInfo(std::string(path));
}

absl::StatusOr<PathInfo> DaemonClient::Impl::ReadPathInfo(std::string path) {
  PathInfo info{.path = std::move(path)};
  HYDRANT_ASSIGN_OR_RETURN(info.deriver, wire_.ReadString());
  HYDRANT_ASSIGN_OR_RETURN(const std::string hash, wire_.ReadString());
  HYDRANT_ASSIGN_OR_RETURN(info.references, wire_.ReadStrings());
  HYDRANT_RETURN_IF_ERROR(wire_.ReadNumber().status());  // registration time
  HYDRANT_ASSIGN_OR_RETURN(info.nar_size, wire_.ReadNumber());
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t ultimate, wire_.ReadNumber());
  info.ultimate = ultimate != 0;
  HYDRANT_ASSIGN_OR_RETURN(const std::set<std::string> signatures, wire_.ReadStrings());
  info.signatures.assign(signatures.begin(), signatures.end());
  HYDRANT_ASSIGN_OR_RETURN(info.content_address, wire_.ReadString());
  const auto digest = Sha256Digest::Parse(hash);
  if (!digest.ok()) return Annotate(digest.status(), absl::StrCat("the Nix daemon's answer for ", info.path));
  info.nar_hash = *digest;
  return info;
}

// The archive has no length: where it ends is known by reading it.
absl::Status DaemonClient::Impl::ReadNar(Sink& sink) {
  NarVisitor nothing;
  NarParser parser(nothing);
  while (!parser.done()) {
    HYDRANT_ASSIGN_OR_RETURN(const std::string_view bytes, wire_.Peek());
    const absl::StatusOr<size_t> consumed = parser.Consume(bytes);
    if (!consumed.ok()) return wire_.Break(absl::DataLossError(consumed.status().message()));
    if (absl::Status full = sink.Write(bytes.substr(0, *consumed)); !full.ok()) return wire_.Break(full);
    wire_.Skip(*consumed);
  }
  return absl::OkStatus();
}

// Runs the upload of a call whose request was put; reads up to the reply.
absl::Status DaemonClient::Impl::SendInFrames(Source& source) {
  const absl::Status sent = wire_.SendFrames(source);
  // Also after an error: a daemon that ends the connection says why before, and one that got too little
  // answers so.
  const absl::Status answered = ReadDaemonLog(wire_, minor(), nullptr);
  const bool explains = !answered.ok() && !wire_.broken().ok() && answered != wire_.broken();
  return sent.ok() || explains ? answered : sent;
}

absl::Status DaemonClient::Impl::AddToStoreNar(const PathInfo& info, Source& nar, bool check_signatures,
                                               bool repair) {
  for (const std::string& reference : info.references) HYDRANT_RETURN_IF_ERROR(CheckStorePath(reference));
  if (!info.deriver.empty()) HYDRANT_RETURN_IF_ERROR(CheckStorePath(info.deriver));
  HYDRANT_RETURN_IF_ERROR(BeginWithPath(kAddToStoreNar, info.path));
  wire_.PutString(info.deriver);
  wire_.PutString(info.nar_hash.ToBase16());
  wire_.PutStrings(info.references);
  wire_.PutNumber(0);  // registration time: now
  wire_.PutNumber(info.nar_size);
  wire_.PutNumber(info.ultimate ? 1 : 0);
  wire_.PutStrings(info.signatures);
  wire_.PutString(info.content_address);
  wire_.PutNumber(repair ? 1 : 0);
  wire_.PutNumber(check_signatures ? 0 : 1);
  return minor() >= 23 ? SendInFrames(nar) : Call(nullptr, &nar);
}

absl::StatusOr<std::string> DaemonClient::Impl::AddTextToStore(std::string_view name, std::string_view text,
                                                               const std::set<std::string>& references) {
  for (const std::string& reference : references) HYDRANT_RETURN_IF_ERROR(CheckStorePath(reference));
  if (minor() < 25) {
    HYDRANT_RETURN_IF_ERROR(Begin(kAddTextToStore));
    wire_.PutString(name);
    wire_.PutString(text);
    wire_.PutStrings(references);
    HYDRANT_RETURN_IF_ERROR(Call());
    return wire_.ReadString();
  }
  HYDRANT_RETURN_IF_ERROR(Begin(kAddToStore));
  wire_.PutString(name);
  wire_.PutString("text:sha256");
  wire_.PutStrings(references);
  wire_.PutNumber(0);  // repair
  StringSource source(text);
  HYDRANT_RETURN_IF_ERROR(SendInFrames(source));
  HYDRANT_ASSIGN_OR_RETURN(std::string path, wire_.ReadString());
  HYDRANT_ASSIGN_OR_RETURN(PathInfo info, ReadPathInfo(std::move(path)));
  return std::move(info.path);
}

absl::Status DaemonClient::Impl::AddRoot(Operation operation, std::string_view path) {
  HYDRANT_RETURN_IF_ERROR(Begin(operation));
  wire_.PutString(path);
  HYDRANT_RETURN_IF_ERROR(Call());
  return wire_.ReadNumber().status();
}

void DaemonClient::Impl::PutDerivation(const BasicDerivation& derivation) {
  wire_.PutNumber(derivation.outputs.size());
  for (const auto& [name, output] : derivation.outputs) {
    wire_.PutString(name);
    wire_.PutString(output.path);
    wire_.PutString(output.hash_algo);
    wire_.PutString(output.hash);
  }
  wire_.PutStrings(derivation.input_sources);
  wire_.PutString(derivation.system);
  wire_.PutString(derivation.builder);
  wire_.PutStrings(derivation.arguments);
  wire_.PutNumber(derivation.environment.size());
  for (const auto& [name, value] : derivation.environment) {
    wire_.PutString(name);
    wire_.PutString(value);
  }
}

absl::StatusOr<BuildResult> DaemonClient::Impl::BuildDerivation(std::string_view path,
                                                                const BasicDerivation& derivation,
                                                                const LogSink& log) {
  for (const std::string& input : derivation.input_sources) HYDRANT_RETURN_IF_ERROR(CheckStorePath(input));
  HYDRANT_RETURN_IF_ERROR(BeginWithPath(kBuildDerivation, path));
  PutDerivation(derivation);
  wire_.PutNumber(kBuildModeNormal);
  HYDRANT_RETURN_IF_ERROR(wire_.Flush());
  wire_.set_timeout(absl::InfiniteDuration());
  const absl::Status built = ReadDaemonLog(wire_, minor(), log);
  wire_.set_timeout(reply_timeout_);
  HYDRANT_RETURN_IF_ERROR(built);
  return ReadBuildResult();
}

absl::StatusOr<BuildResult> DaemonClient::Impl::ReadBuildResult() {
  BuildResult result;
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t status, wire_.ReadNumber());
  if (status > static_cast<uint64_t>(BuildStatus::kHashMismatch)) {
    return wire_.Break(
        absl::DataLossError(absl::StrCat("the Nix daemon sent an unknown build status ", status)));
  }
  result.status = static_cast<BuildStatus>(status);
  HYDRANT_ASSIGN_OR_RETURN(result.error, wire_.ReadString());
  if (minor() >= 29) {
    HYDRANT_ASSIGN_OR_RETURN(result.times_built, wire_.ReadNumber());
    HYDRANT_RETURN_IF_ERROR(wire_.ReadNumber().status());  // not deterministic: the status says so too
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t start, wire_.ReadNumber());
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t stop, wire_.ReadNumber());
    if (start != 0) result.start = absl::FromUnixSeconds(static_cast<int64_t>(start));
    if (stop != 0) result.stop = absl::FromUnixSeconds(static_cast<int64_t>(stop));
  }
  if (minor() >= 28) {
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t realisations, wire_.ReadNumber());
    if (realisations > kMaxRealisations)
      return wire_.Break(absl::DataLossError("the Nix daemon sent too many realisations"));
    for (uint64_t i = 0; i < 2 * realisations; ++i) HYDRANT_RETURN_IF_ERROR(wire_.ReadString().status());
  }
  return result;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): Options are taken by value everywhere.
absl::StatusOr<std::unique_ptr<DaemonClient>> DaemonClient::Connect(Options options) {
  HYDRANT_ASSIGN_OR_RETURN(auto connection, DaemonConnection::Open(options));
  return std::unique_ptr<DaemonClient>(
      new DaemonClient(std::make_unique<Impl>(std::move(connection), options.reply_timeout)));
}

DaemonClient::DaemonClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DaemonClient::~DaemonClient() = default;
uint64_t DaemonClient::protocol_version() const { return kProtocolMajor << 8 | impl_->minor(); }
const std::string& DaemonClient::daemon_version() const { return impl_->connection().daemon_version(); }
pid_t DaemonClient::daemon_pid() const { return impl_->connection().daemon_pid(); }
void DaemonClient::Close() { impl_->connection().Close(); }

absl::Status DaemonClient::SetOptions(const DaemonSettings& settings) {
  return impl_->Explained(impl_->SetOptions(settings));
}

absl::StatusOr<bool> DaemonClient::IsValidPath(std::string_view path) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kIsValidPath, path));
  HYDRANT_RETURN_IF_ERROR(impl_->Explained(impl_->Call()));
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t valid, impl_->Explained(impl_->wire().ReadNumber()));
  return valid != 0;
}

absl::StatusOr<std::set<std::string>> DaemonClient::QueryValidPaths(const std::set<std::string>& paths) {
  for (const std::string& path : paths) HYDRANT_RETURN_IF_ERROR(CheckStorePath(path));
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kQueryValidPaths));
  impl_->wire().PutStrings(paths);
  if (impl_->minor() >= 27) impl_->wire().PutNumber(0);  // do not substitute them
  HYDRANT_RETURN_IF_ERROR(impl_->Explained(impl_->Call()));
  return impl_->Explained(impl_->wire().ReadStrings());
}

absl::StatusOr<PathInfo> DaemonClient::QueryPathInfo(std::string_view path) {
  return impl_->Explained(impl_->QueryPathInfo(path));
}

absl::StatusOr<std::vector<PathInfo>> DaemonClient::QueryClosure(const std::set<std::string>& paths) {
  std::map<std::string, PathInfo> infos;
  std::vector<std::string> open(paths.begin(), paths.end());
  while (!open.empty()) {
    const std::string path = std::move(open.back());
    open.pop_back();
    if (infos.contains(path)) continue;
    HYDRANT_ASSIGN_OR_RETURN(PathInfo info, QueryPathInfo(path));
    open.insert(open.end(), info.references.begin(), info.references.end());
    infos.emplace(path, std::move(info));
  }
  // A path is ready once all that it refers to, but itself, is in the order.
  std::map<std::string, std::vector<std::string>> referrers;
  std::map<std::string, size_t> missing;
  std::vector<std::string> ready;
  for (const auto& [path, info] : infos) {
    for (const std::string& reference : info.references) {
      if (reference == path) continue;
      referrers[reference].push_back(path);
      ++missing[path];
    }
    if (missing[path] == 0) ready.push_back(path);
  }
  std::vector<PathInfo> order;
  for (size_t i = 0; i < ready.size(); ++i) {
    const std::string path = ready[i];
    for (const std::string& referrer : referrers[path]) {
      if (--missing[referrer] == 0) ready.push_back(referrer);
    }
    order.push_back(std::move(infos.at(path)));
  }
  if (order.size() != infos.size()) return absl::DataLossError("the Nix store's references form a circle");
  return order;
}

absl::Status DaemonClient::NarFromPath(std::string_view path, Sink& sink) {
  // For a path that is absent the daemon would end the connection without a word.
  HYDRANT_ASSIGN_OR_RETURN(const bool valid, IsValidPath(path));
  if (!valid) return NotValid(path);
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kNarFromPath, path));
  HYDRANT_RETURN_IF_ERROR(impl_->Explained(impl_->Call()));
  return impl_->Explained(impl_->ReadNar(sink));
}

absl::Status DaemonClient::AddToStoreNar(const PathInfo& info, Source& nar, bool check_signatures,
                                         bool repair) {
  return impl_->Explained(impl_->AddToStoreNar(info, nar, check_signatures, repair));
}

absl::StatusOr<std::string> DaemonClient::AddTextToStore(std::string_view name, std::string_view text,
                                                         const std::set<std::string>& references) {
  return impl_->Explained(impl_->AddTextToStore(name, text, references));
}

absl::Status DaemonClient::AddTempRoot(std::string_view path) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePath(path));
  return impl_->Explained(impl_->AddRoot(kAddTempRoot, path));
}

absl::Status DaemonClient::AddIndirectRoot(std::string_view link) {
  return impl_->Explained(impl_->AddRoot(kAddIndirectRoot, link));
}

absl::StatusOr<BuildResult> DaemonClient::BuildDerivation(std::string_view derivation_path,
                                                          const BasicDerivation& derivation,
                                                          const LogSink& log) {
  return impl_->Explained(impl_->BuildDerivation(derivation_path, derivation, log));
}

}  // namespace hydrant::nix
