#include "daemon/coordinator/step_walk.h"

#include <algorithm>
#include <utility>

#include "daemon/coordinator/farm_state.h"

namespace hydrant {
namespace {

bool IsMarked(const DerivationMarks& marks, const LinkedDerivation* derivation) {
  return derivation->number < marks.size() && marks[derivation->number];
}

}  // namespace

bool Mark(DerivationMarks& marks, const LinkedDerivation* derivation) {
  if (derivation->number >= marks.size()) marks.resize(2 * (derivation->number + 1));
  if (marks[derivation->number]) return false;
  return marks[derivation->number] = true;
}

std::vector<const LinkedDerivation*> StepWalk::Walk(const std::vector<const LinkedDerivation*>& roots,
                                                    OutcomeBatch& batch) {
  const NumberedWalk walk = PrunedWalk(
      Unwalked(roots), [this](uint32_t number) { return NodeOf(number); },
      [this](std::string_view path) { return catalogue_.FindPath(path) != nullptr; }, presence_);
  std::vector<const LinkedDerivation*> needed;
  needed.reserve(walk.needed.size());
  batch.steps.reserve(walk.needed.size());
  for (const uint32_t number : walk.needed) {
    needed.push_back(met_[number]);
    Mark(walked_, met_[number]);
    batch.steps.insert(met_[number]->loaded->path);
  }
  for (const auto& [number, where] : walk.held) batch.held[met_[number]->loaded->path] = where;
  return needed;
}

std::vector<uint32_t> StepWalk::Unwalked(const std::vector<const LinkedDerivation*>& derivations) {
  std::vector<uint32_t> numbers;
  numbers.reserve(derivations.size());
  for (const LinkedDerivation* derivation : derivations) {
    if (IsMarked(walked_, derivation)) continue;
    if (derivation->number >= met_.size()) met_.resize(2 * (derivation->number + 1));
    met_[derivation->number] = derivation;
    numbers.push_back(derivation->number);
  }
  return numbers;
}

NumberedNode StepWalk::NodeOf(uint32_t number) {
  NumberedNode node{.inputs = Unwalked(met_[number]->inputs)};
  for (const auto& [name, output] : met_[number]->loaded->parsed.outputs) node.outputs.push_back(output.path);
  return node;
}

std::vector<const LinkedDerivation*> WithWhatStepsNeed(std::vector<const LinkedDerivation*> fresh,
                                                       const std::vector<const LinkedDerivation*>& steps) {
  DerivationMarks there, below;
  for (const LinkedDerivation* derivation : fresh) Mark(there, derivation);
  const auto add = [&](const LinkedDerivation* derivation) {
    if (Mark(there, derivation)) fresh.push_back(derivation);
  };
  for (const LinkedDerivation* step : steps) {
    add(step);
    for (const LinkedDerivation* input : step->inputs) add(input);
    if (!NeedsClosure(step->required_features)) continue;
    std::vector<const LinkedDerivation*> open = {step};
    while (!open.empty()) {
      const LinkedDerivation* derivation = open.back();
      open.pop_back();
      if (!Mark(below, derivation)) continue;
      add(derivation);
      open.insert(open.end(), derivation->inputs.begin(), derivation->inputs.end());
    }
  }
  std::sort(fresh.begin(), fresh.end(), [](const auto* a, const auto* b) { return a->number < b->number; });
  return fresh;
}

// What a cache has needs no inputs, unless the .drv itself travels.
std::set<std::string> SourcesOf(const std::vector<const LinkedDerivation*>& steps,
                                const std::vector<const LinkedDerivation*>& all, const OutcomeBatch& batch) {
  std::set<std::string> sources;
  const auto add = [&sources](const LinkedDerivation* derivation) {
    const std::set<std::string>& more = derivation->loaded->parsed.input_sources;
    sources.insert(more.begin(), more.end());
  };
  bool closures = false;
  for (const LinkedDerivation* step : steps) {
    closures = closures || NeedsClosure(step->required_features);
    if (!batch.held.contains(step->loaded->path)) add(step);
  }
  if (closures) {
    for (const LinkedDerivation* derivation : all) add(derivation);
  }
  return sources;
}

}  // namespace hydrant
