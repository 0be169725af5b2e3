#include "absl/strings/str_cat.h"
#include "client/commands/verbs.h"
#include "client/format/text.h"
#include "client/watch_evaluation.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {

absl::StatusOr<Exit> ShowLog(const LogOptions& options, Session& session) {
  HYDRANT_RETURN_IF_ERROR(session.OnlyText("log"));
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  v1::ReadLogRequest request;
  request.set_address(options.address);
  request.set_evaluation(options.evaluation);
  request.set_follow(options.follow);
  LogFilter filter;
  rpc::Outage outage({.give_up_after = kLongestOutage}, session.clock());
  for (bool begun = false;;) {
    const absl::Status status = client->ReadLog(request, [&](const v1::ReadLogResponse& response) {
      begun = true;
      outage.Over();
      // From here on this attempt and no newer one.
      request.set_address(absl::StrCat("a", response.attempt()));
      request.set_offset(response.offset() + static_cast<int64_t>(response.data().size()));
      const bool terminal = session.screen().terminal;
      session.console().Out(terminal ? filter.Filter(response.data()) : response.data());
    });
    if (status.ok()) return Exit::kOk;
    if (!begun || !options.follow || !outage.WaitToRetry(status, session.pause())) return status;
  }
}

}  // namespace hydrant::client
