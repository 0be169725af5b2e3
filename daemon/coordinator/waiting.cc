#include "daemon/coordinator/waiting.h"

#include <map>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hydrant {
namespace {

constexpr size_t kWorkersNamed = 5;

bool IsHere(const Worker& worker) {
  return worker.state != WorkerState::kGone && worker.state != WorkerState::kRevoked;
}

// True when some worker that is here passes the rules of `demand`.
bool SomebodyOffers(const FarmState& state, const Demand& demand) {
  for (const auto& [name, worker] : state.workers.all()) {
    if (IsHere(worker) && WhyNot(demand, worker.offer).empty()) return true;
  }
  return false;
}

// What is lacking, the same words for all that lack it.
std::string KindOf(const FarmState& state, const Demand& demand) {
  if (!SomebodyOffers(state, {.system = demand.system})) return absl::StrCat("system ", demand.system);
  for (const std::string& feature : demand.features) {
    if (!SomebodyOffers(state, {.system = demand.system, .features = {feature}})) {
      return absl::StrCat("feature ", feature);
    }
  }
  const std::string& architecture = demand.gpu_architecture;
  if (!SomebodyOffers(state, {.system = demand.system, .gpu = demand.gpu, .gpu_architecture = architecture})) {
    return architecture.empty() ? "gpu" : absl::StrCat("gpu ", architecture);
  }
  return "all of it in one worker";
}

struct DemandLess {
  static auto Key(const Demand& d) { return std::tie(d.system, d.features, d.gpu, d.gpu_architecture); }
  bool operator()(const Demand& a, const Demand& b) const { return Key(a) < Key(b); }
};

// One pass over what is ready; the answers of one demand are worked out once.
class Notes {
 public:
  Notes(FarmState& state, const WaitingRule& rule) : state_(state), rule_(rule) {}

  template <class Map, class Key>
  void Note(Map& noted, const Key& key, const Demand& demand) {
    const std::shared_ptr<const Nobody>& nobody = Of(demand);
    if (nobody == nullptr) {
      changed_ = noted.erase(key) > 0 || changed_;
      return;
    }
    Unplaceable& entry = noted.try_emplace(key, Unplaceable{rule_.now, nobody}).first->second;
    const absl::Time begins = entry.since + rule_.after;
    const bool begins_now = begins > state_.noted_at && begins <= rule_.now;
    const bool other_reason = begins <= rule_.now && entry.nobody->why != nobody->why;
    entry.nobody = nobody;
    changed_ = changed_ || begins_now || other_reason;
  }
  bool changed() const { return changed_; }

 private:
  const std::shared_ptr<const Nobody>& Of(const Demand& demand) {
    auto [entry, is_new] = answers_.try_emplace(demand);
    if (is_new) {
      std::optional<Nobody> nobody = WhyNobody(state_, demand);
      if (nobody) entry->second = std::make_shared<const Nobody>(*std::move(nobody));
    }
    return entry->second;
  }

  FarmState& state_;
  const WaitingRule& rule_;
  std::map<Demand, std::shared_ptr<const Nobody>, DemandLess> answers_;
  bool changed_ = false;
};

// A blocked step waits when an input that it needs waits: it could not go on whatever else ends.
void NoteBlocked(FarmState& state, const WaitingRule& rule) {
  state.waits_for.clear();
  for (const auto& [root, unplaceable] : state.step_unplaceable) {
    if (rule.now - unplaceable.since < rule.after) continue;
    std::vector<StepId> todo = {root};
    while (!todo.empty()) {
      const StepId step = todo.back();
      todo.pop_back();
      for (StepId dependent : state.graph.dependents(step)) {
        if (state.graph.state(dependent) != StepState::kBlocked) continue;
        if (state.waits_for.try_emplace(dependent, root).second) todo.push_back(dependent);
      }
    }
  }
}

}  // namespace

Demand DemandOf(const FarmState& state, StepId step) {
  const StepSpec& spec = state.graph.spec(step);
  Demand demand{.system = spec.system, .features = spec.features};
  auto avoid = state.avoid.find(step);
  if (avoid != state.avoid.end()) demand.avoid = avoid->second;
  return demand;
}

Demand DemandOf(const CheckEntry& check) {
  return {.gpu = check.record.gpu, .gpu_architecture = check.record.wanted_architecture, .avoid = check.avoid};
}

std::optional<Nobody> WhyNobody(const FarmState& state, const Demand& demand) {
  std::vector<std::string> reasons;
  std::string kind;
  size_t more = 0;
  for (const auto& [name, worker] : state.workers.all()) {
    if (!IsHere(worker)) continue;
    std::string why = WhyNot(demand, worker.offer);
    if (why.empty() && worker.state == WorkerState::kConnected) return std::nullopt;
    if (why.empty()) {
      kind = WorkerStateName(worker.state);
      why = absl::StrCat("is ", kind);
    }
    if (reasons.size() == kWorkersNamed) {
      ++more;
    } else {
      reasons.push_back(absl::StrCat(name, " ", why));
    }
  }
  if (reasons.empty()) return Nobody{.why = "no worker is connected", .kind = "no worker"};
  if (kind.empty()) kind = KindOf(state, demand);
  std::string why = absl::StrCat("no worker can take it: ", absl::StrJoin(reasons, "; "));
  if (more > 0) absl::StrAppend(&why, "; and ", more, " more");
  return Nobody{.why = std::move(why), .kind = std::move(kind)};
}

bool NoteWaiting(FarmState& state, const WaitingRule& rule) {
  Notes notes(state, rule);
  for (StepId step : state.graph.ready()) notes.Note(state.step_unplaceable, step, DemandOf(state, step));
  for (const std::string& key : state.ready_checks) {
    notes.Note(state.check_unplaceable, key, DemandOf(state.checks.at(key)));
  }
  state.noted_at = rule.now;
  NoteBlocked(state, rule);
  if (!notes.changed()) return false;
  for (auto& [id, evaluation] : state.evaluations) evaluation.changed = true;
  return true;
}

const Nobody* WaitingFor(const FarmState& state, StepId step, const WaitingRule& rule) {
  if (state.graph.state(step) == StepState::kBlocked) {
    auto below = state.waits_for.find(step);
    if (below == state.waits_for.end()) return nullptr;
    step = below->second;
  }
  if (state.graph.state(step) != StepState::kReady) return nullptr;
  auto noted = state.step_unplaceable.find(step);
  const bool waits = noted != state.step_unplaceable.end() && rule.now - noted->second.since >= rule.after;
  return waits ? noted->second.nobody.get() : nullptr;
}

const Nobody* WaitingFor(const FarmState& state, const CheckEntry& check, const WaitingRule& rule) {
  if (check.record.state != CheckState::kReady) return nullptr;
  auto noted = state.check_unplaceable.find(check.record.key);
  const bool waits = noted != state.check_unplaceable.end() && rule.now - noted->second.since >= rule.after;
  return waits ? noted->second.nobody.get() : nullptr;
}

}  // namespace hydrant
