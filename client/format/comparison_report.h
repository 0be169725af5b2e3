// What `hydrant report --against` says: what changed between two evaluations, variants of one cause together.
#ifndef HYDRANT_CLIENT_FORMAT_COMPARISON_REPORT_H_
#define HYDRANT_CLIENT_FORMAT_COMPARISON_REPORT_H_

#include <hydrant/v1/farm_service.pb.h>

#include <string>

#include "client/format/screen.h"

namespace hydrant::client {

std::string FormatComparison(const v1::CompareEvaluationsResponse& comparison, const Screen& screen);
std::string FormatMarkdownComparison(const v1::CompareEvaluationsResponse& comparison);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_COMPARISON_REPORT_H_
