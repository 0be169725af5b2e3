#include "absl/strings/str_cat.h"
#include "client/commands/selection.h"
#include "client/format/words.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

// "2 variants of evaluation 12 are cancelled, with 1 step or check that nobody else wants".
std::string Sentence(const v1::CancelResponse& cancelled) {
  const std::string steps =
      cancelled.cancelled() == 1 ? "1 step or check" : absl::StrCat(cancelled.cancelled(), " steps and checks");
  if (cancelled.evaluation() == 0) return absl::StrCat(steps, " cancelled\n");
  const std::string of = absl::StrCat("evaluation ", cancelled.evaluation());
  const std::string what = cancelled.variants() == 0
                               ? of + " is"
                               : absl::StrCat(Count(cancelled.variants(), "variant"), " of ", of,
                                              cancelled.variants() == 1 ? " is" : " are");
  return absl::StrCat(what, " cancelled, with ", steps, " that nobody else wants\n");
}

}  // namespace

absl::StatusOr<Exit> Cancel(const SelectionOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(const SelectionOptions selection, Resolve(options));
  v1::CancelRequest request;
  request.set_address(selection.address);
  request.set_matrix(selection.matrix);
  selection.of.Into(request);
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::CancelResponse cancelled, client->Cancel(request));
  session.Print(
      {.table = [&] { return Sentence(cancelled); },
       .json =
           [&](JsonLayout layout) {
             return ObjectJson({{"cancelled", int64_t{cancelled.cancelled()}},
                                {"evaluation", int64_t{cancelled.evaluation()}},
                                {"variants", int64_t{cancelled.variants()}}},
                               layout);
           }});
  return Exit::kOk;
}

}  // namespace hydrant::client
