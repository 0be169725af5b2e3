#include "lib/failure/classify.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lib/failure/message_lines.h"
#include "lib/failure/wordings.h"

namespace hydrant {
namespace {

using Lines = std::vector<MessageLine>;

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

constexpr std::initializer_list<LinePart> kMessage = {LinePart::kErrorHead, LinePart::kText};
constexpr std::initializer_list<LinePart> kQuotedLog = {LinePart::kLog};
constexpr std::initializer_list<LinePart> kAllOfLog = {LinePart::kErrorHead, LinePart::kText, LinePart::kLog};
constexpr std::initializer_list<LinePart> kEverything = {LinePart::kErrorHead, LinePart::kText,
                                                         LinePart::kLog, LinePart::kSurrounding};

constexpr size_t kLongestMessage = 1000;

// At most kLongestMessage bytes, cut between two characters.
std::string Shortened(std::string_view text) {
  if (text.size() <= kLongestMessage) return std::string(text);
  size_t end = kLongestMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

Classified Of(const WordingMatch& match) {
  std::string_view text = match.line->text;
  if (text.ends_with(';')) text.remove_suffix(1);  // "failed with exit code 3;" before the quoted log
  return {match.wording->cause, Shortened(text)};
}

// The first line that says something.
std::string FirstMessage(std::span<const MessageLine> lines) {
  for (const MessageLine& line : lines) {
    if (line.part != LinePart::kSurrounding && line.part != LinePart::kLog && !line.text.empty())
      return Shortened(line.text);
  }
  return "";
}

// Where each "error:" begins; the text before the first is not an error's.
std::vector<size_t> ErrorHeads(const Lines& lines) {
  std::vector<size_t> heads;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].part == LinePart::kErrorHead) heads.push_back(i);
  }
  return heads;
}

// By wording alone: nullopt when none explains the text.
std::optional<Classified> EvaluationByWording(const Lines& lines) {
  for (const MessageLine& line : lines) {
    // The rows name "error:" where it must stand, as in "error: out of memory".
    MessageLine whole = line;
    if (line.part == LinePart::kErrorHead) whole.plain = "error: " + line.plain;
    if (auto match = FirstMatch(EvaluatorDeathWordings(), {&whole, 1}, kEverything)) return Of(*match);
  }
  const std::span<const MessageLine> all(lines);
  size_t end = lines.size();
  const std::vector<size_t> heads = ErrorHeads(lines);
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) {
    if (auto match = FirstMatch(EvaluationWordings(), all.subspan(*head, end - *head), kMessage))
      return Of(*match);
    end = *head;
  }
  if (auto match = FirstMatch(EvaluationWordings(), all.first(end), kMessage)) return Of(*match);
  return std::nullopt;
}

std::optional<Classified> EvaluationFallback(const Lines& lines) {
  const std::vector<size_t> heads = ErrorHeads(lines);
  if (heads.empty()) return std::nullopt;
  std::string message = FirstMessage(std::span<const MessageLine>(lines).subspan(heads.back()));
  if (message.empty()) return std::nullopt;
  return Classified{Cause::kThrow, std::move(message)};
}

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

std::optional<Classified> AttemptByWording(const Lines& error, const Lines& log) {
  if (auto match = FirstMatch(AttemptWordings(), error, kMessage)) return Of(*match);
  if (auto match = FirstMatch(LogWordings(), log, kAllOfLog)) return Of(*match);
  if (auto match = FirstMatch(LogWordings(), error, kQuotedLog)) return Of(*match);
  if (auto match = FirstMatch(BuilderWordings(), error, kMessage)) return Of(*match);
  return std::nullopt;
}

bool IsSuccess(int nix_status) {
  return nix_status == kBuilt || nix_status == kSubstituted || nix_status == kAlreadyValid ||
         nix_status == kResolvesToAlreadyValid;
}

}  // namespace

Classified ClassifyEvaluation(std::string_view text) {
  const Lines lines = MessageLines(text);
  if (auto classified = EvaluationByWording(lines)) return *classified;
  if (auto classified = EvaluationFallback(lines)) return *classified;
  return {Cause::kUnknown, FirstMessage(lines)};
}

Classified ClassifyAttempt(int nix_status, std::string_view error, std::string_view log_tail) {
  if (IsSuccess(nix_status)) return {Cause::kNone, ""};
  const Lines error_lines = MessageLines(error);
  auto by_wording = AttemptByWording(error_lines, MessageLines(log_tail));
  if (auto exact = ExactCause(nix_status)) {
    return {*exact,
            by_wording && by_wording->cause == *exact ? by_wording->message : FirstMessage(error_lines)};
  }
  if (by_wording) return *by_wording;
  return {WeakCause(nix_status), FirstMessage(error_lines)};
}

Classified ClassifyCheck(std::string_view output) {
  const Lines lines = MessageLines(output);
  if (auto match = FirstMatch(CheckWordings(), lines, kEverything)) return Of(*match);
  return {Cause::kWrongResult, lines.empty() ? "" : Shortened(lines.back().text)};
}

Guess ClassifyText(std::string_view text) {
  const Lines lines = MessageLines(text);
  const bool has_error = !ErrorHeads(lines).empty();
  const auto evaluation = EvaluationByWording(lines);
  const bool explained = has_error && evaluation && evaluation->cause != Cause::kUnknown;
  if (explained) return {FailureStage::kEvaluation, *evaluation};
  if (auto attempt = AttemptByWording(lines, lines)) return {FailureStage::kAttempt, *attempt};
  if (auto match = FirstMatch(CheckWordings(), lines, kEverything)) return {FailureStage::kCheck, Of(*match)};
  if (auto thrown = EvaluationFallback(lines)) return {FailureStage::kEvaluation, *thrown};
  return {FailureStage::kEvaluation, {Cause::kUnknown, FirstMessage(lines)}};
}

}  // namespace hydrant
