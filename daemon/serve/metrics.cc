#include "daemon/serve/metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

using prometheus::Histogram;
using prometheus::MetricFamily;
using Labels = std::vector<std::pair<std::string, std::string>>;

const Histogram::BucketBoundaries kSeconds = {0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200, 36000};
const Histogram::BucketBoundaries kQuick = {0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5};

class Gauges {
 public:
  MetricFamily& Family(std::string name, std::string help) {
    families_.push_back({.name = std::move(name), .help = std::move(help), .type = prometheus::MetricType::Gauge,
                         .metric = {}});
    return families_.back();
  }
  static void Add(MetricFamily& family, const Labels& labels, double value) {
    prometheus::ClientMetric metric;
    for (const auto& [name, label] : labels) metric.label.push_back({name, label});
    metric.gauge.value = value;
    family.metric.push_back(std::move(metric));
  }
  std::vector<MetricFamily> Take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

void AddWork(Gauges& gauges, const FarmTotals& totals) {
  MetricFamily& variants = gauges.Family("hydrant_variants", "Variants of each matrix's newest evaluation, by state.");
  for (const auto& [matrix, states] : totals.variants) {
    for (const auto& [state, count] : states) Gauges::Add(variants, {{"matrix", matrix}, {"state", state}}, count);
  }
  MetricFamily& findings =
      gauges.Family("hydrant_findings", "What consistency rules found in each matrix's newest evaluation, by rule.");
  for (const auto& [matrix, rules] : totals.findings) {
    for (const auto& [rule, count] : rules) Gauges::Add(findings, {{"matrix", matrix}, {"rule", rule}}, count);
  }
  MetricFamily& steps = gauges.Family("hydrant_steps", "Steps, by state.");
  for (int state = 0; state < kStepStateCount; ++state) {
    Gauges::Add(steps, {{"state", std::string(StepStateName(static_cast<StepState>(state)))}}, totals.steps[state]);
  }
  MetricFamily& waiting = gauges.Family("hydrant_steps_waiting", "Ready steps and checks that no connected worker can take, by what is lacking.");
  for (const auto& [reason, count] : totals.waiting) Gauges::Add(waiting, {{"reason", reason}}, count);
}

void AddWorkers(Gauges& gauges, const FarmTotals& totals) {
  MetricFamily& workers = gauges.Family("hydrant_workers", "Workers, by state.");
  for (const auto& [state, count] : totals.workers) Gauges::Add(workers, {{"state", state}}, count);
  MetricFamily& slots = gauges.Family("hydrant_worker_slots", "Slots of each worker that is not gone, by state.");
  for (const auto& [worker, counts] : totals.slots) {
    Gauges::Add(slots, {{"worker", worker}, {"state", "busy"}}, counts.first);
    Gauges::Add(slots, {{"worker", worker}, {"state", "free"}}, counts.second);
  }
  MetricFamily& gpus = gauges.Family("hydrant_gpus", "GPUs of workers that are not gone, by architecture and state.");
  for (const FarmTotals::Gpus& gpu : totals.gpus) {
    Gauges::Add(gpus, {{"architecture", gpu.architecture}, {"state", gpu.state}, {"simulated", gpu.simulated ? "true" : "false"}},
                gpu.count);
  }
}

void AddAges(Gauges& gauges, const FarmTotals& totals) {
  const absl::Time now = absl::Now();
  MetricFamily& age = gauges.Family("hydrant_evaluation_age_seconds", "Time since a matrix was last settled.");
  for (const auto& [matrix, at] : totals.evaluated_at) {
    Gauges::Add(age, {{"matrix", matrix}}, absl::ToDoubleSeconds(now - at));
  }
  MetricFamily& lag = gauges.Family("hydrant_channel_lag_seconds", "How long a channel is behind its matrix's newest evaluation; 0: it is not.");
  for (const auto& [channel, since] : totals.channel_lag_since) {
    Gauges::Add(lag, {{"channel", channel}}, since > now ? 0 : absl::ToDoubleSeconds(now - since));
  }
}

}  // namespace

class Metrics::Impl final : public prometheus::Collectable {
 public:
  std::vector<MetricFamily> Collect() const override {
    if (coordinator == nullptr) return {};
    Gauges gauges;
    const FarmTotals totals = coordinator->Totals();
    AddWork(gauges, totals);
    AddWorkers(gauges, totals);
    AddAges(gauges, totals);
    const Catalogue::Totals cache = catalogue->totals();
    MetricFamily& bytes = gauges.Family("hydrant_cache_bytes", "Compressed bytes in the cache, by tier.");
    Gauges::Add(bytes, {{"tier", "staged"}}, static_cast<double>(cache.staged_bytes));
    Gauges::Add(bytes, {{"tier", "published"}}, static_cast<double>(cache.published_bytes));
    MetricFamily& up = gauges.Family("hydrant_record_up", "1 while the database answers.");
    Gauges::Add(up, {}, coordinator->RecordAnswers() ? 1 : 0);
    return gauges.Take();
  }

