// Judges the variants of one evaluation by the consistency rules and the licence lists, as their outcomes
// come. Knows no record; not thread-safe.
#ifndef HYDRANT_DAEMON_COORDINATOR_EVALUATION_AUDIT_H_
#define HYDRANT_DAEMON_COORDINATOR_EVALUATION_AUDIT_H_

#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/audit/closure_audit.h"
#include "daemon/audit/finding.h"
#include "daemon/coordinator/farm_state.h"
#include "daemon/evaluate/derivation_closure.h"
#include "daemon/evaluate/variant_facts.h"
#include "lib/matrix/licence.h"

namespace hydrant {

// Inputs before those that use them. What is known already costs a look-up.
void TakeIn(const LoadedDerivation& derivation, ClosureAudit& closure);

class EvaluationAudit {
 public:
  // `derived`: of a derived package list, else null. `closure`: derivations that were taken in, perhaps by
  // other evaluations; whoever shares it calls from one thread at a time.
  explicit EvaluationAudit(std::shared_ptr<const Declared> declared,
                           std::shared_ptr<const Derived> derived = nullptr,
                           std::shared_ptr<ClosureAudit> closure = std::make_shared<ClosureAudit>());

  // As TakeIn.
  void Take(const std::vector<std::shared_ptr<const LoadedDerivation>>& derivations);

  // What is wrong with a variant that has a derivation, and with its environment; `facts` null: nothing is
  // known of it. The libraries of its slice are those that its facts name; of those that they do not,
  // CompareSlices must have been told, and what follows from them is never more than a warning.
  std::vector<Finding> Judge(const VariantRecord& variant, const VariantFacts* facts) const;
  // Gives a variant that has a derivation its tier and findings. Where a rule of [audit] refuse found
  // something it is failed and has no derivation any more: nothing is built for it.
  void Settle(VariantRecord& variant, const VariantFacts* facts) const;
  // From now on the libraries of a slice that facts do not name are those that most of its variants reach.
  // The derivations of an evaluation that began in another process may be unknown here: they have no say.
  void CompareSlices(const std::vector<const VariantRecord*>& variants);
  // True when something of the variant is known here beside its facts.
  bool Knows(const VariantRecord& variant) const { return closure_->Knows(variant.derivation); }

  // "public" or "private", by the matrix's [license].
  std::string_view TierOf(const VariantFacts* facts) const;

 private:
  const Expansion& expansion() const {
    return derived_ != nullptr ? derived_->expansion : declared_->expansion;
  }
  size_t SliceOf(const VariantRecord& variant) const;
  // Those that the facts of a variant of it do not name, as most of its variants have them.
  ClosureAudit::Libraries UsualIn(size_t slice, const ClosureAudit::Libraries& named) const;

  std::shared_ptr<const Declared> declared_;
  std::shared_ptr<const Derived> derived_;
  LicencePolicy policy_;
  std::shared_ptr<ClosureAudit> closure_;  // derivations are immutable: evaluations may share them
  std::map<size_t, ClosureAudit::Libraries> libraries_;  // by slice, as most of its variants have them
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_EVALUATION_AUDIT_H_
