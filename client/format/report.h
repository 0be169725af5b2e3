// What `hydrant report` says of one evaluation: a comment for a pull request, in the manner of
// nixpkgs-review.
#ifndef HYDRANT_CLIENT_FORMAT_REPORT_H_
#define HYDRANT_CLIENT_FORMAT_REPORT_H_

#include <hydrant/v1/farm_service.pb.h>

#include <string>

namespace hydrant::client {

// Failed, built, skipped (another cache has it), waiting, impossible, unfinished, cancelled: each a part that
// opens.
std::string FormatMarkdownReport(const v1::GetStatusResponse& status);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_REPORT_H_
