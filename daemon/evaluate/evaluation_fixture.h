// For tests: a small matrix over a tree of one file, an evaluator's answers by variant id, each counted.
#ifndef HYDRANT_DAEMON_EVALUATE_EVALUATION_FIXTURE_H_
#define HYDRANT_DAEMON_EVALUATE_EVALUATION_FIXTURE_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/evaluate/evaluator.h"
#include "daemon/evaluate/nix_evaluator.h"
#include "gtest/gtest.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "lib/matrix/expansion.h"

namespace hydrant {

// A matrix of these packages, one slice a CUDA version, with the simplest recipe of a user's.
inline Matrix SmallMatrix(std::vector<std::string> packages, std::vector<std::string> cuda = {"12.9"}) {
  Matrix matrix{.name = "small", .packages = std::move(packages)};
  matrix.nixpkgs.recipe = "recipe.nix";
  matrix.nixpkgs.recipe_text = "{ nixpkgs, slice, ... }: import nixpkgs { inherit slice; }";
  Axis axis{.name = "cuda"};
  for (std::string& version : cuda) axis.values.push_back({{std::move(version)}});
  matrix.axes.push_back(std::move(axis));
  return matrix;
}

struct Answers {
  absl::Status status;
  std::map<std::string, Outcome> by_id;
  std::map<std::string, int> count;
  int calls = 0;

  // "" for a derivation, "lost" for a variant without outcome.
  std::string Cause(const std::string& id) const {
    const auto found = by_id.find(id);
    return found == by_id.end() ? "lost" : std::string(CauseName(found->second.cause));
  }
};

inline Answers Ask(Evaluator& evaluator, const std::string& tree, const Matrix& matrix,
                   const std::string& root = "e1", const std::atomic<bool>& cancelled = false,
                   const std::function<void()>& on_call = {}, const std::string& revision = "") {
  Answers answers;
  const auto expansion = ExpandMatrix(matrix, "x86_64-linux");
  if (!expansion.ok()) {
    answers.status = expansion.status();
    return answers;
  }
  std::vector<size_t> variants;
  for (size_t i = 0; i < expansion->variants.size(); ++i) {
    if (expansion->variants[i].cause == Cause::kNone) variants.push_back(i);
  }
  const EvaluationInput input{.tree = tree,
                              .matrix = matrix,
                              .expansion = *expansion,
                              .variants = variants,
                              .root = root,
                              .revision = revision};
  const auto take = [&](std::vector<Outcome> outcomes) {
    ++answers.calls;
    for (Outcome& outcome : outcomes) {
      const std::string& id = expansion->variants[outcome.variant].id;
      ++answers.count[id];
      answers.by_id[id] = std::move(outcome);
    }
    if (on_call) on_call();
  };
  answers.status = evaluator.Evaluate(input, take, cancelled);
  for (const auto& [id, count] : answers.count) EXPECT_EQ(count, 1) << id;
  if (answers.status.ok()) {
    EXPECT_EQ(answers.count.size(), variants.size());
  }
  return answers;
}

// What cudaSupport changes, in one slice.
inline Matrix DerivedMatrix(std::vector<std::string> filter) {
  Matrix matrix = SmallMatrix({});
  matrix.derived = DerivedPackages{.changed_by = "cudaSupport", .filter = std::move(filter)};
  return matrix;
}

inline absl::StatusOr<DerivedList> AskList(Evaluator& evaluator, const std::string& tree,
                                           const Matrix& matrix, const std::atomic<bool>& cancelled = false,
                                           const std::string& revision = "") {
  const auto expansion = ExpandDerivedMatrix(matrix, "x86_64-linux", {});
  if (!expansion.ok()) return expansion.status();
  return evaluator.DerivePackages(
      {.tree = tree, .matrix = matrix, .expansion = *expansion, .root = "list", .revision = revision},
      cancelled);
}

// The real evaluator on a store of its own, with a tree of one file.
class NixWorld {
 public:
  explicit NixWorld(const std::string& default_nix = "{ ... }: { }") {
    EXPECT_TRUE(MakeDirectories(tree()).ok());
    EXPECT_TRUE(WriteFileAtomically(tree() + "/default.nix", default_nix).ok());
    options.nix = {.store_root = dir / "root", .folder = dir / "private"};
    options.variant_timeout = absl::Seconds(60);
  }
  std::string tree() const { return dir / "tree"; }
  Evaluator& evaluator() {
    if (evaluator_ == nullptr) {
      auto opened = NixEvaluator::Open(options);
      if (!opened.ok()) abort();
      evaluator_ = *std::move(opened);
    }
    return *evaluator_;
  }
  // A program before the real ones in PATH. Before the first evaluator().
  void Install(const std::string& name, const std::string& script) {
    const std::string folder = dir / "bin";
    ASSERT_TRUE(MakeDirectories(folder).ok());
    ASSERT_TRUE(WriteFileAtomically(folder + "/" + name, "#!/bin/sh\n" + script, 0755).ok());
    options.nix.search_path = folder + ":" + getenv("PATH");
  }
  // What a script of Install ends with to run the real one.
  static std::string TheReal(const std::string& name) {
    return std::string("PATH=") + getenv("PATH") + " exec " + name + " \"$@\"";
  }
  Answers Evaluate(const Matrix& matrix) { return Ask(evaluator(), tree(), matrix); }

  TestDir dir;
  NixEvaluator::Options options;  // before the first evaluator()

 private:
  std::unique_ptr<NixEvaluator> evaluator_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_EVALUATION_FIXTURE_H_
