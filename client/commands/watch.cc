#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/commands/verbs.h"
#include "client/format/words.h"
#include "client/progress.h"
#include "client/watch_evaluation.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

absl::StatusOr<v1::WatchRequest> RequestFor(const WatchVerbOptions& options, Session& session) {
  const std::string& target = options.target;
  v1::WatchRequest request;
  request.set_branch(options.branch);
  int64_t evaluation = 0;
  if (absl::SimpleAtoi(target, &evaluation)) {
    if (evaluation <= 0)
      return absl::InvalidArgumentError(absl::StrCat("'", target, "' is no evaluation: they count from 1"));
    request.set_evaluation(evaluation);
  } else if (!target.empty()) {
    request.set_matrix(target);
  } else {
    if (!options.branch.empty()) return absl::InvalidArgumentError("--branch is of a matrix: name that too");
    HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
    HYDRANT_ASSIGN_OR_RETURN(const v1::ListEvaluationsResponse all, client->ListEvaluations({}));
    if (all.evaluations_size() == 0)
      return absl::NotFoundError("there is no evaluation to watch: hydrant trigger MATRIX");
    request.set_evaluation(all.evaluations(0).id());
  }
  return request;
}

// "✗ torch@cuda12.9 failed: builder_failed: the decisive line"
void WriteChange(const v1::VariantStatus& variant, Writer& writer) {
  const StateMark& mark = MarkOf(variant.state());
  writer.Text(MarkText(mark, writer.screen()), mark.style)
      .Text(" " + variant.id() + " ")
      .Text(variant.state(), mark.style);
  if (!variant.cause().empty() && variant.cause() != variant.state()) writer.Text(": " + variant.cause());
  if (!variant.message().empty()) writer.Text(": " + variant.message());
  writer.Line();
}

// The first response has every variant: only what is bad is told one by one then.
bool WorthTelling(const v1::VariantStatus& variant, bool first) {
  return !first || variant.state() == "failed" || variant.state() == "waiting";
}

std::string Changes(const v1::WatchResponse& response, bool first, const Screen& screen) {
  Writer writer(screen);
  for (const auto& variant : response.changed()) {
    if (WorthTelling(variant, first)) WriteChange(variant, writer);
  }
  return writer.Take();
}

}  // namespace

absl::StatusOr<Exit> Watch(const WatchVerbOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(const v1::WatchRequest request, RequestFor(options, session));
  Progress progress(session.console(), session.clock());
  bool first = true;
  const auto show = [&](const v1::WatchResponse& response) {
    if (session.form() == OutputForm::kJsonl) {
      session.console().Out(WatchJson(response));
    } else if (session.form() == OutputForm::kTable) {
      const std::string changes = Changes(response, std::exchange(first, false), session.screen());
      if (!changes.empty()) progress.Clear();
      session.console().Out(changes);
    }
    progress.Show(response);
  };
  const auto outage = [&](const absl::Status& why, int failures) { progress.ShowOutage(why, failures); };
  HYDRANT_ASSIGN_OR_RETURN(const v1::WatchResponse end,
                           WatchToEnd(session, request, {.on_response = show, .on_outage = outage}));
  progress.Clear();
  const Exit exit = GatePassed(end.evaluation()) ? Exit::kOk : Exit::kWorkFailed;
  if (session.form() == OutputForm::kJsonl) return exit;
  session.Print({.table = [&] { return FormatEnd(end, session.screen()); },
                 .json = [&](JsonLayout layout) { return TriggerJson(end.evaluation(), &end, layout); }});
  return exit;
}

}  // namespace hydrant::client
