#include "client/format/inspect_classify.h"

#include "client/commands/inspect.h"
#include "client/commands/inspect_input.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

constexpr size_t kLongestText = 1 << 30;  // bytes

Guess ClassifyAt(std::optional<FailureStage> stage, std::string_view text) {
  if (!stage) return ClassifyText(text);
  switch (*stage) {
    case FailureStage::kEvaluation:
      return {*stage, ClassifyEvaluation(text)};
    case FailureStage::kAttempt:
      return {*stage, ClassifyAttemptText(text)};
    case FailureStage::kCheck:
      return {*stage, ClassifyCheck(text)};
  }
  return {};
}

}  // namespace

absl::StatusOr<Exit> InspectClassify(const InspectClassifyOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadInput("-", kLongestText));
  const Guess guess = ClassifyAt(options.stage, text);
  session.Print({.table = [&] { return FormatClassified(guess, session.screen()); },
                 .json = [&](JsonLayout layout) { return ClassifiedJson(guess, layout); }});
  return Exit::kOk;
}

}  // namespace hydrant::client
