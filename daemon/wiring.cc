#include "daemon/wiring.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/cache/catalogue.h"
#include "daemon/cache/file_signer.h"
#include "daemon/cache/local_blob_store.h"
#include "daemon/cache/nar_intake.h"
#include "daemon/cache/publisher.h"
#include "daemon/cache/store_import.h"
#include "daemon/coordinator/attempt_log.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/evaluation_run.h"
#include "daemon/coordinator/unknown_commit_watch.h"
#include "daemon/evaluate/cached_evaluator.h"
#include "daemon/evaluate/evaluation_key.h"
#include "daemon/evaluate/nix_eval_jobs_evaluator.h"
#include "daemon/evaluate/nix_evaluator.h"
#include "daemon/matrix_folder.h"
#include "daemon/presence/http_presence.h"
#include "daemon/record/postgres_cluster.h"
#include "daemon/record/postgres_store.h"
#include "daemon/serve/cache_http.h"
#include "daemon/serve/grpc_server.h"
#include "daemon/serve/http_health.h"
#include "daemon/serve/http_server.h"
#include "daemon/serve/metrics.h"
#include "daemon/source/git_source.h"
#include "daemon/source/path_source.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

// Of as many evaluations the trees are fetched side by side: so many git servers may hang before one more evaluation waits.
constexpr int kTreesAtATime = 8;

// "x86_64-linux", as Nix names the machine.
std::string ThisSystem() {
  utsname name;
  if (uname(&name) != 0) return "x86_64-linux";
  return absl::StrCat(name.machine, "-linux");
}

class CoordinatorRights final : public UploadRights {
 public:
  explicit CoordinatorRights(const Coordinator& coordinator) : coordinator_(coordinator) {}
  absl::Status MayUpload(AttemptId attempt, LeaseToken token, std::string_view store_path) override {
    absl::Status status = coordinator_.MayUpload(attempt, token, store_path);
    // A lease that ended and one that another has are the same to whoever uploads: it is not his any more.
    return status.code() == absl::StatusCode::kNotFound ? absl::AbortedError(status.message()) : status;
  }

 private:
  const Coordinator& coordinator_;
};

absl::StatusOr<StoredLog> OpenLog(const Coordinator& coordinator, const AttemptLog& log, const std::string& derivation) {
  HYDRANT_ASSIGN_OR_RETURN(AttemptId attempt, coordinator.LogOf(derivation));
  StoredLog stored;
  stored.fd = UniqueFd(open(log.PathOf(attempt).c_str(), O_RDONLY | O_CLOEXEC));
  struct stat s;
  if (!stored.fd.valid() || fstat(stored.fd.get(), &s) != 0) {
    return absl::NotFoundError(absl::StrCat("no log of ", derivation));
  }
  stored.size = s.st_size;
  stored.restricted = coordinator.MadeInPrivate(derivation);
  return stored;
}

v1::Farm FarmFacts(const DaemonOptions& options, const Signer& internal) {
  v1::Farm farm;
  farm.set_cache_url(options.http_url);
  farm.set_staged_public_key(internal.PublicKey());
  for (const std::string& url : options.substituters) {
    v1::Substituter* substituter = farm.add_substituters();
    substituter->set_url(url);
    for (const std::string& key : options.substituter_keys) substituter->add_public_keys(key);
  }
  return farm;
}

// Blocked before the first thread, so that only Wait below sees them.
sigset_t OurSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Ticks until a signal ends us.
void Run(const DaemonOptions& options, const sigset_t& signals, Coordinator& coordinator) {
  bool folder_applied = options.matrices.empty();
  while (true) {
    coordinator.Tick();
    sd_notify(0, "WATCHDOG=1");
    if (!folder_applied && coordinator.Ready().ok()) {
      absl::Status applied = ApplyMatrixFolder(options.matrices, ThisSystem(), coordinator);
      folder_applied = applied.code() != absl::StatusCode::kUnavailable;
      if (!applied.ok()) Log(LogLevel::kError, "matrices not applied", {{"reason", applied.ToString()}});
    }
    const timespec pause = {.tv_sec = 0, .tv_nsec = 250'000'000};
    const int signal = sigtimedwait(&signals, nullptr, &pause);
    if (signal == SIGHUP) {
      folder_applied = options.matrices.empty();
      const absl::Status config = ReadDaemonOptions(options.file).status();
      if (config.ok()) {
        Log(LogLevel::kInfo, "matrices are read again; other keys count from the next start");
      } else {
        Log(LogLevel::kError, "the old configuration holds", {{"reason", config.ToString()}});
      }
    } else if (signal > 0) {
      return;
    }
  }
}

