#include "client/progress.h"

#include "absl/strings/str_cat.h"
#include "client/format/text.h"
#include "client/format/words.h"

namespace hydrant::client {

std::string ProgressText(const v1::WatchResponse& response) {
  const v1::Evaluation& evaluation = response.evaluation();
  std::string text =
      absl::StrCat(evaluation.matrix(), " #", evaluation.id(), " ", EvaluationStateWord(evaluation.state()));
  const int64_t all = SumOf(response.totals());
  if (all > 0) {
    absl::StrAppend(&text, ": ", FinalOf(response.totals()), " of ", all,
                    " done: ", TotalsText(response.totals()));
  }
  const char* separator = "; ";
  for (const auto& running : response.running()) {
    absl::StrAppend(&text, separator, running.worker(), " ", AttemptStageWord(running.stage()), " ",
                    running.what());
    separator = ", ";
  }
  return Clean(text);
}

void Progress::Show(const v1::WatchResponse& response) {
  const std::string text = ProgressText(response);
  if (console_.err_screen().terminal) return Rewrite(text);
  const v1::EvaluationState state = response.evaluation().state();
  const bool due = state != last_state_ || clock_.Now() >= last_at_ + kProgressInterval;
  if (!due || text == last_text_) return;
  console_.Err(text + "\n");
  last_text_ = text;
  last_at_ = clock_.Now();
  last_state_ = state;
}

void Progress::ShowOutage(const absl::Status& why, int failures) {
  const std::string text =
      Clean(absl::StrCat("hydrantd is away, trying again (", failures, "): ", why.message()));
  if (console_.err_screen().terminal) return Rewrite(text);
  if (failures == 1) console_.Err(text + "\n");
}

void Progress::Clear() {
  if (shown_) console_.Err("\r\x1b[K");
  shown_ = false;
}

void Progress::Rewrite(const std::string& text) {
  const Screen& screen = console_.err_screen();
  console_.Err("\r\x1b[K" + Shorten(text, screen.width - 1, screen.utf8));
  shown_ = true;
}

}  // namespace hydrant::client
