#include "client/format/report.h"

#include "absl/strings/numbers.h"
#include "client/commands/verbs.h"
#include "client/format/comparison_report.h"
#include "client/format/json.h"
#include "client/format/status_report.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

// "3" is an evaluation, anything else a matrix.
v1::GetStatusRequest StatusRequestOf(const std::string& target) {
  v1::GetStatusRequest request;
  int64_t number = 0;
  if (absl::SimpleAtoi(target, &number) && number > 0) {
    request.set_evaluation(number);
  } else {
    request.set_matrix(target);
  }
  return request;
}

absl::StatusOr<int64_t> EvaluationOf(const std::string& target, Client& client) {
  const v1::GetStatusRequest request = StatusRequestOf(target);
  if (request.evaluation() != 0) return request.evaluation();
  HYDRANT_ASSIGN_OR_RETURN(const v1::GetStatusResponse status, client.GetStatus(request));
  return status.evaluation().id();
}

absl::StatusOr<Exit> ReportChanges(const ReportOptions& options, Client& client, Session& session) {
  v1::CompareEvaluationsRequest request;
  HYDRANT_ASSIGN_OR_RETURN(const int64_t before, EvaluationOf(options.against, client));
  HYDRANT_ASSIGN_OR_RETURN(const int64_t after, EvaluationOf(options.target, client));
  request.set_before(before);
  request.set_after(after);
  HYDRANT_ASSIGN_OR_RETURN(const v1::CompareEvaluationsResponse comparison,
                           client.CompareEvaluations(request));
  session.Print({.table = [&] { return FormatComparison(comparison, session.screen()); },
                 .json = [&](JsonLayout layout) { return ComparisonJson(comparison, layout); },
                 .markdown = [&] { return FormatMarkdownComparison(comparison); }});
  return Exit::kOk;
}

}  // namespace

absl::StatusOr<Exit> Report(const ReportOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  if (!options.against.empty()) return ReportChanges(options, *client, session);
  HYDRANT_ASSIGN_OR_RETURN(const v1::GetStatusResponse status,
                           client->GetStatus(StatusRequestOf(options.target)));
  const std::string& matrix = status.evaluation().matrix();
  session.Print(
      {.table = [&] { return FormatStatus(matrix, status, session.clock().Now(), session.screen()); },
       .json = [&](JsonLayout layout) { return StatusJson(matrix, status, layout); },
       .markdown = [&] { return FormatMarkdownReport(status); }});
  return Exit::kOk;
}

}  // namespace hydrant::client
