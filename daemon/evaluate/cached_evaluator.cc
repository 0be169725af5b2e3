#include "daemon/evaluate/cached_evaluator.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>

#include "daemon/evaluate/collection_pause.h"
#include "daemon/evaluate/evaluation_key.h"
#include "daemon/evaluate/wanted_environment.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr absl::Duration kLookForCancellation = absl::Milliseconds(200);

// With import from derivation an error may be a builder's, and no word of it says so. An environment that is
// missing without a word was lost with its evaluator.
bool IsRemembered(const CachedName& name, const Outcome& outcome, bool ifd) {
  if (outcome.cause == Cause::kNone) {
    const bool lost = name.environment && outcome.environment.empty() && (ifd || outcome.message.empty());
    return !outcome.derivation.empty() && !lost;
  }
  return !ifd && !IsEvaluatorDeath(outcome.cause);
}

CachedName NameOf(const EvaluationInput& input, size_t variant) {
  const Variant& asked = input.expansion.variants[variant];
  return {.package = asked.package, .environment = WantsEnvironment(input.matrix, asked)};
}

}  // namespace

struct CachedEvaluator::Asked {
  std::string key;
  std::vector<size_t> variants;  // not known
  size_t unanswered = 0;         // of these
  CachedSlice known;
  bool learned = false;  // something that the file has not
  bool claimed = false;
};

// Gives back what is still claimed when an evaluation ends, however it ends, and keeps what it learned.
class CachedEvaluator::Claims {
 public:
  Claims(CachedEvaluator& evaluator, std::vector<Asked>& slices) : evaluator_(evaluator), slices_(slices) {}
  ~Claims() {
    for (Asked& slice : slices_) Give(slice);
  }
  void Give(Asked& slice) {
    if (!std::exchange(slice.claimed, false)) return;
    if (slice.learned) evaluator_.Remember(slice);
    evaluator_.Unclaim(slice.key);
  }

 private:
  CachedEvaluator& evaluator_;
  std::vector<Asked>& slices_;
};

absl::Status CachedEvaluator::Evaluate(const EvaluationInput& input,
                                       const std::function<void(std::vector<Outcome>)>& take,
                                       const std::atomic<bool>& cancelled) {
  if (input.revision.empty()) return options_.evaluator.Evaluate(input, take, cancelled);
  const absl::StatusOr<std::string> identity = options_.identity();
  if (!identity.ok()) return options_.evaluator.Evaluate(input, take, cancelled);  // it says what is wrong
  std::vector<Asked> waiting = Ask(input, *identity);
  if (waiting.empty()) return options_.evaluator.Evaluate(input, take, cancelled);
  while (!waiting.empty()) {
    std::vector<Asked> slices = Claim(waiting, cancelled);
    Claims claims(*this, slices);
    if (cancelled.load()) return absl::CancelledError("evaluation cancelled");
    // Not for longer: an evaluator that adds to the store may have to wait for a collection.
    std::optional<CollectionPause> pause(options_.store_root);
    std::vector<Outcome> known = TakeKnown(input, pause->holds(), slices);
    for (Asked& slice : slices) {
      if (slice.unanswered == 0) claims.Give(slice);
    }
    if (!known.empty()) take(std::move(known));
    pause.reset();
    HYDRANT_RETURN_IF_ERROR(EvaluateRest(input, slices, claims, take, cancelled));
  }
  return absl::OkStatus();
}

absl::StatusOr<DerivedList> CachedEvaluator::DerivePackages(const EvaluationInput& input,
                                                            const std::atomic<bool>& cancelled) {
  const bool rememberable = !input.revision.empty() && input.matrix.derived &&
                            !input.expansion.slices.empty() && !input.matrix.nixpkgs.ifd;
  const absl::StatusOr<std::string> identity = rememberable ? options_.identity() : absl::UnknownError("");
  if (!identity.ok()) return options_.evaluator.DerivePackages(input, cancelled);
  const std::string key = DerivedListKey(input, *identity);
  if (!ClaimAlone(key, cancelled)) return absl::CancelledError("evaluation cancelled");
  absl::StatusOr<DerivedList> list = RememberedList(key, input, cancelled);
  Unclaim(key);
  return list;
}

absl::StatusOr<DerivedList> CachedEvaluator::RememberedList(const std::string& key,
                                                            const EvaluationInput& input,
                                                            const std::atomic<bool>& cancelled) {
  if (std::optional<DerivedList> known = options_.cache.FindList(key); known) return *std::move(known);
  absl::StatusOr<DerivedList> list = options_.evaluator.DerivePackages(input, cancelled);
  if (!list.ok() || !list->unknown.empty()) return list;
  if (const absl::Status saved = options_.cache.SaveList(key, *list); !saved.ok()) {
    Log(LogLevel::kWarning, "package list not remembered", {{"reason", saved.ToString()}});
  }
  return list;
}

void CachedEvaluator::Release(const std::string& root) { options_.evaluator.Release(root); }

