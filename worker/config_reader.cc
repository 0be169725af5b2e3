#include "worker/config_reader.h"

#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "hydrant/v1/config.pb.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/quantities.h"
#include "lib/rpc/toml_message.h"
#include "worker/build/worker_store.h"
#include "worker/probe/machine_probe.h"

namespace hydrant::worker {
namespace {

absl::StatusOr<int64_t> Size(const std::string& text, std::string_view key) {
  if (text.empty()) return 0;
  const auto size = ParseByteSize(text);
  if (!size.ok()) return Annotate(size.status(), key);
  return static_cast<int64_t>(*size);
}

bool IsName(std::string_view name) {
  if (name.empty() || name.size() > 63) return false;
  for (const char c : name) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && (&c == name.data() || (c != '.' && c != '-')))
      return false;
  }
  return true;
}

bool IsArchitecture(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == 0 || dot == std::string_view::npos || dot + 1 == text.size()) return false;
  return text.find_first_not_of("0123456789.") == std::string_view::npos &&
         text.find('.', dot + 1) == std::string_view::npos;
}

absl::StatusOr<SimulatedGpu> ReadGpu(const v1::GpuConfig& gpu, int index) {
  const std::string where = absl::StrCat("[[gpu]] number ", index + 1);
  if (!gpu.simulated()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": simulated must be true; a real GPU is probed, never declared"));
  }
  if (!IsArchitecture(gpu.architecture())) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": architecture is \"", gpu.architecture(),
                                                   "\", expected a compute capability such as \"8.6\""));
  }
  SimulatedGpu result{.architecture = gpu.architecture(), .driver = gpu.driver()};
  HYDRANT_ASSIGN_OR_RETURN(result.memory_bytes, Size(gpu.memory(), where + ": memory"));
  return result;
}

absl::StatusOr<WorkerOptions> FromMessage(const v1::WorkerConfig& config) {
  WorkerOptions options{.name = config.name(), .server = config.server(), .spool = config.spool()};
  options.tls_cert = config.tls().cert();
  options.tls_key = config.tls().key();
  options.tls_ca = config.tls().client_ca();
  options.store = config.nix().store();
  options.sandbox_paths = {config.nix().sandbox_paths().begin(), config.nix().sandbox_paths().end()};
  const v1::OfferConfig& offer = config.offer();
  options.systems = {offer.systems().begin(), offer.systems().end()};
  options.features = {offer.features().begin(), offer.features().end()};
  options.cores = offer.cores();
  options.slots = offer.slots();
  if (offer.cores() < 0 || offer.slots() < 0) {
    return absl::InvalidArgumentError(
        "[offer] cores and slots must be positive; leave them out to have them measured");
  }
  HYDRANT_ASSIGN_OR_RETURN(options.memory_bytes, Size(offer.memory(), "[offer] memory"));
  for (int i = 0; i < config.gpu_size(); ++i) {
    HYDRANT_ASSIGN_OR_RETURN(SimulatedGpu gpu, ReadGpu(config.gpu(i), i));
    options.gpus.push_back(std::move(gpu));
  }
  options.metrics_listen = config.metrics().listen();
  return options;
}

absl::Status Complete(WorkerOptions& options) {
  if (options.name.empty()) options.name = HostName();
  if (!IsName(options.name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("name is \"", options.name,
                     "\", expected at most 63 of [a-z0-9.-], beginning with a letter or digit"));
  }
  if (options.spool.empty()) options.spool = "/var/lib/hydrant-worker";
  if (options.store.empty()) options.store = "daemon";
  if (options.store != "daemon") options.store = std::filesystem::absolute(options.store).lexically_normal();
  options.spool = std::filesystem::absolute(options.spool).lexically_normal();
  if (options.sandbox_paths.empty()) {
    const std::string shell = DefaultSandboxShell();
    if (shell.empty()) {
      return absl::InvalidArgumentError(
          "no busybox for /bin/sh of builds: install busybox-static, or set [nix] sandbox_paths");
    }
    options.sandbox_paths = {shell};
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadToken(const std::string& file, std::string_view variable) {
  if (file.empty()) return std::string(variable);
  HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const std::string token(absl::StripAsciiWhitespace(text));
  if (token.empty()) return absl::InvalidArgumentError(absl::StrCat("token file ", file, " is empty"));
  return token;
}

}  // namespace

absl::StatusOr<WorkerOptions> ReadWorkerOptions(const CommandLine& line, std::string_view token_variable) {
  v1::WorkerConfig config;
  if (!line.config.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadFile(line.config));
    HYDRANT_RETURN_IF_ERROR(rpc::ReadTomlMessage(text, line.config, &config));
  }
  auto options = FromMessage(config);
  if (!options.ok()) return Annotate(options.status(), line.config);
  if (!line.server.empty()) options->server = line.server;
  if (!line.name.empty()) options->name = line.name;
  if (!line.store.empty()) options->store = line.store;
  if (!line.metrics.empty()) options->metrics_listen = line.metrics;
  if (line.slots > 0) options->slots = line.slots;
  HYDRANT_RETURN_IF_ERROR(Complete(*options));
  options->drain_on = line.drain_on;
  if (line.once) {
    const auto idle = ParseDurationText(line.idle);
    if (!idle.ok()) return Annotate(idle.status(), "--idle");
    options->idle = *idle;
    options->reach_within = absl::Minutes(1);
  }
  if (line.command == CommandLine::Command::kProbe) return options;
  if (options->server.empty()) {
    return absl::InvalidArgumentError(
        "no server: give --server HOST:PORT, or `server` in the configuration file");
  }
  const std::string& token_file = line.token_file.empty() ? config.token_file() : line.token_file;
  HYDRANT_ASSIGN_OR_RETURN(options->token, ReadToken(token_file, token_variable));
  if (options->token.empty()) {
    return absl::InvalidArgumentError(
        "no token: give --token-file FILE, `token_file` in the configuration file, or the variable "
        "HYDRANT_TOKEN");
  }
  return options;
}

}  // namespace hydrant::worker