  const Coordinator* coordinator = nullptr;
  const Catalogue* catalogue = nullptr;
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  prometheus::Family<prometheus::Counter>& attempts =
      prometheus::BuildCounter().Name("hydrant_attempts_total").Help("Attempts that ended, by outcome and cause.").Register(*registry);
  prometheus::Family<Histogram>& durations =
      prometheus::BuildHistogram().Name("hydrant_attempt_duration_seconds").Help("How long ended attempts were in each stage.").Register(*registry);
  Histogram& lease_grant = prometheus::BuildHistogram().Name("hydrant_lease_grant_seconds")
                               .Help("From ready to leased, counted when the lease is granted.").Register(*registry).Add({}, kSeconds);
  prometheus::Counter& expirations = prometheus::BuildCounter().Name("hydrant_lease_expirations_total")
                                         .Help("Leases whose worker was not heard of in time.").Register(*registry).Add({});
  prometheus::Family<prometheus::Counter>& checks =
      prometheus::BuildCounter().Name("hydrant_checks_total").Help("Checks that were decided, by GPU architecture and outcome.").Register(*registry);
  Histogram& evaluations = prometheus::BuildHistogram().Name("hydrant_evaluation_duration_seconds")
                               .Help("From an evaluation's request until it settled.").Register(*registry).Add({}, kSeconds);
  prometheus::Family<prometheus::Counter>& requests =
      prometheus::BuildCounter().Name("hydrant_cache_requests_total").Help("HTTP requests of the cache, by kind and status code.").Register(*registry);
  prometheus::Counter& uploaded = prometheus::BuildCounter().Name("hydrant_upload_bytes_total")
                                      .Help("Compressed bytes of NARs that were taken in.").Register(*registry).Add({});
  prometheus::Family<prometheus::Counter>& remembered = prometheus::BuildCounter().Name("hydrant_evaluation_cache_total")
      .Help("Variants asked of the evaluation cache: hit, miss, or gone (its derivation was collected).").Register(*registry);
  prometheus::Family<prometheus::Gauge>& upstream =
      prometheus::BuildGauge().Name("hydrant_upstream_up").Help("1 while a cache upstream is asked, 0 while it fails and is left alone.").Register(*registry);
  prometheus::Family<Histogram>& queries =
      prometheus::BuildHistogram().Name("hydrant_db_query_seconds").Help("Database statements, by name.").Register(*registry);
  std::shared_ptr<Impl> self;  // as a Collectable, for as long as the exposer asks
  std::unique_ptr<prometheus::Exposer> exposer;
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}

Metrics::~Metrics() {
  impl_->exposer.reset();
  impl_->self.reset();
}

void Metrics::Seed(const std::vector<StateStore::AttemptCount>& counts) {
  impl_->attempts.Add({{"outcome", "succeeded"}, {"cause", ""}});  // there from the start, at 0
  for (const StateStore::AttemptCount& count : counts) {
    impl_->attempts.Add({{"outcome", count.outcome}, {"cause", count.cause}}).Increment(static_cast<double>(count.count));
  }
}

void Metrics::Watch(const Coordinator& coordinator, const Catalogue& catalogue) {
  impl_->coordinator = &coordinator;
  impl_->catalogue = &catalogue;
}

absl::Status Metrics::Listen(const std::string& address) {
  try {  // civetweb behind it throws when the port is taken
    impl_->exposer = std::make_unique<prometheus::Exposer>(address, 1);
  } catch (const std::exception& error) {
    return absl::UnavailableError(absl::StrCat("listen on ", address, " for metrics: ", error.what()));
  }
  impl_->self = std::shared_ptr<Impl>(impl_.get(), [](Impl*) {});
  impl_->exposer->RegisterCollectable(impl_->registry);
  impl_->exposer->RegisterCollectable(impl_->self);
  return absl::OkStatus();
}

void Metrics::LeaseGranted(absl::Duration since_ready) {
  impl_->lease_grant.Observe(absl::ToDoubleSeconds(since_ready));
}

void Metrics::LeaseExpired() { impl_->expirations.Increment(); }

void Metrics::AttemptEnded(const AttemptResult& result) {
  impl_->attempts.Add({{"outcome", result.outcome}, {"cause", std::string(CauseName(result.cause))}}).Increment();
  const std::pair<const char*, absl::Duration> stages[] = {
      {"fetching", result.fetching}, {"building", result.building}, {"pushing", result.pushing}};
  for (const auto& [stage, took] : stages) {
    if (took > absl::ZeroDuration()) impl_->durations.Add({{"stage", stage}}, kSeconds).Observe(absl::ToDoubleSeconds(took));
  }
}

void Metrics::CheckDecided(const CheckRecord& check) {
  const char* outcome = check.state == CheckState::kPassed ? "pass" : IsRetryable(check.cause) ? "error" : "fail";
  impl_->checks.Add({{"architecture", check.architecture}, {"outcome", outcome}}).Increment();
}

void Metrics::Evaluated(absl::Duration took) { impl_->evaluations.Observe(absl::ToDoubleSeconds(took)); }

void Metrics::CacheRequest(std::string_view kind, int code, int64_t uploaded) {
  impl_->requests.Add({{"kind", std::string(kind)}, {"code", std::to_string(code)}}).Increment();
  if (uploaded > 0) impl_->uploaded.Increment(static_cast<double>(uploaded));
}

void Metrics::EvaluationCache(std::string_view result, int64_t variants) {
  impl_->remembered.Add({{"result", std::string(result)}}).Increment(static_cast<double>(variants));
}
void Metrics::UpstreamUp(const std::string& cache, bool up) { impl_->upstream.Add({{"cache", cache}}).Set(up ? 1 : 0); }

void Metrics::Query(std::string_view statement, double seconds) {
  impl_->queries.Add({{"statement", std::string(statement)}}, kQuick).Observe(seconds);
}

}  // namespace hydrant
