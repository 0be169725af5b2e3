// Judges the variants of one evaluation by the consistency rules and the licence lists, as their outcomes come. Knows no
// record; not thread-safe.
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

class EvaluationAudit {
 public:
  // `derived`: of a derived package list, else null.
  explicit EvaluationAudit(std::shared_ptr<const Declared> declared, std::shared_ptr<const Derived> derived = nullptr);

  // Inputs before those that use them. What is known already costs a look-up.
  void Take(const std::vector<std::shared_ptr<const LoadedDerivation>>& derivations);

  // What is wrong with a variant that has a derivation, and with its environment; `facts` null: nothing is known of it. The
  // libraries of its slice are judged once CompareSlices was told them.
  std::vector<Finding> Judge(const VariantRecord& variant, const VariantFacts* facts) const;
  // From now on the libraries of a slice are those that most of its variants reach. The derivations of an evaluation that
  // began in another process may be unknown here: they have no say.
  void CompareSlices(const std::vector<const VariantRecord*>& variants);
  // True when something of the variant is known here beside its facts.
  bool Knows(const VariantRecord& variant) const { return closure_.Knows(variant.derivation); }

  // "public" or "private", by the matrix's [license].
  std::string_view TierOf(const VariantFacts* facts) const;

 private:
  const Expansion& expansion() const { return derived_ != nullptr ? derived_->expansion : declared_->expansion; }
  size_t SliceOf(const VariantRecord& variant) const;

  std::shared_ptr<const Declared> declared_;
  std::shared_ptr<const Derived> derived_;
  LicencePolicy policy_;
  ClosureAudit closure_;
  std::map<size_t, ClosureAudit::Libraries> libraries_;  // by slice
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_EVALUATION_AUDIT_H_
