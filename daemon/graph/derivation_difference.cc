#include "daemon/graph/derivation_difference.h"

#include <algorithm>
#include <utility>

#include "daemon/graph/text_difference.h"

namespace hydrant {

size_t DerivationDifference::Find(DerivationNumber before, DerivationNumber after) {
  std::vector<uint64_t> way;
  Pair pair{before, after};
  uint32_t found = kOpen;
  while (found == kOpen) {
    const auto [place, is_new] = steps_.try_emplace(Key(pair));
    if (is_new) {
      way.push_back(Key(pair));
      const Step step = Look(pair);
      steps_[Key(pair)] = step;
      found = step.difference;
      if (step.next) pair = *step.next;
    } else {
      found = place->second.difference;
      // Real derivations need no circle; what claims one is told as far as it goes.
      if (found == kOpen) found = EndWith({.before = pair.first, .after = pair.second}).difference;
    }
  }
  for (uint64_t key : way) steps_[key].difference = found;
  return found;
}

std::vector<DerivationDifference::Pair> DerivationDifference::Chain(DerivationNumber before,
                                                                    DerivationNumber after) const {
  std::vector<Pair> chain;
  std::optional<Pair> pair = Pair{before, after};
  while (pair && chain.size() <= steps_.size()) {
    const auto step = steps_.find(Key(*pair));
    if (step == steps_.end()) break;
    chain.push_back(*pair);
    pair = step->second.next;
  }
  return chain;
}

DerivationDifference::Step DerivationDifference::EndWith(Difference difference) {
  differences_.push_back(std::move(difference));
  return {.difference = static_cast<uint32_t>(differences_.size() - 1)};
}

DerivationDifference::Step DerivationDifference::Look(Pair pair) {
  const auto [before, after] = pair;
  const bool other_package = table_.family(before) != table_.family(after);
  const bool other_version = table_.package_name(before).version != table_.package_name(after).version;
  const bool recorded = table_.filled(before) && table_.filled(after);
  const Inputs inputs = recorded ? MatchInputs(pair) : Inputs();
  if (other_package || other_version) {
    if (const std::optional<Pair> next = SameVersions(pair, inputs)) return {.next = next};
    return EndWith({.kind = DifferenceKind::kVersion, .before = before, .after = after});
  }
  if (!recorded) return EndWith({.before = before, .after = after});
  if (table_.system(before) != table_.system(after)) {
    return EndWith({.kind = DifferenceKind::kSystem,
                    .before = before,
                    .after = after,
                    .old_value = std::string(table_.system(before)),
                    .new_value = std::string(table_.system(after))});
  }
  if (const std::optional<Step> step = LookAtInputs(pair, inputs)) return *step;
  return EndWith(OwnDifference(pair));
}

namespace {

bool IsOrStarts(std::string_view version, std::string_view of_input) {
  return version.starts_with(of_input) &&
         (version.size() == of_input.size() || version[of_input.size()] == '-');
}

}  // namespace

// "gcc-wrapper-13.2.0" is of that version because its gcc is, and "python3-3.12.4-env" because its Python is.
std::optional<DerivationDifference::Pair> DerivationDifference::SameVersions(Pair pair,
                                                                             const Inputs& inputs) const {
  const std::string_view before = table_.package_name(pair.first).version;
  const std::string_view after = table_.package_name(pair.second).version;
  for (const Pair& input : inputs.changed) {
    const std::string_view old_version = table_.package_name(input.first).version;
    const std::string_view new_version = table_.package_name(input.second).version;
    if (old_version.empty() || new_version.empty() || old_version == new_version) continue;
    if (table_.fixed_output(input.first) || table_.fixed_output(input.second)) continue;
    if (IsOrStarts(before, old_version) && IsOrStarts(after, new_version)) return input;
  }
  return std::nullopt;
}

std::optional<DerivationDifference::Step> DerivationDifference::LookAtInputs(Pair pair,
                                                                             const Inputs& inputs) {
  const auto name = [this](DerivationNumber d) { return table_.name(d); };
  // The first by name; what changed before what came or went.
  std::optional<std::string_view> first;
  if (!inputs.changed.empty()) first = name(inputs.changed.front().first);
  const auto ended = [&](DifferenceKind kind, DerivationNumber input) {
    return EndWith(
        {.kind = kind, .before = pair.first, .after = pair.second, .what = std::string(name(input))});
  };
  const bool goes = !inputs.removed.empty() && (!first || name(inputs.removed.front()) < *first);
  if (goes) first = name(inputs.removed.front());
  const bool comes = !inputs.added.empty() && (!first || name(inputs.added.front()) < *first);
  if (comes) return ended(DifferenceKind::kInputAdded, inputs.added.front());
  if (goes) return ended(DifferenceKind::kInputRemoved, inputs.removed.front());
  if (inputs.changed.empty()) {
    if (inputs.uncertain.empty()) return std::nullopt;
    return Step{.next = inputs.uncertain.front()};
  }
  const auto [before, after] = inputs.changed.front();
  if (!table_.fixed_output(before) || !table_.fixed_output(after)) return Step{.next = Pair{before, after}};
  const bool renamed = name(before) != name(after);
  return EndWith({.kind = DifferenceKind::kSource,
                  .before = pair.first,
                  .after = pair.second,
                  .what = std::string(name(before)),
                  .old_value = renamed ? std::string(name(before)) : "",
                  .new_value = renamed ? std::string(name(after)) : ""});
}

namespace {

template <class Part>
bool SameParts(const std::vector<DerivationFields::Output>& a, const std::vector<DerivationFields::Output>& b,
               Part part) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const auto& x, const auto& y) { return x.*part == y.*part; });
}

