#include "absl/strings/str_cat.h"
#include "client/commands/selection.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {

absl::StatusOr<Exit> Cancel(const SelectionOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(const SelectionOptions selection, Resolve(options));
  v1::CancelRequest request;
  request.set_address(selection.address);
  request.set_matrix(selection.matrix);
  selection.of.Into(request);
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::CancelResponse cancelled, client->Cancel(request));
  session.Print(
      {.table = [&] { return absl::StrCat(cancelled.cancelled(), " steps and checks are cancelled\n"); },
       .json =
           [&](JsonLayout layout) {
             return ObjectJson({{"cancelled", int64_t{cancelled.cancelled()}}}, layout);
           }});
  return Exit::kOk;
}

}  // namespace hydrant::client
