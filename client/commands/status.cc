#include "client/commands/verbs.h"
#include "client/format/lists.h"
#include "client/format/status_report.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {

absl::StatusOr<Exit> ShowStatus(const StatusOptions& options, Session& session) {
  if (options.matrix.empty() && !options.of.branch.empty())
    return absl::InvalidArgumentError("--branch is of a matrix: name that too");
  if (options.matrix.empty() && options.of.evaluation == 0) return MatrixList(session);
  v1::GetStatusRequest request;
  request.set_matrix(options.matrix);
  options.of.Into(request);
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::GetStatusResponse status, client->GetStatus(request));
  const std::string& matrix =
      status.evaluation().matrix().empty() ? options.matrix : status.evaluation().matrix();
  session.Print(
      {.table = [&] { return FormatStatus(matrix, status, session.clock().Now(), session.screen()); },
       .json = [&](JsonLayout layout) { return StatusJson(matrix, status, layout); },
       .markdown = [&] { return FormatMarkdownStatus(matrix, status); }});
  return Exit::kOk;
}

}  // namespace hydrant::client
