#include "daemon/config_reader.h"

#include <filesystem>
#include <initializer_list>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hydrant/v1/config.pb.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/nearest_word.h"
#include "lib/matrix/quantities.h"
#include "lib/matrix/uri_prefixes.h"
#include "lib/rpc/toml_message.h"

namespace hydrant {
namespace {

constexpr int kMostInFlight = 1000;

void FillDefaults(v1::DaemonConfig& config) {
  const auto text = [](const std::string& value, const char* fallback, auto set) {
    if (value.empty()) set(fallback);
  };
  text(config.grpc().listen(), "127.0.0.1:8581", [&](auto v) { config.mutable_grpc()->set_listen(v); });
  text(config.http().listen(), "127.0.0.1:8580", [&](auto v) { config.mutable_http()->set_listen(v); });
  text(config.http().url(), "",
       [&](auto) { config.mutable_http()->set_url("http://" + config.http().listen()); });
  text(config.nix().store(), "daemon", [&](auto v) { config.mutable_nix()->set_store(v); });
  text(config.nix().evaluator_memory(), "1500MB",
       [&](auto v) { config.mutable_nix()->set_evaluator_memory(v); });
  text(config.nix().variant_timeout(), "60s", [&](auto v) { config.mutable_nix()->set_variant_timeout(v); });
  text(config.nix().evaluator(), "nix", [&](auto v) { config.mutable_nix()->set_evaluator(v); });
  text(config.nix().evaluation_timeout(), "6h",
       [&](auto v) { config.mutable_nix()->set_evaluation_timeout(v); });
  text(config.schedule().lease(), "20s", [&](auto v) { config.mutable_schedule()->set_lease(v); });
  text(config.schedule().waiting_after(), "60s",
       [&](auto v) { config.mutable_schedule()->set_waiting_after(v); });
  text(config.schedule().backoff(), "5s", [&](auto v) { config.mutable_schedule()->set_backoff(v); });
  text(config.retention().attempts(), "90d", [&](auto v) { config.mutable_retention()->set_attempts(v); });
  if (config.nix().evaluators() == 0) config.mutable_nix()->set_evaluators(2);
  if (config.cache().priority() == 0) config.mutable_cache()->set_priority(30);
  if (config.upstream().in_flight() == 0) config.mutable_upstream()->set_in_flight(100);
  if (config.schedule().attempts() == 0) config.mutable_schedule()->set_attempts(5);
}

absl::StatusOr<v1::DaemonConfig> ReadMessage(const std::string& file) {
  HYDRANT_ASSIGN_OR_RETURN(std::string text, ReadFile(file));
  v1::DaemonConfig config;
  HYDRANT_RETURN_IF_ERROR(rpc::ReadTomlMessage(text, file, &config));
  FillDefaults(config);
  return config;
}

absl::Status Wrong(const std::string& file, std::string_view key, std::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", AbslView(key), ": ", AbslView(expected)));
}

// Relative to the file's folder.
std::string Resolve(const std::string& file, const std::string& path) {
  if (path.empty()) return path;
  return (std::filesystem::absolute(file).parent_path() / path).lexically_normal().string();
}

absl::Status CheckShape(const std::string& file, const v1::DaemonConfig& config) {
  const bool url = !config.database().url().empty(), embedded = !config.database().embedded().empty();
  if (url == embedded) return Wrong(file, "[database]", "expected exactly one of `url` and `embedded`");
  if (config.cache().directory().empty())
    return Wrong(file, "[cache] directory", "missing; expected a folder");
  if (config.cache().key_file().empty()) {
    return Wrong(file, "[cache] key_file", "missing; `hydrantd init DIR` makes a key and a configuration");
  }
  if (config.nix().evaluators() < 1) return Wrong(file, "[nix] evaluators", "expected at least 1");
  const std::string& evaluator = config.nix().evaluator();
  if (evaluator != "nix" && evaluator != "nix-eval-jobs" && !evaluator.starts_with('/')) {
    return Wrong(file, "[nix] evaluator",
                 absl::StrCat("expected \"nix\", \"nix-eval-jobs\" or an absolute path of the latter, not \"",
                              evaluator, "\""));
  }
  for (const std::string& prefix : config.nix().allowed_uris()) {
    const std::string fault = UriPrefixFault(prefix);
    if (!fault.empty()) return Wrong(file, "[nix] allowed_uris", absl::StrCat("'", prefix, "' ", fault));
  }
  if (config.schedule().attempts() < 1) return Wrong(file, "[schedule] attempts", "expected at least 1");
  if (config.upstream().in_flight() < 1 || config.upstream().in_flight() > kMostInFlight) {
    return Wrong(file, "[upstream] in_flight", absl::StrCat("expected 1 to ", kMostInFlight));
  }
  const v1::TlsConfig& tls = config.tls();
  if (tls.cert().empty() != tls.key().empty())
    return Wrong(file, "[tls]", "expected both `cert` and `key`, or neither");
  return absl::OkStatus();
}

struct DurationKey {
  std::string_view key;
  const std::string& text;
  absl::Duration& value;
};

absl::Status ReadDurations(const std::string& file, std::initializer_list<DurationKey> keys) {
  for (const DurationKey& each : keys) {
    absl::StatusOr<absl::Duration> value = ParseDurationText(each.text);
    if (!value.ok()) return Wrong(file, each.key, StdView(value.status().message()));
    if (*value <= absl::ZeroDuration()) return Wrong(file, each.key, "expected a duration above 0");
    each.value = *value;
  }
  return absl::OkStatus();
}

absl::Status ReadUpstream(const std::string& file, const v1::UpstreamConfig& upstream,
                          DaemonOptions& options) {
  options.substituters = {upstream.substituters().begin(), upstream.substituters().end()};
  options.substituter_keys = {upstream.public_keys().begin(), upstream.public_keys().end()};
  options.substituter_in_flight = upstream.in_flight();
  const std::set<std::string> known(options.substituters.begin(), options.substituters.end());
  for (const v1::UpstreamCacheConfig& cache : upstream.cache()) {
    if (!known.contains(cache.url())) {
      return Wrong(file, "[[upstream.cache]] url",
                   absl::StrCat("expected one of `substituters`, not '", cache.url(), "'",
                                NearestHint(cache.url(), options.substituters)));
    }
    const UpstreamAccessFiles files{.credentials = Resolve(file, cache.credentials_file()),
                                    .netrc = Resolve(file, cache.netrc_file()),
                                    .ca = Resolve(file, cache.ca_file())};
    if (!options.substituter_access.emplace(cache.url(), files).second) {
      return Wrong(file, "[[upstream.cache]] url", absl::StrCat("\"", cache.url(), "\" stands there twice"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DaemonOptions> ReadDaemonOptions(const std::string& file) {
  HYDRANT_ASSIGN_OR_RETURN(v1::DaemonConfig config, ReadMessage(file));
  HYDRANT_RETURN_IF_ERROR(CheckShape(file, config));
  DaemonOptions options;
  options.file = file;
  options.matrices = Resolve(file, config.matrices());
  options.database_url = config.database().url();
  options.database_embedded = Resolve(file, config.database().embedded());
  options.grpc_listen = config.grpc().listen();
  options.http_listen = config.http().listen();
  options.http_url = config.http().url();
  if (options.http_url.ends_with('/')) options.http_url.pop_back();
  options.metrics_listen = config.metrics().listen();
  options.tls_cert = Resolve(file, config.tls().cert());
  options.tls_key = Resolve(file, config.tls().key());
  options.tls_client_ca = Resolve(file, config.tls().client_ca());
  options.tokens = Resolve(file, config.auth().tokens());
  options.evaluator = config.nix().evaluator();
  options.allowed_uris = {config.nix().allowed_uris().begin(), config.nix().allowed_uris().end()};
  options.evaluators = config.nix().evaluators();
  options.store = config.nix().store() == "daemon" ? "daemon" : Resolve(file, config.nix().store());
  options.cache_directory = Resolve(file, config.cache().directory());
  options.key_file = Resolve(file, config.cache().key_file());
  options.cache_priority = config.cache().priority();
  HYDRANT_RETURN_IF_ERROR(ReadUpstream(file, config.upstream(), options));
  for (const std::string& root : config.source().roots()) options.source_roots.push_back(Resolve(file, root));
  options.max_attempts = config.schedule().attempts();
  HYDRANT_RETURN_IF_ERROR(ReadDurations(
      file, {{"[nix] variant_timeout", config.nix().variant_timeout(), options.variant_timeout},
             {"[nix] evaluation_timeout", config.nix().evaluation_timeout(), options.evaluation_timeout},
             {"[schedule] lease", config.schedule().lease(), options.lease},
             {"[schedule] waiting_after", config.schedule().waiting_after(), options.waiting_after},
             {"[schedule] backoff", config.schedule().backoff(), options.backoff}}));
  absl::Duration unused;
  HYDRANT_RETURN_IF_ERROR(
      ReadDurations(file, {{"[retention] attempts", config.retention().attempts(), unused}}));
  absl::StatusOr<uint64_t> memory = ParseByteSize(config.nix().evaluator_memory());
  if (!memory.ok()) return Wrong(file, "[nix] evaluator_memory", StdView(memory.status().message()));
  options.evaluator_memory = *memory;
  if (!config.cache().budget().empty()) {
    absl::StatusOr<uint64_t> budget = ParseByteSize(config.cache().budget());
    if (!budget.ok()) return Wrong(file, "[cache] budget", StdView(budget.status().message()));
  }
  return options;
}

absl::StatusOr<std::string> EffectiveConfig(const std::string& file) {
  HYDRANT_RETURN_IF_ERROR(ReadDaemonOptions(file).status());
  HYDRANT_ASSIGN_OR_RETURN(v1::DaemonConfig config, ReadMessage(file));
  return rpc::PrintTomlMessage(config);
}

}  // namespace hydrant
