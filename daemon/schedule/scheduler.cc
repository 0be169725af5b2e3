#include "daemon/schedule/scheduler.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

constexpr std::array<std::string_view, 4> kGpuFeatures = {"cuda", "gpu", "nvidia-gpu", "opengl"};

bool MeansGpu(std::string_view feature) {
  return std::find(kGpuFeatures.begin(), kGpuFeatures.end(), feature) != kGpuFeatures.end();
}

bool Suits(const Demand& demand, const OfferedGpu& gpu) {
  return demand.gpu_architecture.empty() || gpu.architecture == demand.gpu_architecture;
}

std::string Architectures(const WorkerOffer& offer) {
  std::set<std::string> architectures;
  for (const OfferedGpu& gpu : offer.gpus) architectures.insert(gpu.architecture);
  std::string joined;
  for (const std::string& architecture : architectures) {
    absl::StrAppend(&joined, joined.empty() ? "" : ", ", architecture);
  }
  return joined;
}

// The workers that could take work of one demand; those without room are dropped as they are met.
struct Candidates {
  std::vector<FreeWorker*> all;  // whatever their load
  std::vector<FreeWorker*> free;
};

using DemandKey = std::tuple<std::string, std::set<std::string>, bool, std::string>;

class Round {
 public:
  explicit Round(std::vector<FreeWorker>& workers) : workers_(workers) {
    for (const FreeWorker& worker : workers_) free_slots_ += std::max(0, worker.free_slots);
  }

  bool full() const { return free_slots_ == 0; }

  // Takes the best worker's slot, and a GPU of it; false when nobody has room.
  bool Take(const ReadyWork& work, Placement& placement) {
    Candidates& candidates = Of(work.demand);
    const bool needs_gpu = NeedsGpu(work.demand);
    std::erase_if(candidates.free, [&](const FreeWorker* worker) {
      return worker->free_slots <= 0 || (needs_gpu && BestGpu(work.demand, *worker) == nullptr);
    });
    const auto avoided = [&](const FreeWorker* worker) { return work.demand.avoid.contains(worker->name); };
    const bool all_avoided = std::all_of(candidates.all.begin(), candidates.all.end(), avoided);
    FreeWorker* best = nullptr;
    for (FreeWorker* worker : candidates.free) {
      if (!all_avoided && avoided(worker)) continue;
      if (best == nullptr || Waste(*worker) < Waste(*best)) best = worker;
    }
    if (best == nullptr) return false;
    placement = {.key = work.key, .worker = best->name};
    if (needs_gpu) {
      placement.gpu_uuid = BestGpu(work.demand, *best)->uuid;
      best->busy_gpus.insert(placement.gpu_uuid);
    }
    --best->free_slots;
    --free_slots_;
    return true;
  }

 private:
  Candidates& Of(const Demand& demand) {
    const auto [entry, is_new] = by_demand_.try_emplace(
        DemandKey{demand.system, demand.features, demand.gpu, demand.gpu_architecture});
    if (is_new) {
      for (FreeWorker& worker : workers_) {
        if (WhyNot(demand, worker.offer).empty()) entry->second.all.push_back(&worker);
      }
      entry->second.free = entry->second.all;
    }
    return entry->second;
  }

  // The smallest free one that suits, so that larger ones stay free for what needs them.
  static const OfferedGpu* BestGpu(const Demand& demand, const FreeWorker& worker) {
    const OfferedGpu* best = nullptr;
    for (const OfferedGpu& gpu : worker.offer.gpus) {
      if (worker.busy_gpus.contains(gpu.uuid) || !Suits(demand, gpu)) continue;
      if (best == nullptr || std::tie(gpu.memory_bytes, gpu.uuid) < std::tie(best->memory_bytes, best->uuid))
        best = &gpu;
    }
    return best;
  }

  // Smaller is better: what a GPU or a rare feature could be needed for is kept free; then the load is
  // spread.
  static std::tuple<size_t, size_t, int, std::string_view> Waste(const FreeWorker& worker) {
    return {worker.offer.gpus.size(), worker.offer.features.size() + worker.offer.systems.size(),
            -worker.free_slots, worker.name};
  }

  std::vector<FreeWorker>& workers_;
  int64_t free_slots_ = 0;
  std::map<DemandKey, Candidates> by_demand_;
};

bool IsSooner(const ReadyWork& a, const ReadyWork& b) {
  return std::tie(b.priority, b.remaining, a.ready_since, a.key) <
         std::tie(a.priority, a.remaining, b.ready_since, b.key);
}

}  // namespace

bool NeedsGpu(const Demand& demand) {
  return demand.gpu || !demand.gpu_architecture.empty() ||
         std::any_of(demand.features.begin(), demand.features.end(), MeansGpu);
}

int PlacesFor(const Demand& demand, const WorkerOffer& offer) {
  if (!WhyNot(demand, offer).empty()) return 0;
  if (!NeedsGpu(demand)) return offer.slots;
  const auto suiting = std::count_if(offer.gpus.begin(), offer.gpus.end(),
                                     [&](const OfferedGpu& gpu) { return Suits(demand, gpu); });
  return std::min(offer.slots, static_cast<int>(suiting));
}

std::string WhyNot(const Demand& demand, const WorkerOffer& offer) {
  const bool any_system = demand.system.empty() || demand.system == "builtin";
  if (!any_system && !offer.systems.contains(demand.system))
    return absl::StrCat("offers no system ", demand.system);
  const bool needs_gpu = NeedsGpu(demand);
  if (needs_gpu && offer.gpus.empty()) return "offers no GPU";
  for (const std::string& feature : demand.features) {
    if (!offer.features.contains(feature)) return absl::StrCat("offers no feature ", feature);
  }
  const bool suits = std::any_of(offer.gpus.begin(), offer.gpus.end(),
                                 [&](const OfferedGpu& gpu) { return Suits(demand, gpu); });
  if (!needs_gpu || suits) return "";
  return absl::StrCat("offers no GPU of architecture ", demand.gpu_architecture, " (it has ",
                      Architectures(offer), ")");
}

std::vector<Placement> Place(std::vector<ReadyWork> ready, std::vector<FreeWorker> workers) {
  std::sort(ready.begin(), ready.end(), IsSooner);
  std::vector<Placement> placements;
  Round round(workers);
  for (const ReadyWork& work : ready) {
    if (round.full()) break;
    Placement placement;
    if (round.Take(work, placement)) placements.push_back(std::move(placement));
  }
  return placements;
}

}  // namespace hydrant
