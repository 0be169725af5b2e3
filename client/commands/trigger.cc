#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/commands/verbs.h"
#include "client/format/text.h"
#include "client/format/words.h"
#include "client/progress.h"
#include "client/watch_evaluation.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

absl::StatusOr<v1::WatchResponse> WaitFor(const v1::Evaluation& evaluation, Session& session) {
  Progress progress(session.console(), session.clock());
  v1::WatchRequest request;
  request.set_matrix(evaluation.matrix());
  request.set_evaluation(evaluation.id());
  HYDRANT_ASSIGN_OR_RETURN(
      v1::WatchResponse end,
      WatchToEnd(
          session, request,
          {.reached = true,
           .on_response = [&](const v1::WatchResponse& response) { progress.Show(response); },
           .on_outage = [&](const absl::Status& why, int failures) { progress.ShowOutage(why, failures); }}));
  progress.Clear();
  return end;
}

std::string AskedFor(const v1::Evaluation& evaluation) {
  const std::string branch = evaluation.branch().empty() ? "" : ", branch " + Clean(evaluation.branch()) + ",";
  return absl::StrCat("evaluation ", evaluation.id(), " of ", Clean(evaluation.matrix()), branch, " asked for\n");
}

}  // namespace

absl::StatusOr<Exit> Trigger(const TriggerOptions& options, Session& session) {
  v1::TriggerRequest request;
  request.set_matrix(options.matrix);
  request.set_only(options.only);
  request.set_priority(options.priority);
  request.set_branch(options.branch);
  request.set_revision(options.revision);
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::TriggerResponse triggered, client->Trigger(request));
  std::vector<v1::WatchResponse> evaluations(1);
  *evaluations[0].mutable_evaluation() = triggered.evaluation();
  for (const v1::Evaluation& more : triggered.more()) *evaluations.emplace_back().mutable_evaluation() = more;
  Exit worst = Exit::kOk;
  for (v1::WatchResponse& evaluation : evaluations) {
    if (!options.wait) break;
    HYDRANT_ASSIGN_OR_RETURN(evaluation, WaitFor(evaluation.evaluation(), session));
    if (!GatePassed(evaluation.evaluation())) worst = Exit::kWorkFailed;
  }
  session.Print({.table =
                     [&] {
                       std::string text;
                       for (const v1::WatchResponse& evaluation : evaluations) {
                         text += options.wait ? FormatEnd(evaluation, session.screen())
                                              : AskedFor(evaluation.evaluation());
                       }
                       return text;
                     },
                 .json = [&](JsonLayout layout) { return TriggerJson(evaluations, options.wait, layout); }});
  return worst;
}

}  // namespace hydrant::client
