// The tables of the verbs that list things, the plan and the explanation. Each table goes to a screen or into
// markdown.
#ifndef HYDRANT_CLIENT_FORMAT_LISTS_H_
#define HYDRANT_CLIENT_FORMAT_LISTS_H_

#include <hydrant/v1/farm_service.pb.h>

#include <string>

#include "absl/time/time.h"
#include "client/format/table.h"

namespace hydrant::client {

Table MatricesTable(const v1::ListMatricesResponse& matrices);
Table EvaluationsTable(const v1::ListEvaluationsResponse& evaluations, const Screen& screen);
Table WorkersTable(const v1::ListWorkersResponse& workers);
Table ChannelsTable(const v1::ListChannelsResponse& channels, const Screen& screen);

std::string FormatWorker(const v1::WorkerStatus& worker, absl::Time now, const Screen& screen);
std::string FormatChannel(const v1::Channel& channel, const Screen& screen);
std::string FormatExplanation(const v1::ExplainResponse& explanation, const Screen& screen);

// What would be built, shared, skipped, impossible; then the grid's reasons.
std::string FormatPlan(const std::string& matrix, const v1::PlanResponse& plan, const Screen& screen);
std::string FormatMarkdownPlan(const std::string& matrix, const v1::PlanResponse& plan);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_LISTS_H_