// What can fail to open, each the real thing behind a seam.
struct Opened {
  std::unique_ptr<FileSigner> release, internal;
  std::unique_ptr<Authenticator> authenticator;
  std::unique_ptr<LocalBlobStore> blobs;
  std::unique_ptr<AttemptLog> log;
  std::unique_ptr<EmbeddedPostgres> postgres;  // null when the database is another's
  std::unique_ptr<PostgresStore> store;
  std::unique_ptr<HttpPresence> caches;
  std::unique_ptr<NixEvaluator> nix;
  std::unique_ptr<NixEvalJobsEvaluator> eval_jobs;  // null unless it is asked for
  std::unique_ptr<EvaluationCache> evaluations;
};

nix::CommandSettings NixSettings(const DaemonOptions& options) {
  return {.store_root = options.store == "daemon" ? "" : options.store,
          .folder = options.cache_directory + "/evaluate"};
}

NixEvaluator::Options EvaluatorOptions(const DaemonOptions& options) {
  return {.nix = NixSettings(options), .evaluators = options.evaluators, .memory = options.evaluator_memory,
          .variant_timeout = options.variant_timeout, .evaluation_timeout = options.evaluation_timeout,
          .allowed_uris = options.allowed_uris};
}

// What stands for the evaluator in what is remembered: another one's words may differ.
absl::StatusOr<std::string> RememberedAs(const nix::CommandSettings& settings, const std::string& evaluator) {
  HYDRANT_ASSIGN_OR_RETURN(std::string identity, EvaluatorIdentity(settings));
  return evaluator == "nix" ? identity : absl::StrCat(identity, " ", evaluator);
}

absl::StatusOr<std::unique_ptr<HttpPresence>> OpenCaches(const DaemonOptions& options, const Clock& clock,
                                                         Metrics& metrics) {
  for (const std::string& url : options.substituters) metrics.UpstreamUp(url, true);
  const auto tell = [&metrics](const CacheHealth& health) {
    metrics.UpstreamUp(health.cache, !health.open);
    if (health.open) {
      Log(LogLevel::kWarning, "a cache fails and is left alone", {{"cache", health.cache}, {"reason", health.why}});
    } else {
      Log(LogLevel::kInfo, "a cache answers again", {{"cache", health.cache}});
    }
  };
  return HttpPresence::Open({.caches = options.substituters, .access = options.substituter_access,
                             .in_flight = options.substituter_in_flight, .observer = tell},
                            clock);
}

