// What an address of a user means: a variant, a glob over variants, or a step.
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/coordinator/coordinator.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/nearest_word.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

// A .drv path or its hash part.
std::optional<StepId> StepOf(const FarmState& state, const std::string& address) {
  if (auto step = state.graph.Find(address)) return step;
  if (!nix::IsHashPart(address)) return std::nullopt;
  const std::string prefix = absl::StrCat(AbslView(nix::kStoreDir), "/", address, "-");
  for (StepId step = 0; step < state.graph.size(); ++step) {
    if (absl::StartsWith(state.graph.spec(step).derivation, prefix)) return step;
  }
  return std::nullopt;
}

bool IsGlob(const std::string& address) {
  return address.find_first_of("*?[") != std::string::npos || absl::StartsWith(address, "@");
}

// "[MATRIX/]ID" in two.
std::pair<std::string, std::string> SplitAddress(const FarmState& state, const std::string& address) {
  const size_t slash = address.find('/');
  if (slash == std::string::npos || slash == 0) return {"", address};
  const std::string matrix = address.substr(0, slash);
  if (!state.matrices.contains(matrix)) return {"", address};
  return {matrix, address.substr(slash + 1)};
}

}  // namespace

absl::StatusOr<Found> Coordinator::Find(const Selector& selector) const {
  const auto& [address, matrix, id, branch] = selector;
  Found found;
  if (auto step = StepOf(*state_, address)) {
    found.step = step;
    return found;
  }
  if (absl::StartsWith(address, "/nix/store/")) {
    return absl::NotFoundError(absl::StrCat("nobody ever wanted ", address));
  }
  auto [named, rest] = SplitAddress(*state_, address);
  if (named.empty()) named = matrix;
  std::vector<EvaluationEntry*> evaluations;
  if (id || !named.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * one, FindEvaluation(named, id, branch));
    evaluations.push_back(one);
  } else {
    for (const auto& [name, unused] : state_->matrices) {
      if (EvaluationEntry* newest = NewestEvaluation(*state_, name, branch)) evaluations.push_back(newest);
    }
    if (evaluations.empty() && !branch.empty()) {
      return absl::NotFoundError(absl::StrCat("no matrix has an evaluation of branch '", branch, "'"));
    }
  }
  std::vector<std::string> candidates, ids;
  for (EvaluationEntry* evaluation : evaluations) {
    std::vector<VariantEntry*> here;
    for (VariantEntry& variant : evaluation->variants) {
      const Variant& declared = evaluation->expansion().variants[variant.record.ordinal];
      ids.push_back(variant.record.id);
      const bool is = IsGlob(rest) ? MatchesVariant(evaluation->declared->matrix, rest, declared)
                                   : rest.empty() || variant.record.id == rest;
      if (is) here.push_back(&variant);
    }
    // One that failed before its package list was known can be meant as a whole.
    if (here.empty() && !(rest.empty() && evaluation->lacks_packages())) continue;
    candidates.push_back(absl::StrCat(evaluation->record.matrix, "/", rest));
    found.evaluation = evaluation;
    found.variants = std::move(here);
  }
  if (candidates.size() > 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", rest, "' stands in several matrices: ", absl::StrJoin(candidates, ", ")));
  }
  if (candidates.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no variant '", rest, "'", NearestHint(rest, ids)));
  }
  return found;
}

}  // namespace hydrant
