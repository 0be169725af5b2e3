#include "daemon/evaluate/slice_evaluation.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/evaluate/caught_words.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/failure/classify.h"

namespace hydrant {
namespace {

// What tryEval catches is a throw or an assertion by its nature, however its words may read.
Classified ClassifyCaught(std::string_view words) {
  Classified caught = ClassifyEvaluation(words);
  if (IsEvaluatorDeath(caught.cause)) caught.cause = Cause::kThrow;
  if (caught.message.empty())
    caught.message = "refused by a throw or an assertion whose words could not be had";
  caught.message = PrintableText(caught.message);
  return caught;
}

}  // namespace

absl::StatusOr<std::vector<Outcome>> SliceEvaluation::Evaluate() {
  while (!remaining_.empty()) {
    std::vector<std::string> ids;
    for (const DriverName& name : remaining_) ids.push_back(name.id);
    DriverTranscript transcript(std::move(ids));
    HYDRANT_ASSIGN_OR_RETURN(const LineProcessEnd end, RunDriver(transcript));
    if (end.kind == LineProcessEnd::Kind::kStopped) return absl::CancelledError("evaluation cancelled");
    if (transcript.complete() && transcript.nothing_begins()) {
      caught_.insert(caught_.end(), remaining_.begin(), remaining_.end());
      remaining_.clear();
    } else if (transcript.complete()) {
      SettleReports(transcript, remaining_.size());
    } else {
      SettleDeath(transcript, ExplainDeath(end, transcript.words(), options_.bounds));
    }
  }
  HYDRANT_RETURN_IF_ERROR(SettleCaught());
  return std::move(outcomes_);
}

absl::StatusOr<LineProcessEnd> SliceEvaluation::RunDriver(DriverTranscript& transcript) {
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(options_.input, DriverInput(request_, remaining_)));
  LineProcess process{.argv = {"nix-instantiate", "--eval", "--strict", "--read-write-mode", "--option",
                               "allow-import-from-derivation", options_.ifd ? "true" : "false", "--argstr",
                               "input", options_.input, "-A", "run", options_.driver},
                      .env = options_.env,
                      .patience = options_.bounds.patience};
  absl::Status kept;
  const auto keep = [&](const std::string& derivation) {
    if (kept.ok() && !derivation.empty()) kept = options_.keep(derivation);
  };
  const auto take = [&](std::string_view line) {
    if (!transcript.Take(line)) return false;
    if (transcript.in_details()) {
      keep(transcript.reports().back().derivation);
      keep(transcript.reports().back().environment);
    }
    return true;
  };
  HYDRANT_ASSIGN_OR_RETURN(const LineProcessEnd end,
                           RunLineProcess(process, take, [&] { return !kept.ok() || options_.stop(); }));
  if (!kept.ok()) return kept;
  return end;
}

void SliceEvaluation::Settle(const DriverName& name, Cause cause, std::string message) {
  outcomes_.push_back({.variant = name.variant, .cause = cause, .message = std::move(message)});
}

void SliceEvaluation::SettleReport(const DriverName& name, const NameReport& report) {
  switch (report.kind) {
    case NameReport::Kind::kDerivation:
      outcomes_.push_back({.variant = name.variant,
                           .message = report.message,
                           .derivation = report.derivation,
                           .outputs = report.outputs,
                           .environment = report.environment,
                           .environment_output = report.environment_output});
      return;
    case NameReport::Kind::kMissing:
      return Settle(name, Cause::kMissingAttribute, report.message);
    case NameReport::Kind::kNotADerivation:
      return Settle(name, Cause::kNotADerivation, report.message);
    case NameReport::Kind::kGarbled:
      return Settle(name, Cause::kUnknown, report.message);
    case NameReport::Kind::kCaught:
      caught_.push_back(name);
      return;
  }
}

void SliceEvaluation::SettleReports(const DriverTranscript& transcript, size_t count) {
  for (size_t i = 0; i < count; ++i) SettleReport(remaining_[i], transcript.reports()[i]);
  Drop(count);
}

void SliceEvaluation::Drop(size_t count) { remaining_.erase(remaining_.begin(), remaining_.begin() + count); }

// Those before it in its process may have been at fault, so then it comes first in the next; as the first it
// has one more try.
bool SliceEvaluation::Retries(const Death& death, const DriverName& name, bool first_of_process) {
  return death.worth_a_retry && (!first_of_process || retried_.insert(name.variant).second);
}

void SliceEvaluation::SettleDeath(const DriverTranscript& transcript, const Death& death) {
  const size_t told = transcript.reports().size();
  if (told == 0 && !transcript.in_name()) {  // the set of packages itself, or Nix: the same for every name
    if (Retries(death, remaining_.front(), true)) return;
    for (const DriverName& name : remaining_) Settle(name, death.why.cause, death.why.message);
    return remaining_.clear();
  }
  if (transcript.in_name()) {
    SettleReports(transcript, told);
    if (Retries(death, remaining_.front(), told == 0)) return;
    Settle(remaining_.front(), death.why.cause, death.why.message);
    return Drop(1);
  }
  // Between two names, or the last has its derivation and lacks details.
  const bool again = transcript.in_details() && Retries(death, remaining_[told - 1], told == 1);
  SettleReports(transcript, again ? told - 1 : told);
}

absl::Status SliceEvaluation::SettleCaught() {
  if (caught_.empty()) return absl::OkStatus();
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(options_.input, DriverInput(request_, caught_)));
  std::vector<std::string> ids;
  for (const DriverName& name : caught_) ids.push_back(name.id);
  const CaughtWordsOptions asked{.env = options_.env,
                                 .driver = options_.driver,
                                 .input = options_.input,
                                 .ifd = options_.ifd,
                                 .patience = options_.bounds.patience};
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<std::string> words, CaughtWords(asked, ids, options_.stop));
  for (size_t i = 0; i < caught_.size(); ++i) {
    const Classified caught = ClassifyCaught(words[i]);
    Settle(caught_[i], caught.cause, caught.message);
  }
  return absl::OkStatus();
}

}  // namespace hydrant
