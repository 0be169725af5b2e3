#include "daemon/graph/step_graph.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "daemon/graph/step_plan.h"

namespace hydrant {

absl::StatusOr<std::vector<StepId>> StepGraph::Add(const std::vector<StepSpec>& specs,
                                                   const absl::flat_hash_map<std::string, Known>& known) {
  absl::StatusOr<std::vector<const StepSpec*>> order = NewInputsFirst(specs);
  if (!order.ok()) return order.status();
  std::vector<StepId> added;
  added.reserve(order->size());
  for (const StepSpec* spec : *order) {
    const auto found = known.find(spec->derivation);
    added.push_back(AddNode(*spec, found != known.end() ? &found->second : nullptr));
  }
  return added;
}

StepId StepGraph::AddNode(const StepSpec& spec, const Known* known) {
  const auto step = static_cast<StepId>(nodes_.size());
  nodes_.push_back(Node{.spec = spec});
  by_derivation_.emplace(spec.derivation, step);
  LinkInputs(step);
  Node& node = nodes_[step];
  if (known != nullptr) {
    node.state = known->state;
    node.detail = known->detail;
  } else if (node.dead > 0) {
    const StepId input = *std::find_if(node.inputs.begin(), node.inputs.end(),
                                       [this](StepId id) { return IsDead(nodes_[id].state); });
    node.state = StepState::kDependencyFailed;
    node.detail = BlameOn(nodes_[input].spec, nodes_[input].state, nodes_[input].detail);
  } else {
    node.state = node.waiting > 0 ? StepState::kBlocked : StepState::kReady;
  }
  Enter(step);
  LinkLateDependents(step);
  return step;
}

void StepGraph::LinkInputs(StepId step) {
  std::vector<std::string> names = nodes_[step].spec.inputs;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    const auto found = by_derivation_.find(name);
    if (found == by_derivation_.end()) {
      pruned_[name].push_back(step);
      continue;
    }
    Node& input = nodes_[found->second];
    input.dependents.push_back(step);
    Node& node = nodes_[step];
    node.inputs.push_back(found->second);
    node.waiting += input.state != StepState::kSucceeded;
    node.dead += IsDead(input.state);
  }
}

void StepGraph::LinkLateDependents(StepId step) {
  const auto found = pruned_.find(nodes_[step].spec.derivation);
  if (found == pruned_.end()) return;
  for (const StepId dependent : found->second) {
    nodes_[step].dependents.push_back(dependent);
    Node& other = nodes_[dependent];
    other.inputs.push_back(step);
    other.waiting += nodes_[step].state != StepState::kSucceeded;
    other.dead += IsDead(nodes_[step].state);
    if (other.wants > 0) Want(step);
  }
  pruned_.erase(found);
}

absl::StatusOr<std::vector<const StepSpec*>> StepGraph::NewInputsFirst(
    const std::vector<StepSpec>& specs) const {
  absl::flat_hash_map<absl::string_view, const StepSpec*> fresh;
  bool late =
      false;  // a step of the graph has a new one as its input: then a cycle may run through the graph
  for (const StepSpec& spec : specs) {
    if (by_derivation_.contains(spec.derivation)) continue;
    fresh.emplace(spec.derivation, &spec);
    late = late || pruned_.contains(spec.derivation);
  }
  const auto spec_of = [&](const std::string& name) -> const StepSpec* {
    if (const auto found = fresh.find(name); found != fresh.end()) return found->second;
    if (!late) return nullptr;
    const auto found = by_derivation_.find(name);
    return found != by_derivation_.end() ? &nodes_[found->second].spec : nullptr;
  };
  struct Visit {
    const StepSpec* spec;
    size_t next = 0;
  };
  std::vector<const StepSpec*> order;
  absl::flat_hash_map<const StepSpec*, bool> done;  // false: on the path
  std::vector<Visit> path;
  for (const StepSpec& root : specs) {
    if (const StepSpec* spec = spec_of(root.derivation); spec == &root && done.emplace(spec, false).second) {
      path.push_back({spec});
    }
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next == visit.spec->inputs.size()) {
        done[visit.spec] = true;
        if (fresh.contains(visit.spec->derivation)) order.push_back(visit.spec);
        path.pop_back();
        continue;
      }
      const StepSpec* input = spec_of(visit.spec->inputs[visit.next++]);
      if (input == nullptr) continue;
      const auto [entry, is_new] = done.emplace(input, false);
      if (is_new) {
        path.push_back({input});
      } else if (!entry->second) {
        return absl::InvalidArgumentError(
            absl::StrCat("derivations need one another in a circle: ", input->derivation,
                         " is an input of itself through ", visit.spec->derivation));
      }
    }
  }
  return order;
}

