// Everything that configures a worker, as plain values: file, flags and environment are read once, elsewhere.
#ifndef HYDRANT_WORKER_WORKER_OPTIONS_H_
#define HYDRANT_WORKER_WORKER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/base/log.h"
#include "lib/gpu/simulated_gpu_probe.h"

namespace hydrant::worker {

struct WorkerOptions {
  std::string name, server, token, spool;
  std::string tls_cert, tls_key, tls_ca;
  std::string store;
  std::vector<std::string> sandbox_paths;
  // Zero or empty: measured.
  std::vector<std::string> systems, features;
  int cores = 0;
  int64_t memory_bytes = 0;
  int slots = 0;
  std::vector<SimulatedGpu> gpus;
  std::string metrics_listen;  // empty: not served
  // Leave after so long without work, or when there was no answer for so long at the beginning. Infinite
  // without --once.
  absl::Duration idle = absl::InfiniteDuration(), reach_within = absl::InfiniteDuration();
  std::string drain_on;
};

// What flags say; it wins over the file.
struct CommandLine {
  enum class Command { kServe, kProbe };
  Command command = Command::kServe;
  std::string config, server, name, store, token_file, metrics;
  int slots = 0;
  bool once = false;
  std::string idle = "30s";
  std::string drain_on = "SIGTERM";  // or SIGINT, SIGUSR1, none
  bool json = false;                 // probe --output json
  LogFormat log_format = LogFormat::kText;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_WORKER_OPTIONS_H_