// The first plain file that is not on both sides, by its name without the hash.
void FindSource(const DerivationFields& before, const DerivationFields& after, Difference& difference) {
  const auto only_in = [](const auto& here, const auto& there) -> std::string_view {
    for (std::string_view path : here) {
      if (!std::binary_search(there.begin(), there.end(), path)) return path;
    }
    return {};
  };
  constexpr size_t kPrefix = sizeof("/nix/store/0123456789abcdfghijklmnpqrsvwxyz-") - 1;
  const auto name = [](std::string_view path) {
    return std::string(path.size() > kPrefix ? path.substr(kPrefix) : path);
  };
  difference.kind = DifferenceKind::kSource;
  difference.old_value = name(only_in(before.sources, after.sources));
  difference.new_value = name(only_in(after.sources, before.sources));
  difference.what = difference.old_value.empty() ? difference.new_value : difference.old_value;
  if (difference.old_value == difference.new_value) difference.old_value = difference.new_value = "";
}

// The first variable by name that is not the same on both sides; false: there is none.
bool FindVariable(const DerivationFields& before, const DerivationFields& after, Difference& difference) {
  auto old_one = before.environment.begin(), new_one = after.environment.begin();
  const auto old_end = before.environment.end(), new_end = after.environment.end();
  while (old_one != old_end && new_one != new_end && *old_one == *new_one) ++old_one, ++new_one;
  if (old_one == old_end && new_one == new_end) return false;
  const bool gone = new_one == new_end || (old_one != old_end && old_one->first < new_one->first);
  const bool added = !gone && (old_one == old_end || new_one->first < old_one->first);
  difference.kind = DifferenceKind::kEnvironment;
  difference.what = std::string(gone ? old_one->first : new_one->first);
  const TextDifference parts = DifferenceOfTexts(added ? std::string_view() : old_one->second,
                                                 gone ? std::string_view() : new_one->second);
  difference.old_value = parts.before;
  difference.new_value = parts.after;
  return true;
}

}  // namespace

Difference DerivationDifference::OwnDifference(Pair pair) {
  Difference difference{.before = pair.first, .after = pair.second};
  const std::optional<DerivationFields> before = read_(pair.first), after = read_(pair.second);
  if (!before || !after) return difference;
  using Output = DerivationFields::Output;
  if (!SameParts(before->outputs, after->outputs, &Output::name)) {
    difference.kind = DifferenceKind::kOutputs;
  } else if (!SameParts(before->outputs, after->outputs, &Output::hash)) {
    difference.kind = DifferenceKind::kSource;
    difference.what = std::string(table_.name(pair.first));
  } else if (before->sources != after->sources) {
    FindSource(*before, *after, difference);
  } else if (before->builder != after->builder) {
    difference.kind = DifferenceKind::kBuilder;
    difference.old_value = std::string(before->builder);
    difference.new_value = std::string(after->builder);
  } else if (before->arguments != after->arguments) {
    difference.kind = DifferenceKind::kArguments;
  } else if (!FindVariable(*before, *after, difference)) {
    difference.kind = DifferenceKind::kUsedOutputs;
  }
  return difference;
}

}  // namespace hydrant
