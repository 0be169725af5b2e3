// For tests: NixEvalJobsEvaluator with tests/fakes/nix_eval_jobs, on a store of its own.
#ifndef HYDRANT_DAEMON_EVALUATE_EVAL_JOBS_WORLD_H_
#define HYDRANT_DAEMON_EVALUATE_EVAL_JOBS_WORLD_H_

#include <memory>
#include <string>

#include "daemon/evaluate/evaluation_fixture.h"
#include "daemon/evaluate/nix_eval_jobs_evaluator.h"

namespace hydrant {

struct EvalJobsWorld {
  explicit EvalJobsWorld(const std::string& tree) : nix(tree) {
    nix.Install("nix-eval-jobs", "exec python3 " HYDRANT_SOURCE_DIR "/tests/fakes/nix_eval_jobs \"$@\"");
  }
  Evaluator& evaluator() {
    if (pool != nullptr) return *pool;
    auto& own = static_cast<NixEvaluator&>(nix.evaluator());
    auto opened = NixEvalJobsEvaluator::Open({.bounds = nix.options, .nix = own});
    if (!opened.ok()) abort();
    pool = *std::move(opened);
    return *pool;
  }

  NixWorld nix;  // its options and programs: before the first evaluator()
  std::unique_ptr<NixEvalJobsEvaluator> pool;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_EVAL_JOBS_WORLD_H_
