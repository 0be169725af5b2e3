#include "absl/strings/str_cat.h"
#include "client/commands/verbs.h"
#include "client/format/text.h"
#include "client/format/words.h"
#include "client/progress.h"
#include "client/watch_evaluation.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

absl::StatusOr<Exit> WaitFor(const v1::Evaluation& evaluation, Session& session) {
  Progress progress(session.console(), session.clock());
  v1::WatchRequest request;
  request.set_matrix(evaluation.matrix());
  request.set_evaluation(evaluation.id());
  HYDRANT_ASSIGN_OR_RETURN(
      const v1::WatchResponse end,
      WatchToEnd(
          session, request,
          {.reached = true,
           .on_response = [&](const v1::WatchResponse& response) { progress.Show(response); },
           .on_outage = [&](const absl::Status& why, int failures) { progress.ShowOutage(why, failures); }}));
  progress.Clear();
  session.Print({.table = [&] { return FormatEnd(end, session.screen()); },
                 .json = [&](JsonLayout layout) { return TriggerJson(end.evaluation(), &end, layout); }});
  return GatePassed(end.evaluation()) ? Exit::kOk : Exit::kWorkFailed;
}

}  // namespace

absl::StatusOr<Exit> Trigger(const TriggerOptions& options, Session& session) {
  v1::TriggerRequest request;
  request.set_matrix(options.matrix);
  request.set_only(options.only);
  request.set_priority(options.priority);
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::TriggerResponse triggered, client->Trigger(request));
  const v1::Evaluation& evaluation = triggered.evaluation();
  if (options.wait) return WaitFor(evaluation, session);
  session.Print({.table =
                     [&] {
                       return absl::StrCat("evaluation ", evaluation.id(), " of ", Clean(evaluation.matrix()),
                                           " asked for\n");
                     },
                 .json = [&](JsonLayout layout) { return TriggerJson(evaluation, nullptr, layout); }});
  return Exit::kOk;
}

}  // namespace hydrant::client
