#include "client/watch_evaluation.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/format/words.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

// What was told of each variant, so that nothing is told twice.
class Told {
 public:
  v1::WatchResponse OnlyNew(const v1::WatchResponse& response) {
    v1::WatchResponse fresh = response;
    fresh.clear_changed();
    for (const auto& variant : response.changed()) {
      std::string& state = states_[variant.id()];
      if (std::exchange(state, variant.state()) != variant.state()) *fresh.add_changed() = variant;
    }
    return fresh;
  }

 private:
  std::map<std::string, std::string> states_;
};

constexpr Backoff kReconnect = {.first = absl::Milliseconds(250), .most = absl::Seconds(5)};

}  // namespace

absl::StatusOr<v1::WatchResponse> WatchToEnd(Session& session, v1::WatchRequest request,
                                             const WatchOptions& options) {
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  rpc::Outage outage({.backoff = kReconnect, .give_up_after = kLongestOutage}, session.clock());
  Told told;
  v1::WatchResponse last;
  for (bool begun = options.reached;;) {
    absl::Status status = client->Watch(request, [&](const v1::WatchResponse& response) {
      begun = true;
      outage.Over();
      request.set_evaluation(response.evaluation().id());
      last = response;
      options.on_response(told.OnlyNew(response));
    });
    if (status.ok() && IsEnded(last.evaluation().state())) return last;
    if (status.ok()) status = absl::UnavailableError("the watch ended before the evaluation did");
    if (!begun) return status;
    const rpc::Pause pause = [&](absl::Duration duration) {
      options.on_outage(status, outage.failures());
      return session.pause()(duration);
    };
    if (!outage.WaitToRetry(status, pause)) return status;
  }
}

bool GatePassed(const v1::Evaluation& evaluation) {
  return evaluation.state() == v1::EVALUATION_STATE_SETTLED && evaluation.gate_passed();
}

std::string FormatEnd(const v1::WatchResponse& end, const Screen& screen) {
  const v1::Evaluation& evaluation = end.evaluation();
  const bool passed = GatePassed(evaluation);
  Writer writer(screen);
  writer.Text(evaluation.matrix(), Style::kBold);
  if (!evaluation.branch().empty()) writer.Text(absl::StrCat(" branch ", evaluation.branch()));
  writer.Text(
      absl::StrCat(" evaluation ", evaluation.id(), " ", EvaluationStateWord(evaluation.state()), ", "));
  writer.Text(passed ? "gate passed" : "gate not passed", passed ? Style::kGood : Style::kBad);
  writer.Text(": " + (end.totals().empty() ? "no variants" : TotalsText(end.totals()))).Line();
  if (!evaluation.message().empty()) writer.Paragraph(evaluation.message(), 2, Style::kBad);
  if (!passed)
    writer.Text(absl::StrCat("  hydrant status --eval ", evaluation.id(), " says why"), Style::kDim).Line();
  return writer.Take();
}

}  // namespace hydrant::client
