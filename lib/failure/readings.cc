#include "lib/failure/readings.h"

#include <string>
#include <utility>

namespace hydrant {
namespace {

bool IsMessage(const MessageLine& line) {
  return line.part == LinePart::kErrorHead || line.part == LinePart::kText;
}

}  // namespace

void FirstMessage::Take(const MessageLine& line) {
  if (!found_.message.empty() || !IsMessage(line) || line.text.empty()) return;
  found_ = {Cause::kUnknown, ShortMessage(line.text), line.number};
}

void WholeMessage::Take(const MessageLine& line) {
  if (first_.found().message.empty()) return first_.Take(line);
  over_ |= line.part != LinePart::kText || !line.of_error;
  if (over_ || more_.size() > kLongestMessage) return;
  more_.append(" ").append(line.text);
}

Classified WholeMessage::found() const {
  Classified whole = first_.found();
  whole.message = ShortMessage(whole.message + more_);
  return whole;
}

void EvaluationReading::Take(const MessageLine& line) {
  if (line.part == LinePart::kErrorHead) {
    // What was said before the first error may be anybody's.
    if (error_.found() && has_error_) explained_ = error_.found();
    // So may what looks like a death that another error survived.
    death_.reset();
    error_ = WordingSearch(EvaluationWordings());
    last_ = WholeMessage();
    has_error_ = true;
  }
  if (!death_ && IsMessage(line)) {
    WordingSearch death(EvaluatorDeathWordings());
    // The rows name "error:" where it must stand, as in "error: out of memory".
    if (line.part == LinePart::kErrorHead) {
      death.Look(line, "error: " + line.plain);
    } else {
      death.Look(line);
    }
    death_ = death.found();
  }
  if (IsMessage(line)) error_.Look(line);
  last_.Take(line);
}

std::optional<Classified> EvaluationReading::ByWording() const {
  if (death_) return death_;
  if (!error_.found()) return explained_;
  Classified found = *error_.found();
  // The package's own words, unlike those of Nix and nixpkgs, may say the most in their last line.
  if (const Classified last = last_.found(); found.cause == Cause::kAbort && found.line == last.line)
    found.message = last.message;
  return found;
}

std::optional<Classified> EvaluationReading::Thrown() const {
  Classified thrown = last_.found();
  if (!has_error_ || thrown.message.empty()) return std::nullopt;
  thrown.cause = Cause::kThrow;
  return thrown;
}

void AttemptReading::TakeError(const MessageLine& line) {
  if (line.part == LinePart::kLog) quoted_log_.Look(line);
  if (!IsMessage(line)) return;
  error_.Look(line);
  builder_.Look(line);
}

void AttemptReading::TakeLog(const MessageLine& line) {
  if (IsMessage(line) || line.part == LinePart::kLog) log_.Look(line);
}

std::optional<Classified> AttemptReading::ByWording() const {
  for (const WordingSearch* search : {&error_, &log_, &quoted_log_, &builder_}) {
    if (search->found()) return search->found();
  }
  return std::nullopt;
}

void MixedReading::Take(const MessageLine& line) {
  if (line.of_error) has_error_ = true;
  if (line.of_error) with_error_.TakeError(line);
  with_error_.TakeLog(line);
  if (!has_error_) without_.TakeError(line);
}

std::optional<Classified> MixedReading::ByWording() const {
  std::optional<Classified> found = with_error_.ByWording();
  return found || has_error_ ? found : without_.ByWording();
}

void CheckReading::Take(const MessageLine& line) {
  if (line.part != LinePart::kGoodTest) search_.Look(line);
  last_ = line.text;
  number_ = line.number;
}

}  // namespace hydrant
