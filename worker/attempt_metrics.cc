#include "worker/attempt_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hydrant::worker {
namespace {

constexpr std::array<const char*, 5> kStages = {"", "leased", "fetching", "building", "pushing"};

const prometheus::Histogram::BucketBoundaries& Seconds() {
  static const auto& bounds = *new prometheus::Histogram::BucketBoundaries{
      0.1, 0.3, 1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10800, 36000};
  return bounds;
}

std::string Outcome(Cause cause) {
  switch (cause) {
    case Cause::kNone:
      return "succeeded";
    case Cause::kCancelled:
      return "cancelled";
    case Cause::kLost:
      return "lost";
    default:
      return "failed";
  }
}

}  // namespace

class AttemptMetrics::Impl {
 public:
  explicit Impl(const WorkerOffer& offer) {
    prometheus::BuildGauge()
        .Name("hydrant_worker_slots")
        .Help("Attempts that fetch or build at once")
        .Register(*registry)
        .Add({})
        .Set(offer.slots);
    auto& gpus = prometheus::BuildGauge()
                     .Name("hydrant_worker_gpus")
                     .Help("GPUs that are offered")
                     .Register(*registry);
    for (const GpuFacts& gpu : offer.gpus) {
      gpus.Add({{"architecture", gpu.architecture}, {"simulated", gpu.simulated ? "true" : "false"}})
          .Increment();
    }
  }

  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  prometheus::Family<prometheus::Gauge>& running = prometheus::BuildGauge()
                                                       .Name("hydrant_worker_attempts")
                                                       .Help("Attempts by the stage that they are in")
                                                       .Register(*registry);
  prometheus::Family<prometheus::Counter>& attempts = prometheus::BuildCounter()
                                                          .Name("hydrant_worker_attempts_total")
                                                          .Help("Ended attempts")
                                                          .Register(*registry);
  prometheus::Family<prometheus::Histogram>& durations = prometheus::BuildHistogram()
                                                             .Name("hydrant_worker_attempt_duration_seconds")
                                                             .Help("How long a stage took")
                                                             .Register(*registry);
  prometheus::Counter& uploads = prometheus::BuildCounter()
                                     .Name("hydrant_worker_uploads_total")
                                     .Help("Store paths uploaded")
                                     .Register(*registry)
                                     .Add({});
  prometheus::Counter& upload_bytes = prometheus::BuildCounter()
                                          .Name("hydrant_worker_upload_bytes_total")
                                          .Help("Compressed bytes uploaded")
                                          .Register(*registry)
                                          .Add({});
  std::unique_ptr<prometheus::Exposer> exposer;

  prometheus::Gauge& InStage(AttemptStage stage) {
    return running.Add({{"stage", kStages[static_cast<size_t>(stage)]}});
  }
};

absl::StatusOr<std::unique_ptr<AttemptMetrics>> AttemptMetrics::Open(const std::string& listen,
                                                                     const WorkerOffer& offer) {
  auto impl = std::make_unique<Impl>(offer);
  if (!listen.empty()) {
    // The exposer throws when it cannot listen.
    try {
      impl->exposer = std::make_unique<prometheus::Exposer>(listen, 1);
      impl->exposer->RegisterCollectable(impl->registry);
    } catch (const std::exception& error) {
      return absl::UnavailableError(absl::StrCat("serve metrics on ", listen, ": ", error.what()));
    }
  }
  return std::unique_ptr<AttemptMetrics>(new AttemptMetrics(std::move(impl)));
}

AttemptMetrics::AttemptMetrics(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AttemptMetrics::~AttemptMetrics() = default;

void AttemptMetrics::Entered(AttemptStage stage, AttemptStage before) {
  if (before != AttemptStage::kLeased) impl_->InStage(before).Decrement();
  impl_->InStage(stage).Increment();
}

void AttemptMetrics::Uploaded(int64_t paths, int64_t bytes) {
  impl_->uploads.Increment(static_cast<double>(paths));
  impl_->upload_bytes.Increment(static_cast<double>(bytes));
}

void AttemptMetrics::Ended(const AttemptEnd& end, AttemptStage last) {
  if (last != AttemptStage::kLeased) impl_->InStage(last).Decrement();
  impl_->attempts.Add({{"outcome", Outcome(end.cause)}, {"cause", std::string(CauseName(end.cause))}})
      .Increment();
  for (const auto& [stage, took] : {std::pair("fetching", end.fetching), std::pair("building", end.building),
                                    std::pair("pushing", end.pushing)}) {
    if (took > absl::ZeroDuration()) {
      impl_->durations.Add({{"stage", stage}}, Seconds()).Observe(absl::ToDoubleSeconds(took));
    }
  }
}

std::string AttemptMetrics::Text() const {
  return prometheus::TextSerializer().Serialize(impl_->registry->Collect());
}

}  // namespace hydrant::worker
