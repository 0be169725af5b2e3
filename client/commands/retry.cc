#include "absl/strings/str_cat.h"
#include "client/commands/selection.h"
#include "client/format/words.h"
#include "lib/base/status_macros.h"
#include "lib/failure/cause.h"

namespace hydrant::client {

absl::StatusOr<Exit> Retry(const SelectionOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(const SelectionOptions selection, Resolve(options));
  if (!selection.cause.empty() && !ParseCause(selection.cause)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--cause '", selection.cause,
                     "' is no cause: such as out_of_memory, timeout, builder_failed, check_failed"));
  }
  v1::RetryRequest request;
  request.set_address(selection.address);
  request.set_matrix(selection.matrix);
  selection.of.Into(request);
  request.set_cause(selection.cause);
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::RetryResponse retried, client->Retry(request));
  session.Print({.table =
                     [&] {
                       std::string text =
                           absl::StrCat(retried.retried(), " steps and checks are tried again");
                       if (retried.evaluation() != 0) {
                         absl::StrAppend(&text, "; evaluation ", retried.evaluation(), " asked for");
                       }
                       return text + "\n";
                     },
                 .json =
                     [&](JsonLayout layout) {
                       return ObjectJson({{"retried", int64_t{retried.retried()}},
                                          {"evaluation", int64_t{retried.evaluation()}}},
                                         layout);
                     }});
  return Exit::kOk;
}

}  // namespace hydrant::client
