// What the consistency rules cost: 2,000 variants over 20,000 derivations, generated, beside a walk of each
// variant's closure (of every twentieth variant, since it takes so long). Both in turn in one run.
// usage: audit_bench [DERIVATIONS [VARIANTS]]
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/audit/closure_audit.h"
#include "daemon/audit/derivation_names.h"
#include "lib/matrix/audit_rule.h"
#include "tests/bench/measure.h"

namespace hydrant {
namespace {

constexpr size_t kSample = 20;

struct Made {
  std::string path, output, name, propagated;
  std::vector<size_t> inputs, passed_on;
};
struct Tree {
  std::vector<Made> derivations;  // inputs first
  std::vector<size_t> variants;
};

// The lowest hold three releases of CUDA with a cudnn each, of which two leak into a part of the rest.
std::string NameOf(size_t i, std::mt19937& random) {
  static const char* const kFirst[] = {"cudatoolkit-12.9.1", "cudatoolkit-12.6.3", "cudatoolkit-11.8.0",
                                       "cudnn-9.1.0",        "cudnn-8.9.7",        "nccl-2.21.5-1"};
  if (i < std::size(kFirst)) return kFirst[i];
  const std::string number = std::to_string(i);
  if (random() % 3 != 0) return "package" + number + "-1.0";
  // Some modules are there more than once.
  return "python3.12-module" + std::to_string(random() % 50 == 0 ? i / 2 : i) + "-1.0";
}

Tree Generate(size_t derivations, size_t variants) {
  std::mt19937 random(1);
  Tree tree;
  std::vector<size_t> modules;
  for (size_t i = 0; i < derivations; ++i) {
    Made made{.name = NameOf(i, random)};
    std::set<size_t> inputs, passed_on;
    for (int n = 0; i > 6 && n < 8; ++n) {
      const size_t back = 1 + random() % (random() % 4 == 0 ? i : std::min<size_t>(i, 400));
      if (i - back >= 6) inputs.insert(i - back);
    }
    if (i >= derivations / 2 && random() % 40 == 0) inputs.insert(random() % 100 == 0 ? random() % 6 : 0);
    const bool module = made.name.starts_with("python");
    for (int n = 0; module && modules.size() > 20 && n < 3; ++n) {
      const size_t reach = std::min<size_t>(modules.size(), 400);
      passed_on.insert(modules[modules.size() - 1 - random() % reach]);
    }
    if (module) modules.push_back(i);
    std::string all = made.name + std::to_string(i);
    inputs.insert(passed_on.begin(), passed_on.end());
    made.path = MadeStorePath("drv" + all, made.name + ".drv");
    made.output = MadeStorePath("out" + all, made.name);
    for (size_t input : passed_on) made.propagated += tree.derivations[input].output + " ";
    made.inputs.assign(inputs.begin(), inputs.end());
    made.passed_on.assign(passed_on.begin(), passed_on.end());
    if (i + variants >= derivations) tree.variants.push_back(i);
    tree.derivations.push_back(std::move(made));
  }
  return tree;
}

// How often each rule spoke, by variant.
using Counts = std::map<std::string, size_t>;

// ---- The peer: each closure walked for itself, each name read where it is met.
std::set<size_t> Reachable(const Tree& tree, size_t root, std::vector<size_t> Made::*edges) {
  std::set<size_t> seen = {root};
  std::vector<size_t> todo = {root};
  while (!todo.empty()) {
    const size_t at = todo.back();
    todo.pop_back();
    for (size_t input : tree.derivations[at].*edges) {
      if (seen.insert(input).second) todo.push_back(input);
    }
  }
  return seen;
}

Counts Walk(const Tree& tree, size_t root, const ClosureAudit::Libraries& libraries) {
  Counts counts;
  std::set<std::string> releases, flavours;
  for (size_t at : Reachable(tree, root, &Made::inputs)) {
    const Made& made = tree.derivations[at];
    if (const auto release = CudaReleaseOf(made.name)) releases.insert(release->Text());
    const std::string library(NamedLibraryOf(made.name));
    const auto own = libraries.find(library);
    if (own != libraries.end() && own->second.front() != made.path) ++counts[std::string(kNamedPackage)];
  }
  if (releases.size() > 1) counts[std::string(kTwoCudaReleases)] = releases.size() - 1;
  std::map<std::string, size_t> modules;
  for (size_t at : Reachable(tree, root, &Made::passed_on)) {
    if (const auto module = PythonModuleOf(tree.derivations[at].name)) ++modules[module->module];
  }
  for (const auto& [module, holders] : modules) {
    if (holders > 1) ++counts[std::string(kDuplicateModules)];
  }
  return counts;
}

Counts CountsOf(const std::vector<Finding>& findings) {
  Counts counts;
  for (const Finding& finding : findings) ++counts[finding.rule];
  return counts;
}

struct Times {
  std::vector<double> take_in, judge, walk;
};

void TakeIn(ClosureAudit& audit, const Tree& tree) {
  for (const Made& made : tree.derivations) {
    ClosureAudit::Facts facts{.path = made.path, .outputs = {made.output}};
    for (size_t input : made.inputs) facts.inputs.push_back(tree.derivations[input].path);
    facts.environment = {{"propagatedBuildInputs", made.propagated}};
    audit.Take(facts);
  }
}

// False when the two do not find the same.
bool Round(const Tree& tree, Times& times, Counts& found) {
  CpuLaps cpu;
  ClosureAudit audit;
  TakeIn(audit, tree);
  times.take_in.push_back(cpu.Lap());
  std::vector<std::string_view> roots;
  for (size_t variant : tree.variants) roots.push_back(tree.derivations[variant].path);
  const ClosureAudit::Libraries libraries = audit.UsedByMost(roots);
  std::vector<Counts> ours, walked;
  for (std::string_view root : roots) {
    ours.push_back(CountsOf(audit.Judge({.derivation = root, .libraries = &libraries})));
  }
  times.judge.push_back(cpu.Lap());
  for (size_t i = 0; i < roots.size(); i += kSample)
    walked.push_back(Walk(tree, tree.variants[i], libraries));
  times.walk.push_back(cpu.Lap() * static_cast<double>(roots.size()) / static_cast<double>(walked.size()));
  found.clear();
  for (const Counts& counts : ours) {
    for (const auto& [rule, findings] : counts) found[rule] += findings;
  }
  for (size_t i = 0; i < walked.size(); ++i) {
    if (walked[i] != ours[i * kSample]) return false;
  }
  return true;
}

int Main(int argc, char** argv) {
  const std::optional<BenchSizes> sizes = ReadSizes("audit_bench", argc, argv);
  if (!sizes) return 2;
  const auto [derivations, variants] = *sizes;
  const Tree tree = Generate(derivations, variants);
  Times times;
  Counts found;
  for (int round = 0; round < 3; ++round) {
    if (!Round(tree, times, found)) {
      std::fprintf(stderr, "audit_bench: the two do not find the same\n");
      return 1;
    }
  }
  std::printf("%zu variants over %zu derivations; median CPU of 3 rounds, ms\n", variants, derivations);
  for (const auto& [rule, findings] : found) std::printf("  %-20s %zu findings\n", rule.c_str(), findings);
  const double judge = Median(times.judge), take_in = Median(times.take_in), walk = Median(times.walk);
  std::printf(
      "  judged, all known already %10.1f   walk of each closure %10.1f (from every %zuth)   %.0f times\n",
      judge, walk, kSample, walk / judge);
  std::printf("  with all taken in first   %10.1f   %58.0f times\n", judge + take_in,
              walk / (judge + take_in));
  return 0;
}

}  // namespace
}  // namespace hydrant

int main(int argc, char** argv) { return hydrant::Main(argc, argv); }