std::optional<StepId> StepGraph::Find(std::string_view derivation) const {
  const auto found = by_derivation_.find(absl::string_view(derivation.data(), derivation.size()));
  if (found == by_derivation_.end()) return std::nullopt;
  return found->second;
}

std::vector<StepId> StepGraph::DueBackoffs(absl::Time now) const {
  std::vector<StepId> due;
  for (const auto& [time, step] : backoffs_) {
    if (time > now) break;
    due.push_back(step);
  }
  return due;
}

absl::Time StepGraph::NextBackoff() const {
  return backoffs_.empty() ? absl::InfiniteFuture() : backoffs_.begin()->first;
}

absl::StatusOr<std::vector<StepMove>> StepGraph::Plan(StepId step, StepEvent event, StepDetail detail) const {
  return PlanAll({{step, event, std::move(detail)}});
}

absl::StatusOr<std::vector<StepMove>> StepGraph::PlanAll(const std::vector<StepHappening>& happenings) const {
  StepPlanner planner(*this);
  for (const StepHappening& happening : happenings) {
    const absl::Status planned = planner.Happen(happening.step, happening.event, happening.detail);
    if (!planned.ok()) return planned;
  }
  return planner.TakeMoves();
}

std::vector<StepMove> StepGraph::Owed() const {
  StepPlanner planner(*this);
  for (StepId step = 0; step < nodes_.size(); ++step) planner.Settle(step);
  return planner.TakeMoves();
}

std::vector<StepMove> StepGraph::Owed(const std::vector<StepId>& added) const {
  StepPlanner planner(*this);
  for (const StepId step : added) {
    planner.Settle(step);
    for (const StepId dependent : nodes_[step].dependents) planner.Settle(dependent);
  }
  return planner.TakeMoves();
}

absl::Status StepGraph::Apply(const std::vector<StepMove>& moves) {
  StepPlanner planner(*this);
  if (absl::Status fits = planner.Replay(moves); !fits.ok()) return fits;
  for (const StepMove& move : moves) SetState(move.step, move.to, move.detail);
  return absl::OkStatus();
}

void StepGraph::SetState(StepId step, StepState to, const StepDetail& detail) {
  Leave(step);
  Node& node = nodes_[step];
  const int dead = IsDead(to) - IsDead(node.state);
  const int waiting = (to != StepState::kSucceeded) - (node.state != StepState::kSucceeded);
  node.state = to;
  node.detail = detail;
  Enter(step);
  if (dead == 0 && waiting == 0) return;
  for (const StepId dependent : node.dependents) {
    nodes_[dependent].dead += dead;
    nodes_[dependent].waiting += waiting;
  }
}

void StepGraph::Enter(StepId step) {
  Node& node = nodes_[step];
  ++counts_[static_cast<size_t>(node.state)];
  if (node.state == StepState::kReady) {
    node.ready_at = static_cast<int32_t>(ready_.size());
    ready_.push_back(step);
  } else if (node.state == StepState::kBackingOff) {
    backoffs_.emplace(node.detail.not_before, step);
  }
}

