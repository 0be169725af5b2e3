#include "lib/failure/classify.h"

#include <optional>

#include "lib/failure/message_lines.h"
#include "lib/failure/readings.h"

namespace hydrant {
namespace {

// BuildResult::Status of the Nix daemon protocol.
enum NixStatus {
  kBuilt = 0,
  kSubstituted = 1,
  kAlreadyValid = 2,
  kPermanentFailure = 3,
  kOutputRejected = 5,
  kTimedOut = 8,
  kDependencyFailed = 10,
  kLogLimitExceeded = 11,
  kNotDeterministic = 12,
  kResolvesToAlreadyValid = 13,
  kNoSubstituters = 14,
  kHashMismatch = 15,
};

std::optional<Cause> ExactCause(int nix_status) {
  switch (nix_status) {
    case kTimedOut:
      return Cause::kTimeout;
    case kDependencyFailed:
      return Cause::kDependencyFailed;
    case kLogLimitExceeded:
      return Cause::kLogLimit;
    case kNotDeterministic:
      return Cause::kNotDeterministic;
    case kHashMismatch:
      return Cause::kHashMismatch;
    default:
      return std::nullopt;
  }
}

// What a status means when neither error nor log says more. Of the protocol's failures only a failed builder
// and a rejected output are the package's; the rest may go otherwise elsewhere.
Cause WeakCause(int nix_status) {
  switch (nix_status) {
    case kPermanentFailure:
    case kOutputRejected:
      return Cause::kBuilderFailed;
    case kNoSubstituters:
      return Cause::kFetchFailed;
    default:
      return nix_status < 0 ? Cause::kUnknown : Cause::kTransient;
  }
}

bool IsSuccess(int nix_status) {
  return nix_status == kBuilt || nix_status == kSubstituted || nix_status == kAlreadyValid ||
         nix_status == kResolvesToAlreadyValid;
}

template <typename Take>
void ForEachLine(std::string_view text, Take take) {
  MessageLineReader reader(text);
  while (const MessageLine* line = reader.Next()) take(*line);
}

}  // namespace

Classified ClassifyEvaluation(std::string_view text) {
  EvaluationReading reading;
  FirstMessage first;
  ForEachLine(text, [&](const MessageLine& line) {
    reading.Take(line);
    first.Take(line);
  });
  if (auto explained = reading.ByWording()) return *explained;
  if (auto thrown = reading.Thrown()) return *thrown;
  return first.found();
}

Classified ClassifyAttempt(int nix_status, std::string_view error, std::string_view log_tail) {
  if (IsSuccess(nix_status)) return {Cause::kNone, ""};
  AttemptReading reading;
  FirstMessage first;
  ForEachLine(error, [&](const MessageLine& line) {
    reading.TakeError(line);
    first.Take(line);
  });
  ForEachLine(log_tail, [&](const MessageLine& line) { reading.TakeLog(line); });
  const auto by_wording = reading.ByWording();
  const std::optional<Cause> exact = ExactCause(nix_status);
  if (by_wording && (!exact || by_wording->cause == *exact)) return *by_wording;
  return {exact.value_or(WeakCause(nix_status)), first.found().message, first.found().line};
}

Classified ClassifyAttemptText(std::string_view text) {
  MixedReading reading;
  FirstMessage first;
  ForEachLine(text, [&](const MessageLine& line) {
    reading.Take(line);
    first.Take(line);
  });
  return reading.ByWording().value_or(first.found());
}

Classified ClassifyCheck(std::string_view output) {
  CheckReading reading;
  ForEachLine(output, [&](const MessageLine& line) { reading.Take(line); });
  return reading.ByWording().value_or(reading.last());
}

Guess ClassifyText(std::string_view text) {
  EvaluationReading evaluation;
  MixedReading attempt;
  CheckReading check;
  FirstMessage first;
  ForEachLine(text, [&](const MessageLine& line) {
    evaluation.Take(line);
    attempt.Take(line);
    check.Take(line);
    first.Take(line);
  });
  const auto by_evaluation = evaluation.ByWording();
  // Without an "error:" the words may be anybody's; a cause that evaluation cannot tell is an attempt's to
  // explain.
  const bool explained = evaluation.has_error() && by_evaluation && by_evaluation->cause != Cause::kUnknown;
  if (explained) return {FailureStage::kEvaluation, *by_evaluation};
  if (auto found = attempt.ByWording()) return {FailureStage::kAttempt, *found};
  if (auto found = check.ByWording()) return {FailureStage::kCheck, *found};
  if (by_evaluation) return {FailureStage::kEvaluation, *by_evaluation};
  if (auto thrown = evaluation.Thrown()) return {FailureStage::kEvaluation, *thrown};
  return {FailureStage::kEvaluation, first.found()};
}

}  // namespace hydrant
