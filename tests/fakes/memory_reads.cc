// What MemoryTables gives back.
#include <algorithm>
#include <iterator>

#include "tests/fakes/memory_tables.h"

namespace hydrant {
namespace {

constexpr size_t kNewestEvaluations = 20;
constexpr size_t kNewestDurations = 10000;

template <class Map>
auto Values(const Map& map) {
  std::vector<typename Map::mapped_type> values;
  values.reserve(map.size());
  for (const auto& [key, value] : map) values.push_back(value);
  return values;
}

}  // namespace

Recorded MemoryTables::Load() const {
  Recorded recorded;
  recorded.matrices = Values(matrices_);
  std::map<std::pair<std::string, std::string>, size_t> of_branch;
  std::map<std::string, bool> wanted_texts;
  for (const MatrixRecord& matrix : recorded.matrices) wanted_texts[matrix.digest] = true;
  for (auto i = evaluations_.rbegin(); i != evaluations_.rend(); ++i) {
    const EvaluationRecord& evaluation = i->second;
    if (of_branch[{evaluation.matrix, evaluation.branch}]++ >= kNewestEvaluations && IsFinal(evaluation.state)) continue;
    wanted_texts[evaluation.digest] = true;
    recorded.evaluations.push_back(evaluation);
  }
  std::reverse(recorded.evaluations.begin(), recorded.evaluations.end());
  for (const auto& [digest, text] : texts_) {
    if (wanted_texts[digest]) recorded.texts.push_back(text);
  }
  for (const EvaluationRecord& evaluation : recorded.evaluations) {
    for (VariantRecord& variant : Variants(evaluation.id)) recorded.variants.push_back(std::move(variant));
    if (auto list = derived_lists_.find(evaluation.id); list != derived_lists_.end())
      recorded.derived_lists.push_back(list->second);
  }
  for (const auto& [path, derivation] : derivations_) recorded.derivations.push_back(derivation);
  recorded.steps = Values(steps_);
  recorded.checks = Values(checks_);
  for (const auto& [id, attempt] : attempts_) {
    if (attempt.result.outcome.empty()) recorded.live_attempts.push_back(attempt);
  }
  for (const auto& [path, info] : narinfos_) {
    if (info.state != NarInfoState::kRetired) recorded.narinfos.push_back(info);
  }
  recorded.channels = Values(channels_);
  recorded.workers = Values(workers_);
  recorded.last_evaluation = last_evaluation_;
  recorded.last_attempt = last_attempt_;
  recorded.last_token = last_token_;
  for (auto i = attempts_.rbegin(); i != attempts_.rend(); ++i) {
    const auto& [lease, result] = i->second;
    if (result.outcome != "succeeded") continue;
    const AttemptSubject& subject = lease.subject;
    if (!subject.check.empty() && recorded.check_durations.size() < kNewestDurations) {
      recorded.check_durations.push_back({subject.check, result.building});
    } else if (subject.check.empty() && recorded.durations.size() < kNewestDurations) {
      recorded.durations.push_back({subject.derivation, result.building, result.cpu});
    }
  }
  return recorded;
}

std::vector<AttemptRecord> MemoryTables::Attempts(const AttemptSubject& subject, int limit) const {
  std::vector<AttemptRecord> found;
  for (auto i = attempts_.rbegin(); i != attempts_.rend() && std::ssize(found) < limit; ++i) {
    if (i->second.lease.subject == subject) found.push_back(i->second);
  }
  return found;
}

std::vector<EvaluationRecord> MemoryTables::Evaluations(std::string_view matrix, int limit) const {
  std::vector<EvaluationRecord> found;
  for (auto i = evaluations_.rbegin(); i != evaluations_.rend() && std::ssize(found) < limit; ++i) {
    if (i->second.matrix == matrix) found.push_back(i->second);
  }
  return found;
}

std::vector<VariantRecord> MemoryTables::Variants(EvaluationId evaluation) const {
  std::vector<VariantRecord> found;
  for (auto i = variants_.lower_bound({evaluation, ""}); i != variants_.end() && i->first.first == evaluation;
       ++i) {
    found.push_back(i->second);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.ordinal < b.ordinal; });
  return found;
}

std::vector<StateStore::AttemptCount> MemoryTables::CountAttempts() const {
  std::map<std::pair<std::string, std::string>, int64_t> counts;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt.result.outcome.empty()) continue;
    ++counts[{attempt.result.outcome, std::string(CauseName(attempt.result.cause))}];
  }
  std::vector<StateStore::AttemptCount> result;
  result.reserve(counts.size());
  for (const auto& [key, count] : counts) result.push_back({key.first, key.second, count});
  return result;
}

}  // namespace hydrant
