#include "client/commands/verbs.h"
#include "client/format/lists.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {

absl::StatusOr<Exit> EvaluationList(const EvaluationListOptions& options, Session& session) {
  v1::ListEvaluationsRequest request;
  request.set_matrix(options.matrix);
  request.set_branch(options.branch);
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::ListEvaluationsResponse evaluations, client->ListEvaluations(request));
  session.PrintTable(EvaluationsTable(evaluations, session.screen()),
                     [&](JsonLayout layout) { return EvaluationsJson(evaluations, layout); });
  return Exit::kOk;
}

}  // namespace hydrant::client
