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

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Hands outcomes over as they come, some at a time and in no order, while others are still evaluated; one
  // call at a time (from any thread), each variant exactly once; a variant whose evaluator died gets an
  // evaluator's cause. OK when every variant has its outcome. Cancelled when `cancelled` became true. Other errors: nothing could be evaluated at all (no Nix,
  // recipe missing).
  virtual absl::Status Evaluate(const EvaluationInput& input,
                                const std::function<void(std::vector<Outcome>)>& take,
                                const std::atomic<bool>& cancelled) = 0;
  // Drops the garbage collector's roots of an evaluation.
  virtual void Release(const std::string& root) = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_EVALUATOR_H_
