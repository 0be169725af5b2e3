#include "daemon/schedule/estimate.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace hydrant {
namespace {

// Of what was never built here. Most derivations of a package set are sources and small packages.
constexpr absl::Duration kGuess = absl::Minutes(1);

// Halfway to the newest, so that old hardware and old versions fade.
void Fold(absl::flat_hash_map<std::string, absl::Duration>& known, const std::string& key,
          absl::Duration duration) {
  const auto [entry, is_new] = known.try_emplace(key, duration);
  if (!is_new) entry->second = (entry->second + duration) / 2;
}

absl::string_view Key(std::string_view name) { return {name.data(), name.size()}; }

}  // namespace

std::string PackageOf(std::string_view name) {
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '-' && !absl::ascii_isalpha(name[i + 1])) return std::string(name.substr(0, i));
  }
  return std::string(name);
}

void Estimate::Observe(std::string_view name, absl::Duration duration) {
  Fold(by_name_, std::string(name), duration);
  Fold(by_package_, PackageOf(name), duration);
}

absl::Duration Estimate::Of(std::string_view name) const {
  if (const auto found = by_name_.find(Key(name)); found != by_name_.end()) return found->second;
  const auto found = by_package_.find(PackageOf(name));
  return found != by_package_.end() ? found->second : kGuess;
}

bool Estimate::Known(std::string_view name) const {
  return by_name_.contains(Key(name)) || by_package_.contains(PackageOf(name));
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
