// A client of the Nix daemon's worker protocol on a pair of descriptors: a socket, or a `nix-daemon --stdio`
// that it starts. Speaks 1.38 with features (newest Nix) down to 1.21 (Nix 2.3), whichever the daemon has
// (daemon_protocol.h). One thread at a time; one connection does one thing at a time. Cancel: Close() from
// another thread.
//
// A call fails with Unavailable when the daemon goes away, DeadlineExceeded when it moves too little
// (Options), DataLoss when it breaks the protocol: the connection is then of no further use, and every later
// call returns that error. InvalidArgument: a path is none, nothing was asked. Unimplemented: the negotiated
// protocol lacks the operation, nothing was asked. Any other error is the daemon's answer, and the connection
// goes on.
#ifndef HYDRANT_LIB_NIX_DAEMON_CLIENT_H_
#define HYDRANT_LIB_NIX_DAEMON_CLIENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/base/stream.h"
#include "lib/nix/build_result.h"
#include "lib/nix/content_address.h"
#include "lib/nix/daemon_event.h"
#include "lib/nix/daemon_protocol.h"
#include "lib/nix/daemon_values.h"
#include "lib/nix/derived_path.h"

namespace hydrant::nix {

// A path and where its archive comes from, opened when its turn comes.
struct PathArchive {
  PathInfo info;
  std::function<absl::StatusOr<std::unique_ptr<Source>>()> open;
};

class DaemonClient {
 public:
  struct Options {
    // A Unix socket's path, or …
    std::string socket;
    // … a daemon started by us, for the store under this folder (empty: the machine's own; else `--store` is
    // added).
    std::string store_root;
    std::vector<std::string> command = {"nix-daemon", "--stdio"};
    // NIX_CONFIG of a daemon started by us.
    std::string nix_config;
    std::map<std::string, std::string> env;
    // How long the daemon may keep us waiting for the next piece of what it sends or takes, and for the
    // beginning of its answer to a question that needs no work.
    absl::Duration reply_timeout = absl::Minutes(5);
    // How long it may be silent while it works: builds, substitutes, deletes, verifies. A build's own silence
    // is the daemon's matter (DaemonSettings::max_silent); an end of its process is noticed at once.
    absl::Duration work_timeout = absl::InfiniteDuration();
    // The newest 1.x that we claim to speak; for tests with newer daemons.
    uint64_t newest_minor = kProtocolMinor;
  };

  // Unavailable when there is no daemon to reach; FailedPrecondition when its protocol is older than 1.21.
  static absl::StatusOr<std::unique_ptr<DaemonClient>> Connect(Options options);
  ~DaemonClient();

  // major << 8 | minor, as negotiated; the daemon's Nix version ("2.8.0"; empty before protocol 1.33).
  uint64_t protocol_version() const;
  const DaemonProtocol& protocol() const;
  const std::string& daemon_version() const;
  // Whether the daemon lets us do what only trusted users may; nothing: it does not say (before 1.35) or
  // know.
  std::optional<bool> trusted() const;
  // The process that we started, if we did (for cgroups and limits); -1 otherwise.
  pid_t daemon_pid() const;

  // Ends the connection, so that a call in another thread, and every later one, fails with Cancelled. A
  // daemon that we started gets SIGTERM, which ends its builder too, and SIGKILL after 10 s; returns when it
  // is gone. Any thread.
  void Close();

  absl::Status SetOptions(const DaemonSettings& settings);

  // ---- Questions (daemon_query.cc)

  absl::StatusOr<bool> IsValidPath(std::string_view path);
  // Those of `paths` that are valid; with `substitute` after trying to fetch them.
  absl::StatusOr<std::set<std::string>> QueryValidPaths(const std::set<std::string>& paths,
                                                        bool substitute = false);
  absl::StatusOr<std::set<std::string>> QueryAllValidPaths();
  // NotFound when the path is not valid.
  absl::StatusOr<PathInfo> QueryPathInfo(std::string_view path);
  // Of those of `paths` that are valid. Asks for many at once: one wait for a few hundred.
  absl::StatusOr<std::map<std::string, PathInfo>> QueryPathInfos(const std::set<std::string>& paths);
  // `paths` and all they refer to, references before referrers. NotFound when one of them is not valid.
  absl::StatusOr<std::vector<PathInfo>> QueryClosure(const std::set<std::string>& paths);
  // Valid paths that refer to it, itself included if it does.
  absl::StatusOr<std::set<std::string>> QueryReferrers(std::string_view path);
  // Valid derivations of which it is an output.
  absl::StatusOr<std::set<std::string>> QueryValidDerivers(std::string_view path);
  // Output name -> path, "" while it is not known.
  absl::StatusOr<std::map<std::string, std::string>> QueryDerivationOutputMap(std::string_view derivation);
  // "" when no valid path has it.
  absl::StatusOr<std::string> QueryPathFromHashPart(std::string_view hash_part);
  // Those of `paths` that a substituter has.
  absl::StatusOr<std::set<std::string>> QuerySubstitutablePaths(const std::set<std::string>& paths);
  absl::StatusOr<std::map<std::string, SubstitutablePath>> QuerySubstitutablePathInfos(
      const std::set<std::string>& paths);
  absl::StatusOr<MissingPaths> QueryMissing(const std::vector<DerivedPath>& paths);
  // Nothing: none is registered.
  absl::StatusOr<std::optional<DaemonRealisation>> QueryRealisation(const DerivationOutputId& id);

