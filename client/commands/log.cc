#include "absl/strings/str_cat.h"
#include "client/commands/verbs.h"
#include "client/format/json.h"
#include "client/format/text.h"
#include "client/watch_evaluation.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {

namespace {

// The chunks of one attempt's log in the form that is wanted: text and lines as they come, a document at the end.
class LogPrinter {
 public:
  explicit LogPrinter(Session& session) : session_(session) {}

  void Take(const v1::ReadLogResponse& response) {
    attempt_ = response.attempt();
    switch (session_.form()) {
      case OutputForm::kTable:
        return session_.console().Out(session_.screen().terminal ? filter_.Filter(response.data()) : response.data());
      case OutputForm::kJsonl:
        return session_.console().Out(ObjectJson(
            {{"attempt", attempt_}, {"offset", int64_t{response.offset()}}, {"data", response.data()}}, JsonLayout::kLines));
      case OutputForm::kJson:
      case OutputForm::kMarkdown: text_ += response.data();
    }
  }

  void End() {
    if (session_.form() == OutputForm::kJson) {
      session_.console().Out(ObjectJson({{"attempt", attempt_}, {"log", text_}}, JsonLayout::kPretty));
    } else if (session_.form() == OutputForm::kMarkdown) {
      session_.console().Out(absl::StrCat("```\n", filter_.Filter(text_), "```\n"));
    }
  }

 private:
  Session& session_;
  LogFilter filter_;
  std::string text_;
  int64_t attempt_ = 0;
};

}  // namespace

absl::StatusOr<Exit> ShowLog(const LogOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  v1::ReadLogRequest request;
  request.set_address(options.address);
  options.of.Into(request);
  request.set_follow(options.follow);
  LogPrinter printer(session);
  rpc::Outage outage({.give_up_after = kLongestOutage}, session.clock());
  for (bool begun = false;;) {
    const absl::Status status = client->ReadLog(request, [&](const v1::ReadLogResponse& response) {
      begun = true;
      outage.Over();
      // From here on this attempt and no newer one.
      request.set_address(absl::StrCat("a", response.attempt()));
      request.set_offset(response.offset() + static_cast<int64_t>(response.data().size()));
      printer.Take(response);
    });
    if (status.ok()) {
      printer.End();
      return Exit::kOk;
    }
    if (!begun || !options.follow || !outage.WaitToRetry(status, session.pause())) return status;
  }
}

}  // namespace hydrant::client
