#include "client/format/inspect_classify.h"

#include "absl/strings/str_cat.h"
#include "client/format/description.h"
#include "client/format/json_document.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

std::string StageWord(FailureStage stage) {
  switch (stage) {
    case FailureStage::kEvaluation:
      return "evaluation";
    case FailureStage::kAttempt:
      return "attempt";
    case FailureStage::kCheck:
      return "check";
  }
  return "";
}

}  // namespace

std::string FormatClassified(const Guess& guess, const Screen& screen) {
  const Classified& classified = guess.classified;
  Writer writer(screen);
  writer.Text(CauseName(classified.cause), Style::kBold).Line();
  Describe(writer, "stage", StageWord(guess.stage));
  Describe(writer, "fault",
           absl::StrCat(AbslView(FaultName(classified.cause)), " (", AbslView(CauseReason(classified.cause)),
                        ")"));
  if (classified.line > 0) Describe(writer, "line", absl::StrCat(classified.line));
  Describe(writer, "message", classified.message);
  return writer.Take();
}

std::string ClassifiedJson(const Guess& guess, JsonLayout layout) {
  const Classified& classified = guess.classified;
  return Dump({{"class", CauseName(classified.cause)},
               {"stage", StageWord(guess.stage)},
               {"fault", FaultName(classified.cause)},
               {"reason", CauseReason(classified.cause)},
               {"retryable", IsRetryable(classified.cause)},
               {"message", classified.message},
               {"line", classified.line > 0 ? Json(classified.line) : Json(nullptr)}},
              layout);
}

}  // namespace hydrant::client
