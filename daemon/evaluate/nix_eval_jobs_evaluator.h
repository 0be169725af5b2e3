// Evaluates with nix-eval-jobs where a farm is set up for it: its own pool of workers, one line an attribute.
// It ends as a whole when one of its workers dies, so what it leaves without an answer NixEvaluator is asked,
// which says what each of them died of.
#ifndef HYDRANT_DAEMON_EVALUATE_NIX_EVAL_JOBS_EVALUATOR_H_
#define HYDRANT_DAEMON_EVALUATE_NIX_EVAL_JOBS_EVALUATOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/evaluate/evaluator.h"
#include "daemon/evaluate/nix_evaluator.h"

namespace hydrant {

class NixEvalJobsEvaluator final : public Evaluator {
 public:
  struct Options {
    std::string program = "nix-eval-jobs";  // a name in PATH, or a path
    NixEvaluator::Options bounds;           // what `nix` was opened with: both keep to the same
    NixEvaluator& nix;
  };

  // FailedPrecondition when there is no such program, or it lets a tree read any file (CheckIsRestricted); it names the
  // setting.
  static absl::StatusOr<std::unique_ptr<NixEvalJobsEvaluator>> Open(Options options);

  // As NixEvaluator, which is asked for the rest and has the whole time for that again.
  absl::Status Evaluate(const EvaluationInput& input, const std::function<void(std::vector<Outcome>)>& take,
                        const std::atomic<bool>& cancelled) override;
  // NixEvaluator's: attributes that die are the rule there.
  absl::StatusOr<DerivedList> DerivePackages(const EvaluationInput& input,
                                             const std::atomic<bool>& cancelled) override;
  void Release(const std::string& root) override;

 private:
  explicit NixEvalJobsEvaluator(Options options) : options_(std::move(options)) {}
  class Answers;  // what is asked, and what is known of it so far
  // Gives what it answers; what it does not, `answers` has.
  // Its workers begin anew at half of what each may use, since they look only between two attributes.
  absl::StatusOr<std::vector<std::string>> Command(const NixEvaluator::Prepared& prepared) const;
  // False: the time of the whole evaluation was over before it ended.
  absl::StatusOr<bool> RunPool(const EvaluationInput& input, const NixEvaluator::Prepared& prepared,
                               Answers& answers, const std::function<void(std::vector<Outcome>)>& take,
                               const std::atomic<bool>& cancelled);

  const Options options_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_NIX_EVAL_JOBS_EVALUATOR_H_