  // ---- Contents (daemon_transfer.cc)

  // Streams the archive of a valid path: no faster than `sink` takes it, so that memory stays constant.
  absl::Status NarFromPath(std::string_view path, Sink& sink);
  // Reads a valid path's archive and compares it with what is registered: DataLoss says which of hash and
  // size differs (the connection stays usable then). No operation of the protocol does this for one path.
  absl::Status VerifyPath(std::string_view path);
  // Adds one path from its archive; its references must be valid. check_signatures false needs a trusted
  // client. When `nar` fails its error is returned and the connection stays usable; nothing is added, unless
  // it failed only after the whole archive, which the daemon has checked then.
  absl::Status AddToStoreNar(const PathInfo& info, Source& nar, bool check_signatures = false,
                             bool repair = false);
  // Adds many in one go, references before referrers. When a source fails or is not info.nar_size long, an
  // error names the path; those before it are in, and it too if all its bytes had come.
  absl::Status AddMultipleToStore(const std::vector<PathArchive>& paths, bool check_signatures = false,
                                  bool repair = false);
  // Adds `content` (a file's bytes for kText and kFlat, an archive for kRecursive; kGit is InvalidArgument)
  // under the path that its SHA-256 gives.
  absl::StatusOr<PathInfo> AddToStore(std::string_view name, ContentMethod method, Source& content,
                                      const std::set<std::string>& references = {}, bool repair = false);
  // Adds a text file (a .drv) under its computed path, which is returned.
  absl::StatusOr<std::string> AddTextToStore(std::string_view name, std::string_view text,
                                             const std::set<std::string>& references);
  absl::Status AddSignatures(std::string_view path, const std::vector<std::string>& signatures);
  absl::Status AddBuildLog(std::string_view derivation, Source& log);
  // Signatures are the daemon's to check.
  absl::Status RegisterRealisation(const DaemonRealisation& realisation);

  // ---- Builds (daemon_build.cc). OK whenever the daemon answered: what became of it is in the result. `log`
  // is called on this thread and must not call the client, but for Close().

  // Builds one derivation from the outputs of its inputs, which must be valid.
  absl::StatusOr<BuildResult> BuildDerivation(std::string_view derivation_path,
                                              const BasicDerivation& derivation, const LogSink& log,
                                              BuildMode mode = BuildMode::kNormal);
  // Builds or substitutes each, with all that it needs; the derivations must be in the store. Stops at the
  // first failure unless DaemonSettings::keep_going. One result for each of `paths`.
  absl::StatusOr<std::vector<KeyedBuildResult>> BuildPathsWithResults(const std::vector<DerivedPath>& paths,
                                                                      const LogSink& log,
                                                                      BuildMode mode = BuildMode::kNormal);
  // The same, where a failure is an error: what daemons before 1.34 have.
  absl::Status BuildPaths(const std::vector<DerivedPath>& paths, const LogSink& log,
                          BuildMode mode = BuildMode::kNormal);
  // Substitutes the path if it is not valid.
  absl::Status EnsurePath(std::string_view path, const LogSink& log = nullptr);

  // ---- Garbage (daemon_garbage.cc)

  // Keeps a path, which need not be valid yet, while this connection lives.
  absl::Status AddTempRoot(std::string_view path);
  // The same for many, with one wait for a few hundred.
  absl::Status AddTempRoots(const std::set<std::string>& paths);
  // Makes the collector follow `link`, a symlink outside the store.
  absl::Status AddIndirectRoot(std::string_view link);
  // Makes `link` a symlink to `path` and a root.
  absl::Status AddPermRoot(std::string_view path, std::string_view link);
  // Waits for a running collection; daemons since 2021 need it no more and answer at once.
  absl::Status SyncWithGC();
  // Sorted. An untrusted client sees "{censored}" for what running processes use.
  absl::StatusOr<std::vector<GarbageRoot>> FindRoots();
  absl::StatusOr<GarbageResult> CollectGarbage(const GarbageRequest& request, const LogSink& log = nullptr);
  absl::Status OptimiseStore(const LogSink& log = nullptr);
  // True: the store is as registered (with check_contents each file's bytes are read), or was made so by
  // `repair`; what is wrong is in `log`.
  absl::StatusOr<bool> VerifyStore(bool check_contents, bool repair = false, const LogSink& log = nullptr);

 private:
  class Impl;  // daemon_call.h
  explicit DaemonClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_CLIENT_H_