void StepGraph::Leave(StepId step) {
  Node& node = nodes_[step];
  --counts_[static_cast<size_t>(node.state)];
  if (node.state == StepState::kReady) {
    const StepId last = ready_.back();
    ready_[node.ready_at] = last;
    nodes_[last].ready_at = node.ready_at;
    ready_.pop_back();
    node.ready_at = -1;
  } else if (node.state == StepState::kBackingOff) {
    backoffs_.erase({node.detail.not_before, step});
  }
}

void StepGraph::Want(StepId root) {
  std::vector<StepId> wanted = {root};
  while (!wanted.empty()) {
    Node& node = nodes_[wanted.back()];
    wanted.pop_back();
    if (node.wants++ == 0) wanted.insert(wanted.end(), node.inputs.begin(), node.inputs.end());
  }
}

void StepGraph::Unwant(StepId root) {
  std::vector<StepId> unwanted = {root};
  while (!unwanted.empty()) {
    Node& node = nodes_[unwanted.back()];
    unwanted.pop_back();
    if (--node.wants == 0) unwanted.insert(unwanted.end(), node.inputs.begin(), node.inputs.end());
  }
}

std::vector<StepId> StepGraph::Unwanted() const {
  std::vector<StepId> unwanted;
  const auto may_go = [this](StepId step) {
    return !wanted(step) && NextStepState(nodes_[step].state, StepEvent::kCancelled).has_value();
  };
  for (StepId step = 0; step < nodes_.size(); ++step) {
    if (may_go(step)) unwanted.push_back(step);
  }
  if (unwanted.empty()) return unwanted;
  std::vector<StepId> order = InputsFirst(unwanted);
  std::reverse(order.begin(), order.end());
  std::erase_if(order, [&](StepId step) { return !may_go(step); });
  return order;
}

std::vector<StepId> StepGraph::InputsFirst(const std::vector<StepId>& roots) const {
  std::vector<StepId> order;
  std::vector<bool> seen(nodes_.size());
  std::vector<std::pair<StepId, size_t>> path;  // a step and its next input
  for (const StepId root : roots) {
    if (!seen[root]) path.emplace_back(root, 0);
    seen[root] = true;
    while (!path.empty()) {
      auto& [step, next] = path.back();
      if (next == nodes_[step].inputs.size()) {
        order.push_back(step);
        path.pop_back();
        continue;
      }
      const StepId input = nodes_[step].inputs[next++];
      if (!seen[input]) path.emplace_back(input, 0);
      seen[input] = true;
    }
  }
  return order;
}

std::vector<std::string> StepGraph::ChainToRoot(StepId step) const {
  std::vector<std::string> chain = {nodes_[step].spec.derivation};
  while (nodes_[step].state == StepState::kDependencyFailed) {
    const std::string& root = nodes_[step].detail.root;
    std::optional<StepId> next;
    for (const StepId input : nodes_[step].inputs) {
      const Node& node = nodes_[input];
      if (!IsDead(node.state)) continue;
      const bool leads = node.spec.derivation == root || node.detail.root == root;
      if (leads || !next.has_value()) next = input;
      if (leads) break;
    }
    if (!next.has_value()) break;
    step = *next;
    chain.push_back(nodes_[step].spec.derivation);
  }
  return chain;
}

std::vector<StepId> StepGraph::AtFault(StepId step) const {
  std::vector<StepId> at_fault, todo = {step};
  std::set<StepId> seen = {step};
  while (!todo.empty()) {
    const StepId next = todo.back();
    todo.pop_back();
    const Node& node = nodes_[next];
    if (node.state == StepState::kFailed || node.state == StepState::kCancelled) at_fault.push_back(next);
    for (const StepId input : node.inputs) {
      if (node.dead > 0 && IsDead(nodes_[input].state) && seen.insert(input).second) todo.push_back(input);
    }
  }
  return at_fault;
}

}  // namespace hydrant
