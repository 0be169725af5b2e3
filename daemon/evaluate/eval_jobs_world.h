// For tests: NixEvalJobsEvaluator with the nix-eval-jobs of PATH or, where there is none that keeps to restrict-eval (Debian
// packages none at all), with tests/fakes/nix_eval_jobs, on a store of its own.
#ifndef HYDRANT_DAEMON_EVALUATE_EVAL_JOBS_WORLD_H_
#define HYDRANT_DAEMON_EVALUATE_EVAL_JOBS_WORLD_H_

#include <memory>
#include <string>
#include <utility>

#include "daemon/evaluate/eval_jobs_probe.h"
#include "daemon/evaluate/evaluation_fixture.h"
#include "daemon/evaluate/nix_eval_jobs_evaluator.h"

namespace hydrant {

struct EvalJobsWorld {
  explicit EvalJobsWorld(const std::string& tree) : nix(tree) { nix.Install("nix-eval-jobs", "exec " + Program()); }
  // A line of shell: the program with the arguments of the script in which it stands.
  static std::string Program() {
    static const bool real = IsRestrictedHere();
    const std::string path = absl::StrCat("env PATH=", getenv("PATH"));
    return real ? path + " nix-eval-jobs \"$@\"" : "python3 " HYDRANT_SOURCE_DIR "/tests/fakes/nix_eval_jobs \"$@\"";
  }
  static bool IsRestrictedHere() {
    const TestDir dir;
    auto env = nix::CommandEnvironment({.store_root = dir / "root", .folder = dir.path()});
    env["NIX_CONFIG"] += kRestricted;
    return CheckIsRestricted("nix-eval-jobs", std::move(env), dir.path()).ok();
  }
  // It is looked at when it is opened, and may become another afterwards.
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
