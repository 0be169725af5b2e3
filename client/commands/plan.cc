#include "client/commands/matrix_file.h"
#include "client/commands/verbs.h"
#include "client/format/lists.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/axis_addition.h"

namespace hydrant::client {

absl::StatusOr<Exit> Plan(const PlanOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(const MatrixFile file, ReadMatrixFile(options.file));
  v1::PlanRequest request;
  *request.mutable_text() = file.text;
  request.set_branch(options.branch);
  request.set_revision(options.revision);
  Matrix with = file.matrix;
  for (const std::string& value : options.add) {
    HYDRANT_RETURN_IF_ERROR(Annotate(AddAxisValue(value, &with), "--add"));
    request.add_add(value);
  }
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::PlanResponse plan, client->Plan(request));
  const std::string& name = file.matrix.name;
  session.Print({.table = [&] { return FormatPlan(name, plan, session.screen()); },
                 .json = [&](JsonLayout layout) { return PlanJson(plan, layout); },
                 .markdown = [&] { return FormatMarkdownPlan(name, plan); }});
  return Exit::kOk;
}

}  // namespace hydrant::client
