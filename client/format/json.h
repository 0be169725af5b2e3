// The JSON of the user's interface. What knows a JSON library is json_document.h and the sources that include it.
#ifndef HYDRANT_CLIENT_FORMAT_JSON_H_
#define HYDRANT_CLIENT_FORMAT_JSON_H_

#include <hydrant/v1/farm_service.pb.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hydrant::client {

// kPretty: one document. kLines: one line an element of the list (or the whole document where there is none).
enum class JsonLayout { kPretty, kLines };

// Without an evaluation ("matrix show") the key is left out.
std::string StatusJson(const std::string& matrix, const v1::GetStatusResponse& status, JsonLayout layout);
std::string MatricesJson(const v1::ListMatricesResponse& matrices, JsonLayout layout);
std::string EvaluationsJson(const v1::ListEvaluationsResponse& evaluations, JsonLayout layout);
std::string WorkersJson(const v1::ListWorkersResponse& workers, JsonLayout layout);
std::string WorkerJson(const v1::WorkerStatus& worker, JsonLayout layout);
std::string ChannelsJson(const v1::ListChannelsResponse& channels, JsonLayout layout);
std::string ChannelJson(const v1::Channel& channel, JsonLayout layout);
std::string PlanJson(const v1::PlanResponse& plan, JsonLayout layout);
// {"before","after","totals","causes":[…],"changes":[…]}; in lines the changes, each with its cause.
std::string ComparisonJson(const v1::CompareEvaluationsResponse& comparison, JsonLayout layout);
std::string ExplainJson(const v1::ExplainResponse& explanation, JsonLayout layout);
// {"evaluation":…} of a trigger, with "totals" once it ended.
std::string TriggerJson(const v1::Evaluation& evaluation, const v1::WatchResponse* end, JsonLayout layout);
// The same of a trigger of one or several branches: {"evaluations":[…]} of several, in lines one each.
std::string TriggerJson(const std::vector<v1::WatchResponse>& evaluations, bool ended, JsonLayout layout);
// What changed, one line: a step of a watch.
std::string WatchJson(const v1::WatchResponse& response);

// A flat object, keys in the order given.
using JsonFields =
    std::vector<std::pair<std::string, std::variant<std::string, int64_t, bool, std::vector<std::string>>>>;
std::string ObjectJson(const JsonFields& fields, JsonLayout layout);

// The axes of a slice as text, in the order of a variant's id: {"cuda":"12.9"}, {"capabilities":"8.9+9.0a"}.
using SliceAxes = std::vector<std::pair<std::string, std::string>>;
SliceAxes ReadSlice(const std::string& slice_json);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_JSON_H_