absl::StatusOr<Opened> OpenAll(const DaemonOptions& options, const Clock& clock, Metrics& metrics) {
  Opened opened;
  HYDRANT_ASSIGN_OR_RETURN(opened.release, FileSigner::Open(options.key_file));
  HYDRANT_ASSIGN_OR_RETURN(opened.authenticator, Authenticator::Open(options.tokens));
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(options.cache_directory));
  HYDRANT_ASSIGN_OR_RETURN(opened.internal, FileSigner::OpenOrGenerate(options.cache_directory + "/staging.sec",
                                                                       "hydrant-staging"));
  HYDRANT_ASSIGN_OR_RETURN(opened.blobs, LocalBlobStore::Open({.directory = options.cache_directory}));
  HYDRANT_ASSIGN_OR_RETURN(AttemptLog log, AttemptLog::Open(options.cache_directory + "/log"));
  opened.log = std::make_unique<AttemptLog>(std::move(log));
  HYDRANT_ASSIGN_OR_RETURN(opened.caches, OpenCaches(options, clock, metrics));
  const NixEvaluator::Options bounds = EvaluatorOptions(options);
  HYDRANT_ASSIGN_OR_RETURN(opened.nix, NixEvaluator::Open(bounds));
  if (options.evaluator != "nix") {
    HYDRANT_ASSIGN_OR_RETURN(opened.eval_jobs, NixEvalJobsEvaluator::Open({.program = options.evaluator, .bounds = bounds,
                                                                           .nix = *opened.nix}));
  }
  HYDRANT_ASSIGN_OR_RETURN(opened.evaluations,
                           EvaluationCache::Open({.folder = options.cache_directory + "/evaluations"}));
  std::string url = options.database_url;
  if (!options.database_embedded.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(opened.postgres, EmbeddedPostgres::Start({.folder = options.database_embedded}));
    url = opened.postgres->Url();
  }
  const auto observer = [&metrics](std::string_view statement, double seconds) { metrics.Query(statement, seconds); };
  HYDRANT_ASSIGN_OR_RETURN(opened.store, PostgresStore::Open({.url = url, .observer = observer}));
  return opened;
}

v1::GetFarmResponse Facts(const DaemonOptions& options, const Signer& release, const std::string& system) {
  v1::GetFarmResponse facts;
  facts.set_version(HYDRANT_VERSION);
  facts.set_public_key(release.PublicKey());
  facts.set_http_url(options.http_url);
  facts.set_system(system);
  return facts;
}

// Serves the ports until a signal; `run` evaluates meanwhile.
absl::Status ServePorts(const DaemonOptions& options, const sigset_t& signals, Opened& opened, Metrics& metrics,
                        Catalogue& catalogue, NarIntake& intake, Publisher& publisher, Presence& upstream,
                        Coordinator& coordinator, EvaluationRun& run, Comparison& comparison) {
  CallExecutor executor(8, 4096);
  StreamThreads streams(256);
  CallGate gate(*opened.authenticator, executor, [&coordinator] { return coordinator.Ready(); });
  CoordinatorRights rights(coordinator);
  CacheHttp cache_http({.catalogue = catalogue, .blobs = *opened.blobs, .intake = intake, .publisher = publisher,
                        .release = *opened.release, .internal = *opened.internal,
                        .authenticator = *opened.authenticator, .rights = rights,
                        .log = [&](const std::string& path) { return OpenLog(coordinator, *opened.log, path); },
                        .observe = [&metrics](const CacheAccess& access) {
                          metrics.CacheRequest(access.kind, access.code, access.kind == "put_nar" ? access.received : 0);
                        },
                        .priority = options.cache_priority});
  HealthHttp health([&coordinator]() -> absl::Status {
    return coordinator.RecordAnswers() ? absl::OkStatus() : absl::UnavailableError("the database does not answer");
  });
  const std::string system = ThisSystem();
  const rpc::TlsFiles tls{.cert = options.tls_cert, .key = options.tls_key, .ca = options.tls_client_ca};
  HYDRANT_ASSIGN_OR_RETURN(
      auto grpc,
      GrpcServer::Start(options.grpc_listen, tls,
                        {.coordinator = coordinator, .run = run, .comparison = comparison, .log = *opened.log,
                         .gate = gate, .streams = streams, .farm = Facts(options, *opened.release, system),
                         .source_roots = options.source_roots, .allowed_uris = options.allowed_uris, .system = system},
                        {.coordinator = coordinator, .log = *opened.log, .gate = gate, .streams = streams,
                         .farm = FarmFacts(options, *opened.internal), .lease = options.lease}));
  if (!options.metrics_listen.empty()) HYDRANT_RETURN_IF_ERROR(metrics.Listen(options.metrics_listen));
  // Last, so that /readyz answers for every port.
  HYDRANT_ASSIGN_OR_RETURN(auto http,
                           HttpServer::Start({.listen = options.http_listen, .handlers = {&health, &cache_http}}));

  std::atomic<bool> stop = false;
  std::thread evaluations([&] {
    // What staged paths refer to and is not here was upstream's: known again before anything new is evaluated.
    const std::vector<std::string> elsewhere = catalogue.ReferencesElsewhere();
    if (!elsewhere.empty()) upstream.Ask(elsewhere);
    std::vector<std::thread> servers;
    for (int i = 0; i < kTreesAtATime; ++i) servers.emplace_back([&] { run.Serve(stop); });
    for (std::thread& server : servers) server.join();
  });
  Log(LogLevel::kInfo, "serving", {{"grpc", options.grpc_listen}, {"http", options.http_url}, {"version", HYDRANT_VERSION}});
  sd_notify(0, "READY=1");
  Run(options, signals, coordinator);
  sd_notify(0, "STOPPING=1");
  Log(LogLevel::kInfo, "handing over: running attempts go on in the workers");
  stop = true;
  streams.Stop();
  grpc.reset();
  http->Stop(absl::Seconds(10));
  evaluations.join();
  return absl::OkStatus();
}

}  // namespace

