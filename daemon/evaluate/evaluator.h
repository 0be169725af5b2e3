// Turns variants into derivations or typed refusals. Knows nothing of graphs, caches or what is done with the
// outcome.
#ifndef HYDRANT_DAEMON_EVALUATE_EVALUATOR_H_
#define HYDRANT_DAEMON_EVALUATE_EVALUATOR_H_

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/evaluate/variant_facts.h"
#include "lib/failure/cause.h"
#include "lib/matrix/expansion.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

struct EvaluationInput {
  std::string tree;  // the source's tree
  const Matrix& matrix;
  const Expansion& expansion;
  // Indices into expansion.variants; those impossible before work are not among them.
  std::vector<size_t> variants;
  std::string root;  // a name without slash under which derivations are kept from garbage collection
  // What the tree is, whatever its path: Tree::revision. Empty: not known, and nothing is remembered of it.
  std::string revision = {};
};

// Exactly one per variant: a derivation, or a cause with its text.
struct Outcome {
  size_t variant = 0;  // index into expansion.variants
  Cause cause = Cause::kNone;
  std::string message;
  std::string derivation;                      // .drv path
  std::map<std::string, std::string> outputs;  // name -> store path
  // A Python environment with the package in it, for checks that ask for one: .drv path and its output;
  // empty: none.
  std::string environment, environment_output;
  VariantFacts facts;  // of a derivation
};

// What a matrix's [axes] package = { changed_by, filter } stands for in one tree.
struct DerivedList {
  // Attribute paths, those of the Python set as "python3Packages.NAME": top level first, then set by set, by
  // name. In the list stands what evaluates with the switch on and either differs from, or is not there, with
  // it off.
  std::vector<std::string> packages;
  // For people: what was left out and why, in sentences.
  std::vector<std::string> notes;
  // Those of `packages` at which an evaluator died, so that nobody knows whether they change: evaluated as
  // variants they get their evaluator's cause, and nothing is silently fewer. Such a list is not remembered.
  std::vector<std::string> unknown;
  friend bool operator==(const DerivedList&, const DerivedList&) = default;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Hands outcomes over as they come, some at a time and in no order, while others are still evaluated; one
  // call at a time (from any thread), each variant exactly once; a variant whose evaluator died gets an
  // evaluator's cause. OK when every variant has its outcome. Cancelled when `cancelled` became true. Other
  // errors: nothing could be evaluated at all (no Nix, recipe missing).
  virtual absl::Status Evaluate(const EvaluationInput& input,
                                const std::function<void(std::vector<Outcome>)>& take,
                                const std::atomic<bool>& cancelled) = 0;
  // The package list of a matrix that declares a derived one: the difference of two evaluations of the tree,
  // the switch off and on. Asked in one slice, the first of `input.expansion` that no rule refuses
  // (FirstPossibleSlice); ExpandDerivedMatrix of no packages gives such an expansion. `input.variants` and
  // `root` are not read, and nothing is kept from garbage collection. Looked at are the attributes of the top
  // level, of python3Packages and of each set that a glob of the filter names before its first dot; what the
  // filter does not match is never forced. InvalidArgument when the matrix has no derived list;
  // FailedPrecondition, with the words, when the package set itself does not evaluate; Unavailable when
  // evaluators died at too many names; else as Evaluate.
  virtual absl::StatusOr<DerivedList> DerivePackages(const EvaluationInput& input,
                                                     const std::atomic<bool>& cancelled) = 0;
  // Drops the garbage collector's roots of an evaluation.
  virtual void Release(const std::string& root) = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_EVALUATOR_H_
