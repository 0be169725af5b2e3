#include "daemon/schedule/forecast.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace hydrant {
namespace {

constexpr size_t kLongest = 5;

// The work of one kind, and how many attempts of it can run at once.
class Kinds {
 public:
  explicit Kinds(const std::vector<WorkerOffer>& workers) : workers_(workers) {}

  // False when no worker could take it.
  bool Add(const Demand& demand, absl::Duration time) {
    const auto [kind, is_new] =
        kinds_.try_emplace({demand.system, demand.features, demand.gpu, demand.gpu_architecture});
    if (is_new) {
      for (const WorkerOffer& worker : workers_) kind->second.places += PlacesFor(demand, worker);
    }
    if (kind->second.places == 0) return false;
    kind->second.time += time;
    all_ += time;
    return true;
  }

  absl::Duration Throughput(int slots) const {
    absl::Duration longest = slots > 0 ? all_ / slots : absl::ZeroDuration();
    for (const auto& [demand, kind] : kinds_) {
      if (kind.places > 0) longest = std::max(longest, kind.time / kind.places);
    }
    return longest;
  }

 private:
  struct Kind {
    absl::Duration time;
    int places = 0;
  };
  const std::vector<WorkerOffer>& workers_;
  std::map<std::tuple<std::string, std::set<std::string>, bool, std::string>, Kind> kinds_;
  absl::Duration all_;
};

class Forecaster {
 public:
  Forecaster(const Estimate& history, const std::vector<WorkerOffer>& workers)
      : history_(history), kinds_(workers) {
    forecast_.workers = static_cast<int>(workers.size());
    for (const WorkerOffer& worker : workers) {
      forecast_.slots += worker.slots;
      forecast_.cores += worker.cores;
      forecast_.gpus += static_cast<int>(worker.gpus.size());
    }
  }

  Forecast Make(const Workload& work, const std::vector<Backlog>& backlog) {
    for (const Workload::Step& step : work.steps) AddStep(step);
    for (const Workload::Check& check : work.checks) AddCheck(check);
    forecast_.throughput = Throughput();
    forecast_.at_least = std::max(forecast_.path, forecast_.throughput);
    for (const Backlog& piece : backlog) AddBacklog(piece);
    forecast_.at_most = forecast_.path + Throughput();
    const size_t longest = std::min(kLongest, heavy_.size());
    std::partial_sort(heavy_.begin(), heavy_.begin() + static_cast<std::ptrdiff_t>(longest), heavy_.end(),
                      [](const Forecast::Heavy& a, const Forecast::Heavy& b) {
                        return std::tie(b.building, a.name, a.derivation) <
                               std::tie(a.building, b.name, b.derivation);
                      });
    heavy_.resize(longest);
    forecast_.longest = std::move(heavy_);
    return std::move(forecast_);
  }

 private:
  // Of all that was placed so far.
  absl::Duration Throughput() const {
    const absl::Duration by_slots = kinds_.Throughput(forecast_.slots);
    return forecast_.cores > 0 ? std::max(by_slots, placed_core_time_ / forecast_.cores) : by_slots;
  }

  void AddBacklog(const Backlog& piece) {
    ++(piece.running ? forecast_.running : forecast_.waiting);
    if (!piece.time) {
      ++forecast_.unknown_backlog;
    } else if (kinds_.Add(piece.demand, *piece.time)) {
      placed_core_time_ += piece.core_time;
    }
  }

  // When what waits for these steps could begin.
  absl::Duration EndOf(const std::vector<size_t>& steps) const {
    absl::Duration end;
    for (size_t step : steps) end = std::max(end, ends_[step]);
    return end;
  }

  // Of known work; its end, were there places without number.
  absl::Duration Place(const Demand& demand, absl::Duration begin, absl::Duration time,
                       absl::Duration core_time) {
    forecast_.core_time += core_time;
    if (NeedsGpu(demand)) forecast_.gpu_time += time;
    if (!kinds_.Add(demand, time)) {
      ++forecast_.unplaceable;
      return begin;
    }
    placed_core_time_ += core_time;
    forecast_.path = std::max(forecast_.path, begin + time);
    return begin + time;
  }

  void AddStep(const Workload::Step& step) {
    ++forecast_.steps;
    const absl::Duration begin = EndOf(step.inputs);
    const std::optional<Cost> cost = history_.CostOf(step.name);
    if (!cost || cost->bytes == 0) ++forecast_.unknown_bytes;
    if (!cost) {
      ++forecast_.unknown_steps;
      if (!kinds_.Add(step.demand, absl::ZeroDuration())) ++forecast_.unplaceable;
      ends_.push_back(begin);
      return;
    }
    const bool measured = cost->cpu > absl::ZeroDuration();
    if (!measured) ++forecast_.unmeasured_cpu;
    const absl::Duration core_time = measured ? cost->cpu : cost->building;
    forecast_.bytes += cost->bytes;
    heavy_.push_back({.derivation = step.derivation,
                      .name = step.name,
                      .building = cost->building,
                      .core_time = core_time});
    ends_.push_back(Place(step.demand, begin, cost->building, core_time));
  }

  void AddCheck(const Workload::Check& check) {
    ++forecast_.checks;
    const std::optional<absl::Duration> time = history_.CheckTime(check.name, check.package);
    if (time) {
      Place(check.demand, EndOf(check.after), *time, *time);
      return;
    }
    ++forecast_.unknown_checks;
    if (!kinds_.Add(check.demand, absl::ZeroDuration())) ++forecast_.unplaceable;
  }

  const Estimate& history_;
  Kinds kinds_;
  Forecast forecast_;
  absl::Duration placed_core_time_;
  std::vector<absl::Duration> ends_;  // by step
  std::vector<Forecast::Heavy> heavy_;
};

}  // namespace

Forecast MakeForecast(const Workload& work, const Estimate& history, const std::vector<WorkerOffer>& workers,
                      const std::vector<Backlog>& backlog) {
  return Forecaster(history, workers).Make(work, backlog);
}

}  // namespace hydrant