std::vector<CachedEvaluator::Asked> CachedEvaluator::Ask(const EvaluationInput& input,
                                                         const std::string& identity) const {
  std::map<size_t, Asked> by_slice;
  for (const size_t variant : input.variants) {
    const size_t slice = input.expansion.variants[variant].slice;
    Asked& asked = by_slice[slice];
    if (asked.key.empty()) asked.key = SliceKey(input, input.expansion.slices[slice], identity);
    asked.variants.push_back(variant);
  }
  std::vector<Asked> result;
  for (auto& [slice, asked] : by_slice) result.push_back(std::move(asked));
  return result;
}

std::vector<CachedEvaluator::Asked> CachedEvaluator::Claim(std::vector<Asked>& waiting,
                                                           const std::atomic<bool>& cancelled) {
  std::vector<Asked> mine, others;
  MutexLock lock(mu_);
  while (mine.empty() && !cancelled.load()) {
    for (Asked& slice : waiting) {
      slice.claimed = claimed_.insert(slice.key).second;
      (slice.claimed ? mine : others).push_back(std::move(slice));
    }
    waiting = std::exchange(others, {});
    if (mine.empty()) unclaimed_.WaitFor(mu_, kLookForCancellation);
  }
  return mine;
}

bool CachedEvaluator::ClaimAlone(const std::string& key, const std::atomic<bool>& cancelled) {
  MutexLock lock(mu_);
  while (!cancelled.load()) {
    if (claimed_.insert(key).second) return true;
    unclaimed_.WaitFor(mu_, kLookForCancellation);
  }
  return false;
}

void CachedEvaluator::Unclaim(const std::string& key) {
  MutexLock lock(mu_);
  claimed_.erase(key);
  unclaimed_.NotifyAll();
}

std::vector<Outcome> CachedEvaluator::TakeKnown(const EvaluationInput& input, bool there_stays,
                                                std::vector<Asked>& slices) const {
  const auto is_there = [&](const std::string& derivation) {
    struct stat status;
    return there_stays && lstat((options_.store_root + derivation).c_str(), &status) == 0;
  };
  std::vector<Outcome> known;
  int64_t gone = 0, missed = 0;
  for (Asked& slice : slices) {
    slice.known = options_.cache.Find(slice.key);
    const auto is_known = [&](size_t variant) {
      const auto found = slice.known.find(NameOf(input, variant));
      if (found == slice.known.end()) return false;
      for (const std::string& derivation : {found->second.derivation, found->second.environment}) {
        if (derivation.empty() || is_there(derivation)) continue;
        ++gone;
        return false;
      }
      known.push_back(found->second);
      known.back().variant = variant;
      return true;
    };
    std::erase_if(slice.variants, is_known);
    slice.unanswered = slice.variants.size();
    missed += static_cast<int64_t>(slice.variants.size());
  }
  Observe("hit", static_cast<int64_t>(known.size()));
  Observe("gone", gone);
  Observe("miss", missed - gone);
  return known;
}

absl::Status CachedEvaluator::EvaluateRest(const EvaluationInput& input, std::vector<Asked>& slices,
                                           Claims& claims,
                                           const std::function<void(std::vector<Outcome>)>& take,
                                           const std::atomic<bool>& cancelled) {
  std::map<size_t, Asked*> by_variant;
  std::vector<size_t> variants;
  for (Asked& slice : slices) {
    for (const size_t variant : slice.variants) by_variant[variant] = &slice;
    variants.insert(variants.end(), slice.variants.begin(), slice.variants.end());
  }
  if (variants.empty()) return absl::OkStatus();
  std::sort(variants.begin(), variants.end());
  EvaluationInput rest = input;
  rest.variants = std::move(variants);
  return options_.evaluator.Evaluate(
      rest,
      [&](std::vector<Outcome> outcomes) {
        std::set<Asked*> answered;
        for (const Outcome& outcome : outcomes) {
          const auto found = by_variant.find(outcome.variant);
          if (found == by_variant.end()) continue;
          Asked& slice = *found->second;
          if (slice.unanswered > 0) --slice.unanswered;
          answered.insert(&slice);
          const CachedName name = NameOf(input, outcome.variant);
          if (!IsRemembered(name, outcome, input.matrix.nixpkgs.ifd)) continue;
          Outcome& kept = slice.known[name];
          kept = outcome;
          kept.variant = 0;
          slice.learned = true;
        }
        take(std::move(outcomes));
        for (Asked* slice : answered) {
          if (slice->unanswered == 0) claims.Give(*slice);
        }
      },
      cancelled);
}

void CachedEvaluator::Remember(const Asked& slice) const {
  const absl::Status saved = options_.cache.Save(slice.key, slice.known);
  if (saved.ok()) return;
  Log(LogLevel::kWarning, "evaluation not remembered", {{"reason", saved.ToString()}});
}

void CachedEvaluator::Observe(std::string_view result, int64_t variants) const {
  if (options_.observe && variants > 0) options_.observe(result, variants);
}

}  // namespace hydrant
