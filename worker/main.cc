// hydrant-worker: flags and file, the real things, their wiring, and the conversation until it ends.
#include <stdlib.h>
#include <systemd/sd-daemon.h>

#include "lib/gpu/simulated_gpu_probe.h"
#include "lib/rpc/channel.h"
#include "worker/attempt_metrics.h"
#include "worker/attempt_threads.h"
#include "worker/build/nix_builder.h"
#include "worker/check/sandbox_check_runner.h"
#include "worker/command_line.h"
#include "worker/config_reader.h"
#include "worker/exit_status.h"
#include "worker/lease/conversation.h"
#include "worker/offer.h"
#include "worker/push/cache_transfer.h"
#include "worker/signal_watch.h"
#include "worker/spool_folder.h"

namespace hydrant::worker {

int Serve(const WorkerOptions& options, WorkerOffer offer) {
  const rpc::TlsFiles tls{.cert = options.tls_cert, .key = options.tls_key, .ca = options.tls_ca};
  const auto channel = rpc::MakeChannel({.address = options.server, .tls = tls});
  if (!channel.ok()) return EndWith(2, Annotate(channel.status(), "server"));
  const auto folder = SpoolFolder::Open(options.spool);
  if (!folder.ok()) return EndWith(2, folder.status());
  const std::string scratch = (*folder)->scratch();
  const auto spool = AttemptSpool::Open((*folder)->attempts());
  if (!spool.ok()) return EndWith(1, spool.status());
  const WorkerStore store(StoreOptions(options, offer, scratch));
  const auto nix = store.CheckTrust();
  if (!nix.ok()) return EndWith(1, nix.status());
  offer.nix_version = *nix;
  const auto metrics = AttemptMetrics::Open(options.metrics_listen, offer);
  if (!metrics.ok()) return EndWith(1, metrics.status());

  const SystemClock clock;
  NixBuilder builder;
  CacheTransfer transfer({.spool = scratch});
  SimulatedGpuAccess access;
  SandboxCheckRunner checks({store.RealPath("/nix/store"), options.sandbox_paths, scratch}, access);
  GpuClaims gpus(offer.gpus);
  FarmClient client(*channel, {.name = options.name, .token = options.token});
  const auto session = [&store](const AttemptLimits& limits) { return OpenSession(store, limits); };
  AttemptThreads attempts({session, builder, transfer, checks, gpus, **metrics, clock, options.token});
  Conversation conversation(
      client, **spool, attempts, clock,
      {.offer = offer, .idle = options.idle, .reach_within = options.reach_within, .heartbeat = [] {
         sd_notify(0, "WATCHDOG=1");
       }});
  SignalWatch signals(
      options.drain_on, [&] { conversation.Drain(); }, [&] { conversation.GiveBack(); });
  sd_notify(0, "READY=1");
  const absl::Status left = conversation.Run();
  sd_notify(0, "STOPPING=1");
  attempts.Join();
  return ExitStatusOf(left);
}

int Main(int argc, char** argv) {
  SignalWatch::Block();
  const auto parsed = ParseCommandLine(argc, argv, HYDRANT_VERSION);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const CommandLine& line = std::get<CommandLine>(parsed);
  ConfigureLog(line.log_format, LogLevel::kInfo);
  const char* token = getenv("HYDRANT_TOKEN");
  const auto options = ReadWorkerOptions(line, token == nullptr ? "" : token);
  if (!options.ok()) return EndWith(2, options.status());
  SimulatedGpuProbe gpu_probe(options->gpus);
  const auto gpus = gpu_probe.Probe();
  if (!gpus.ok()) return EndWith(1, gpus.status());
  const WorkerOffer offer = MakeOffer(*options, ProbeMachine(), *gpus);
  return line.command == CommandLine::Command::kProbe ? PrintProbe(line, *options, offer)
                                                      : Serve(*options, offer);
}

}  // namespace hydrant::worker

int main(int argc, char** argv) { return hydrant::worker::Main(argc, argv); }
