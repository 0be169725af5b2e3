#include "daemon/schedule/estimate.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hydrant {
namespace {

// Of what was never built here. Most derivations of a package set are sources and small packages.
constexpr absl::Duration kGuess = absl::Minutes(1);

absl::string_view Key(std::string_view text) { return {text.data(), text.size()}; }

// Halfway to the newest, so that old hardware and old versions fade.
void Fold(absl::Duration& known, absl::Duration newest) {
  if (newest > absl::ZeroDuration()) known = known > absl::ZeroDuration() ? (known + newest) / 2 : newest;
}

void Fold(Cost& known, const Cost& newest) {
  Fold(known.building, newest.building);
  Fold(known.cpu, newest.cpu);
  if (newest.bytes > 0) known.bytes = known.bytes > 0 ? known.bytes / 2 + newest.bytes / 2 : newest.bytes;
}

// The tags keep a package from being taken for a name without version.
std::string PackageKey(std::string_view name) { return PackageOf(name) + "\np"; }
std::string AnySetKey(std::string_view name) { return PackageOfAnySet(name) + "\ns"; }

std::string CheckKey(std::string_view check, std::string_view package) {
  return absl::StrCat(Key(check), "\n", Key(package));
}

}  // namespace

std::string PackageOf(std::string_view name) {
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '-' && !absl::ascii_isalpha(name[i + 1])) return std::string(name.substr(0, i));
  }
  return std::string(name);
}

std::string PackageOfAnySet(std::string_view name) {
  for (const std::string_view set : {std::string_view("python"), std::string_view("cuda")}) {
    if (!name.starts_with(set)) continue;
    const size_t end = name.find_first_not_of("0123456789.", set.size());
    if (end == set.size() || end >= name.size() - 1 || name[end] != '-' || !absl::ascii_isalpha(name[end + 1])) continue;
    return PackageOf(name.substr(end + 1));
  }
  return PackageOf(name);
}

void Estimate::Observe(std::string_view name, const Cost& cost) {
  if (cost.building <= absl::ZeroDuration()) return;  // a worker that could not say
  Fold(costs_[Key(name)], cost);
  Fold(costs_[PackageKey(name)], cost);
  Fold(costs_[AnySetKey(name)], cost);
}

std::optional<Cost> Estimate::CostOf(std::string_view name) const {
  auto found = costs_.find(Key(name));
  if (found == costs_.end()) found = costs_.find(PackageKey(name));
  if (found == costs_.end()) found = costs_.find(AnySetKey(name));
  if (found == costs_.end()) return std::nullopt;
  return found->second;
}

absl::Duration Estimate::Of(std::string_view name) const {
  const std::optional<Cost> cost = CostOf(name);
  return cost ? cost->building : kGuess;
}

void Estimate::ObserveCheck(std::string_view check, std::string_view name, absl::Duration running) {
  if (running <= absl::ZeroDuration()) return;
  Fold(checks_[CheckKey(check, PackageOfAnySet(name))], running);
  Fold(checks_[CheckKey(check, "")], running);
}

std::optional<absl::Duration> Estimate::CheckTime(std::string_view check, std::string_view name) const {
  for (const std::string& package : {PackageOfAnySet(name), std::string()}) {
    const auto found = checks_.find(CheckKey(check, package));
    if (found != checks_.end()) return found->second;
  }
  return std::nullopt;
}

std::vector<absl::Duration> RemainingPaths(const StepGraph& graph, const Estimate& estimate) {
  const auto size = static_cast<StepId>(graph.size());
  std::vector<absl::Duration> remaining(size);
  std::vector<size_t> open_dependents(size);
  std::vector<StepId> done;  // all dependents of these are
  for (StepId step = 0; step < size; ++step) {
    open_dependents[step] = graph.dependents(step).size();
    if (open_dependents[step] == 0) done.push_back(step);
  }
  while (!done.empty()) {
    const StepId step = done.back();
    done.pop_back();
    // So far: the longest path above it.
    remaining[step] = IsFinal(graph.state(step)) ? absl::ZeroDuration()
                                                 : remaining[step] + estimate.Of(graph.spec(step).name);
    for (const StepId input : graph.inputs(step)) {
      remaining[input] = std::max(remaining[input], remaining[step]);
      if (--open_dependents[input] == 0) done.push_back(input);
    }
  }
  return remaining;
}

}  // namespace hydrant
