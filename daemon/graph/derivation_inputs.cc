// Which input of the older derivation is which of the newer one.
#include <algorithm>

#include "daemon/graph/derivation_difference.h"

namespace hydrant {
namespace {

// The end of the run that begins at `from` and is of one package.
size_t RunEnd(const DerivationTable& table, std::span<const DerivationNumber> inputs, size_t from) {
  size_t end = from + 1;
  while (end < inputs.size() && table.package(inputs[end]) == table.package(inputs[from])) ++end;
  return end;
}

}  // namespace

DerivationDifference::Inputs DerivationDifference::MatchInputs(Pair pair) const {
  Inputs inputs;
  const auto before = table_.inputs(pair.first), after = table_.inputs(pair.second);
  size_t i = 0, j = 0;
  while (i < before.size() || j < after.size()) {
    int order = 0;  // of the packages: which side's comes first
    if (i == before.size() || j == after.size()) {
      order = i == before.size() ? 1 : -1;
    } else if (table_.package(before[i]) != table_.package(after[j])) {
      order = table_.package_name(before[i]).package < table_.package_name(after[j]).package ? -1 : 1;
    }
    const size_t i_end = order <= 0 ? RunEnd(table_, before, i) : i;
    const size_t j_end = order >= 0 ? RunEnd(table_, after, j) : j;
    MatchPackage(before.subspan(i, i_end - i), after.subspan(j, j_end - j), inputs);
    i = i_end;
    j = j_end;
  }
  if (!inputs.added.empty() && !inputs.removed.empty()) MatchFamilies(inputs);
  return inputs;
}

// Of one package on both sides: the same ones go, then one name meets its like, the rest in order.
void DerivationDifference::MatchPackage(std::span<const DerivationNumber> before,
                                        std::span<const DerivationNumber> after, Inputs& inputs) const {
  const auto note = [&](DerivationNumber old_one, DerivationNumber new_one) {
    const bool certain = table_.CertainlyDiffer(old_one, new_one);
    (certain ? inputs.changed : inputs.uncertain).emplace_back(old_one, new_one);
  };
  if (before.size() == 1 && after.size() == 1) {
    if (!table_.Same(before[0], after[0])) note(before[0], after[0]);
    return;
  }
  std::vector<DerivationNumber> old_ones(before.begin(), before.end()), new_ones(after.begin(), after.end());
  const auto pair_off = [&](auto match, auto take) {
    std::erase_if(old_ones, [&](DerivationNumber d) {
      const auto found = std::find_if(new_ones.begin(), new_ones.end(),
                                      [&](DerivationNumber other) { return match(d, other); });
      if (found == new_ones.end()) return false;
      take(d, *found);
      new_ones.erase(found);
      return true;
    });
  };
  pair_off([&](auto a, auto b) { return table_.Same(a, b); }, [](auto, auto) {});
  pair_off([&](auto a, auto b) { return table_.name(a) == table_.name(b); }, note);
  pair_off([](auto, auto) { return true; }, note);
  inputs.removed.insert(inputs.removed.end(), old_ones.begin(), old_ones.end());
  inputs.added.insert(inputs.added.end(), new_ones.begin(), new_ones.end());
}

// "cuda12.8-cudnn" went and "cuda12.9-cudnn" came: one package of two releases of its set.
void DerivationDifference::MatchFamilies(Inputs& inputs) const {
  const size_t changed = inputs.changed.size();
  std::erase_if(inputs.removed, [&](DerivationNumber d) {
    const auto found = std::find_if(inputs.added.begin(), inputs.added.end(), [&](DerivationNumber other) {
      return table_.family(d) == table_.family(other);
    });
    if (found == inputs.added.end()) return false;
    inputs.changed.emplace_back(d, *found);
    inputs.added.erase(found);
    return true;
  });
  if (inputs.changed.size() == changed) return;
  std::stable_sort(inputs.changed.begin(), inputs.changed.end(), [this](const Pair& a, const Pair& b) {
    return table_.package_name(a.first).package < table_.package_name(b.first).package;
  });
}

}  // namespace hydrant
