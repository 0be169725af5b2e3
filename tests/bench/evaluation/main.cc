// Evaluates IMPORTS x 10 variants of a generated tree once and prints what it took, itself and its processes,
// as JSON.
//   evaluation_bench TREE FOLDER shard|scatter|one IMPORTS EVALUATORS MEMORY
#include <stdlib.h>
#include <sys/resource.h>

#include <atomic>
#include <iostream>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "daemon/evaluate/nix_evaluator.h"

namespace hydrant {
namespace {

Matrix BenchMatrix(int imports) {
  Matrix matrix{.name = "bench"};
  matrix.nixpkgs.recipe = "recipe.nix";
  matrix.nixpkgs.recipe_text = "{ nixpkgs, slice, ... }: import nixpkgs { inherit slice; }";
  Axis cuda{.name = "cuda"};
  for (int i = 0; i < imports; ++i) cuda.values.push_back({{absl::StrCat("12.", i)}});
  matrix.axes.push_back(std::move(cuda));
  for (int i = 0; i < 10; ++i) matrix.packages.push_back(absl::StrCat("p", i));
  return matrix;
}

double Seconds(const timeval& time) { return time.tv_sec + time.tv_usec / 1e6; }

int Bench(char** argv) {
  const std::string mode = argv[3];
  NixEvaluator::Options options{.nix = {.store_root = std::string(argv[2]) + "/root", .folder = argv[2]},
                                .evaluators = mode == "one" ? 1 : atoi(argv[5]),
                                .memory = static_cast<uint64_t>(atoll(argv[6])),
                                .scatter = mode == "scatter"};
  if (mode == "one") options.imports_in_a_process = 1 << 20;
  const Matrix matrix = BenchMatrix(atoi(argv[4]));
  const auto expansion = ExpandMatrix(matrix, "x86_64-linux");
  auto evaluator = NixEvaluator::Open(std::move(options));
  if (!expansion.ok() || !evaluator.ok()) return 1;
  std::vector<size_t> variants(expansion->variants.size());
  for (size_t i = 0; i < variants.size(); ++i) variants[i] = i;
  const EvaluationInput input{
      .tree = argv[1], .matrix = matrix, .expansion = *expansion, .variants = variants, .root = "bench"};
  size_t good = 0;
  std::string wrong;
  const absl::Time start = absl::Now();
  absl::Time first = absl::InfiniteFuture();
  const auto take = [&](const std::vector<Outcome>& outcomes) {
    first = std::min(first, absl::Now());
    for (const Outcome& outcome : outcomes) {
      good += !outcome.derivation.empty();
      if (outcome.derivation.empty()) wrong = outcome.message;
    }
  };
  const std::atomic<bool> cancelled{false};
  const absl::Status status = (*evaluator)->Evaluate(input, take, cancelled);
  rusage ours{}, theirs{};
  getrusage(RUSAGE_SELF, &ours);
  getrusage(RUSAGE_CHILDREN, &theirs);
  std::cout << "{\"good\": " << good << ", \"variants\": " << variants.size()
            << ", \"wall\": " << absl::ToDoubleSeconds(absl::Now() - start)
            << ", \"first\": " << absl::ToDoubleSeconds(first - start) << ", \"cpu\": "
            << Seconds(ours.ru_utime) + Seconds(ours.ru_stime) + Seconds(theirs.ru_utime) +
                   Seconds(theirs.ru_stime)
            << ", \"peak_mib\": " << theirs.ru_maxrss / 1024 << "}\n";
  if (good != variants.size() || !status.ok()) std::cerr << status << " " << wrong << "\n";
  return good == variants.size() && status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace hydrant

int main(int argc, char** argv) {
  if (argc == 7) return hydrant::Bench(argv);
  std::cerr << "usage: evaluation_bench TREE FOLDER shard|scatter|one IMPORTS EVALUATORS MEMORY\n";
  return 2;
}
