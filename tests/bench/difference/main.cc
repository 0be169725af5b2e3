// What the difference of two evaluations costs: 2,000 variants over 20,000 derivations, generated, beside the
// same walk over maps of strings. Both in turn in one run. usage: difference_bench [DERIVATIONS [VARIANTS]]
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/graph/derivation_difference.h"
#include "tests/bench/measure.h"

namespace hydrant {
namespace {

struct Made {
  std::string path, output, name;
  std::vector<std::string> inputs;
  bool fixed = false;
};
struct Evaluation {
  std::vector<Made> derivations;      // inputs first
  std::vector<std::string> variants;  // .drv paths
};

// The shape of a package set: a third are sources, the rest need some eight of what is below them, the newest
// `variants` are what is asked for. `changed`: places of packages that have another version.
Evaluation Generate(size_t derivations, size_t variants, const std::set<size_t>& changed) {
  std::mt19937 random(1);
  Evaluation evaluation;
  for (size_t i = 0; i < derivations; ++i) {
    const bool fixed = random() % 3 == 0 && i + variants < derivations;
    std::set<size_t> inputs;
    for (int n = 0; !fixed && i > 0 && n < 8; ++n) {
      // Mostly of what is near, else of anything.
      const size_t back = 1 + random() % (random() % 4 == 0 ? i : std::min<size_t>(i, 400));
      inputs.insert(i - back);
    }
    Made made{.name = "package" + std::string(1, static_cast<char>('a' + i % 26)) + "x" + std::to_string(i) +
                      "-" + (changed.contains(i) ? "2.0" : "1.0"),
              .fixed = fixed};
    std::string all = made.name;
    for (size_t input : inputs) {
      made.inputs.push_back(evaluation.derivations[input].path);
      all += made.inputs.back();
    }
    made.path = MadeStorePath("drv" + all, made.name + ".drv");
    made.output = MadeStorePath("out" + all, made.name);
    if (i + variants >= derivations) evaluation.variants.push_back(made.path);
    evaluation.derivations.push_back(std::move(made));
  }
  return evaluation;
}

// ---- The peer: the same question asked of parsed derivations as they are.
class Plain {
 public:
  Plain(const Evaluation& before, const Evaluation& after) {
    for (const Evaluation* evaluation : {&before, &after}) {
      for (const Made& made : evaluation->derivations) by_path_[made.path] = &made;
    }
  }
  std::string Find(const std::string& before, const std::string& after) {
    const auto known = memo_.find({before, after});
    if (known != memo_.end()) return known->second;
    return memo_[{before, after}] = Look(*by_path_.at(before), *by_path_.at(after));
  }

 private:
  std::string Look(const Made& before, const Made& after) {
    if (before.name != after.name) return before.name + " → " + after.name;
    std::map<std::string, std::string> older, newer;
    for (const std::string& path : before.inputs) older[PackageOf(path)] = path;
    for (const std::string& path : after.inputs) newer[PackageOf(path)] = path;
    for (const auto& [package, path] : older) {
      const auto other = newer.find(package);
      if (other == newer.end()) return package + " is gone";
      if (by_path_.at(path)->output != by_path_.at(other->second)->output) return Find(path, other->second);
    }
    return "itself";
  }
  static std::string PackageOf(const std::string& path) {
    return std::string(SplitPackageName(NameOfDerivation(path)).package);
  }
  std::map<std::string, const Made*> by_path_;
  std::map<std::pair<std::string, std::string>, std::string> memo_;
};

struct Times {
  std::vector<double> take_in, walk, plain_take_in, plain_walk;
};

void TakeIn(DerivationTable& table, const Evaluation& evaluation) {
  for (const Made& made : evaluation.derivations) {
    DerivationTable::Facts facts{.path = made.path, .outputs = {made.output}, .fixed_output = made.fixed};
    facts.inputs.assign(made.inputs.begin(), made.inputs.end());
    table.Fill(facts);
  }
}

// How many variants changed, by both; a difference between them is an error.
bool Round(const Evaluation& before, const Evaluation& after, Times& times, size_t& changed, size_t& causes) {
  CpuLaps cpu;
  DerivationTable table;
  TakeIn(table, before);
  TakeIn(table, after);
  times.take_in.push_back(cpu.Lap());
  std::vector<std::string> said;
  DerivationDifference difference(table, [](DerivationNumber) { return DerivationFields(); });
  for (size_t i = 0; i < after.variants.size(); ++i) {
    const DerivationNumber a = table.Meet(before.variants[i]), b = table.Meet(after.variants[i]);
    if (table.Same(a, b)) continue;
    said.push_back(DescribeDifference(table, difference.differences()[difference.Find(a, b)]));
  }
  times.walk.push_back(cpu.Lap());
  Plain plain(before, after);
  times.plain_take_in.push_back(cpu.Lap());
  std::vector<std::string> plainly;
  for (size_t i = 0; i < after.variants.size(); ++i) {
    if (before.variants[i] != after.variants[i])
      plainly.push_back(plain.Find(before.variants[i], after.variants[i]));
  }
  times.plain_walk.push_back(cpu.Lap());
  changed = said.size();
  causes = std::set<std::string>(said.begin(), said.end()).size();
  return said.size() == plainly.size() &&
         causes == std::set<std::string>(plainly.begin(), plainly.end()).size();
}

int Main(int argc, char** argv) {
  const std::optional<BenchSizes> sizes = ReadSizes("difference_bench", argc, argv);
  if (!sizes) return 2;
  const auto [derivations, variants] = *sizes;
  std::set<size_t> changed_places;
  for (size_t i = 1; i <= 30; ++i) changed_places.insert(derivations * i / 40);
  const Evaluation before = Generate(derivations, variants, {}),
                   after = Generate(derivations, variants, changed_places);
  Times times;
  size_t changed = 0, causes = 0;
  for (int round = 0; round < 7; ++round) {
    if (!Round(before, after, times, changed, causes)) {
      std::fprintf(stderr, "difference_bench: the two do not say the same\n");
      return 1;
    }
  }
  std::printf(
      "%zu variants over %zu derivations twice: %zu changed by %zu causes; median CPU of 7 rounds, ms\n",
      variants, derivations, changed, causes);
  const double ours = Median(times.walk), plain = Median(times.plain_walk);
  std::printf("  walk, all known already   %8.2f   maps of strings %8.2f   %.1f times\n", ours, plain,
              plain / ours);
  const double ours_all = ours + Median(times.take_in), plain_all = plain + Median(times.plain_take_in);
  std::printf("  with both taken in first  %8.2f   maps of strings %8.2f   %.1f times\n", ours_all, plain_all,
              plain_all / ours_all);
  return 0;
}

}  // namespace
}  // namespace hydrant

int main(int argc, char** argv) { return hydrant::Main(argc, argv); }
