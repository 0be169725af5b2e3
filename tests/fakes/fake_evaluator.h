// An Evaluator without Nix: outcomes as a test scripts them.
#ifndef HYDRANT_TESTS_FAKES_FAKE_EVALUATOR_H_
#define HYDRANT_TESTS_FAKES_FAKE_EVALUATOR_H_

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/evaluate/evaluator.h"
#include "lib/base/mutex.h"

namespace hydrant {

class FakeEvaluator final : public Evaluator {
 public:
  // What the variants of a package get, by attribute path or by variant id (which outranks it). A package
  // without script is a missing attribute. Outcome::variant is filled in.
  void Script(const std::string& package_or_id, Outcome outcome) {
    MutexLock lock(mu_);
    script_[package_or_id] = std::move(outcome);
  }
  // What the switch of a derived list changes in the tree, of which the filter keeps what it matches.
  void ScriptChanged(std::vector<std::string> packages) {
    MutexLock lock(mu_);
    changed_ = std::move(packages);
  }
  // Instead of evaluating: "no Nix" and the like.
  void FailWith(absl::Status status) {
    MutexLock lock(mu_);
    status_ = std::move(status);
  }
  // Roots that were asked for and not released.
  std::set<std::string> roots() const {
    MutexLock lock(mu_);
    return roots_;
  }

  absl::Status Evaluate(const EvaluationInput& input, const std::function<void(std::vector<Outcome>)>& take,
                        const std::atomic<bool>& cancelled) override {
    std::map<size_t, std::vector<Outcome>> slices;
    {
      MutexLock lock(mu_);
      if (!status_.ok()) return status_;
      if (input.root.empty() || input.root.find('/') != std::string::npos) {
        return absl::InvalidArgumentError(absl::StrCat("root '", input.root, "' is no plain file name"));
      }
      roots_.insert(input.root);
      for (const size_t index : input.variants) {
        const Variant& variant = input.expansion.variants[index];
        Outcome outcome = Find(variant);
        outcome.variant = index;
        slices[variant.slice].push_back(std::move(outcome));
      }
    }
    for (auto& [slice, outcomes] : slices) {
      if (cancelled.load()) break;
      take(std::move(outcomes));
    }
    return cancelled.load() ? absl::CancelledError("evaluation cancelled") : absl::OkStatus();
  }

  absl::StatusOr<DerivedList> DerivePackages(const EvaluationInput& input,
                                             const std::atomic<bool>& cancelled) override {
    MutexLock lock(mu_);
    if (!status_.ok()) return status_;
    if (!input.matrix.derived) return absl::InvalidArgumentError("its package list is not derived");
    if (input.expansion.slices.empty()) return absl::InvalidArgumentError("it has no slice");
    if (cancelled.load()) return absl::CancelledError("evaluation cancelled");
    DerivedList list;
    for (const std::string& package : changed_) {
      if (MatchesDerivedFilter(input.matrix, package)) list.packages.push_back(package);
    }
    list.notes.push_back(
        absl::StrCat(input.matrix.derived->changed_by, " changes ", list.packages.size(), " packages"));
    return list;
  }

  void Release(const std::string& root) override {
    MutexLock lock(mu_);
    roots_.erase(root);
  }

 private:
  Outcome Find(const Variant& variant) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    for (const std::string& key : {variant.id, variant.package}) {
      if (const auto found = script_.find(key); found != script_.end()) return found->second;
    }
    return {.cause = Cause::kMissingAttribute,
            .message = absl::StrCat("attribute '", variant.package, "' missing")};
  }

  mutable Mutex mu_;
  std::map<std::string, Outcome> script_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> changed_ ABSL_GUARDED_BY(mu_);
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> roots_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_TESTS_FAKES_FAKE_EVALUATOR_H_
