#include "client/commands/verbs.h"
#include "client/format/lists.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {

absl::StatusOr<Exit> Explain(const ExplainOptions& options, Session& session) {
  v1::ExplainRequest request;
  request.set_address(options.address);
  options.of.Into(request);
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::ExplainResponse explanation, client->Explain(request));
  session.Print({.table = [&] { return FormatExplanation(explanation, session.screen()); },
                 .json = [&](JsonLayout layout) { return ExplainJson(explanation, layout); }});
  return Exit::kOk;
}

}  // namespace hydrant::client