absl::Status ServeFarm(const DaemonOptions& options) {
  const sigset_t signals = OurSignals();
  const SystemClock clock;
  Metrics metrics;
  HYDRANT_ASSIGN_OR_RETURN(Opened opened, OpenAll(options, clock, metrics));

  UpstreamMemory upstream(*opened.caches);
  Catalogue catalogue;
  NarIntake intake(*opened.blobs);
  UnknownCommitWatch commits(*opened.store);
  Publisher publisher({.store = commits, .catalogue = catalogue, .intake = intake, .signer = *opened.release,
                       .clock = clock,
                       .held_upstream = [&upstream](const std::string& path) { return upstream.Holds(path); },
                       .ask_upstream = [&upstream](const std::vector<std::string>& paths) { upstream.Ask(paths); }});
  Coordinator coordinator({.store = commits, .catalogue = catalogue, .publisher = publisher, .clock = clock,
                           .farm = {.system = ThisSystem(), .lease = options.lease,
                                    .workers = {.gone_after = options.lease}},
                           .waiting_after = options.waiting_after, .max_attempts = options.max_attempts,
                           .backoff = options.backoff, .observer = &metrics, .commits = &commits});
  const nix::CommandSettings settings = NixSettings(options);
  PathSource paths(settings, clock);
  GitSource git({.nix = settings, .folder = options.cache_directory + "/git"});
  SourceOfEitherKind source(paths, git);
  DerivationClosure closure(settings.store_root);
  Evaluator& asked = opened.eval_jobs != nullptr ? static_cast<Evaluator&>(*opened.eval_jobs) : *opened.nix;
  CachedEvaluator evaluator({.evaluator = asked, .cache = *opened.evaluations,
                             .store_root = settings.store_root,
                             .identity = [&] { return RememberedAs(settings, options.evaluator); },
                             .observe = [&metrics](std::string_view result, int64_t variants) {
                               metrics.EvaluationCache(result, variants);
                             }});
  const auto connect = [&settings] {
    return nix::DaemonClient::Connect({.store_root = settings.store_root, .env = CommandEnvironment(settings)});
  };
  StoreImport import(connect, intake, publisher);
  EvaluationRun run({.coordinator = coordinator, .source = source, .evaluator = evaluator, .closure = closure,
                     .presence = upstream, .catalogue = catalogue, .import = import});
  Comparison comparison({.coordinator = coordinator, .store = &closure});

  const absl::Status started = coordinator.Start();
  if (!started.ok() && started.code() != absl::StatusCode::kUnavailable) return Annotate(started, "read the record");
  if (!started.ok()) Log(LogLevel::kWarning, "the database is away; trying again", {{"reason", started.ToString()}});
  if (auto counts = opened.store->CountAttempts(); counts.ok()) metrics.Seed(*counts);
  metrics.Watch(coordinator, catalogue);
  absl::Status served = ServePorts(options, signals, opened, metrics, catalogue, intake, publisher, upstream,
                                   coordinator, run, comparison);
  if (opened.postgres != nullptr) served.Update(opened.postgres->Stop());
  return served;
}

}  // namespace hydrant
