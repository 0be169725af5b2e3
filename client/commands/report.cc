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
v1::GetStatusRequest StatusRequestOf(const std::string& target, const std::string& branch) {
  v1::GetStatusRequest request;
  request.set_branch(branch);
  int64_t number = 0;
  if (absl::SimpleAtoi(target, &number) && number > 0) {
    request.set_evaluation(number);
  } else {
    request.set_matrix(target);
  }
  return request;
}

absl::StatusOr<int64_t> EvaluationOf(const std::string& target, const std::string& branch, Client& client) {
  const v1::GetStatusRequest request = StatusRequestOf(target, branch);
  if (request.evaluation() != 0 && branch.empty()) return request.evaluation();
  HYDRANT_ASSIGN_OR_RETURN(const v1::GetStatusResponse status, client.GetStatus(request));
  return status.evaluation().id();
}

absl::StatusOr<Exit> ReportChanges(const ReportOptions& options, Client& client, Session& session) {
  v1::CompareEvaluationsRequest request;
  // --against-branch alone is of the same matrix.
  const std::string& against = options.against.empty() ? options.target : options.against;
  HYDRANT_ASSIGN_OR_RETURN(const int64_t before, EvaluationOf(against, options.against_branch, client));
  HYDRANT_ASSIGN_OR_RETURN(const int64_t after, EvaluationOf(options.target, options.branch, client));
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
  if (!options.against.empty() || !options.against_branch.empty())
    return ReportChanges(options, *client, session);
  HYDRANT_ASSIGN_OR_RETURN(const v1::GetStatusResponse status,
                           client->GetStatus(StatusRequestOf(options.target, options.branch)));
  const std::string& matrix = status.evaluation().matrix();
  session.Print(
      {.table = [&] { return FormatStatus(matrix, status, session.clock().Now(), session.screen()); },
       .json = [&](JsonLayout layout) { return StatusJson(matrix, status, layout); },
       .markdown = [&] { return FormatMarkdownReport(status); }});
  return Exit::kOk;
}

}  // namespace hydrant::client
