#include "daemon/channel/gate.h"

#include "absl/strings/str_cat.h"

namespace hydrant {

Verdict JudgeGate(EvaluationState state, bool declared, const std::vector<GateVariant>& variants,
                  const std::vector<std::string>& unmatched) {
  Verdict verdict;
  if (declared) {
    for (const GateVariant& variant : variants) {
      if (variant.required && !variant.cached) verdict.missing.push_back(variant.id);
    }
    for (const std::string& glob : unmatched)
      verdict.missing.push_back(absl::StrCat(glob, " (selects no variant)"));
  }
  verdict.passed = state == EvaluationState::kSettled && verdict.missing.empty();
  return verdict;
}

bool MayMove(EvaluationId current, EvaluationId candidate) { return candidate > current; }

}  // namespace hydrant
