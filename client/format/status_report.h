// What `hydrant status` says: the grid, then what runs, what failed and why, what waits and for what, what
// cannot be.
#ifndef HYDRANT_CLIENT_FORMAT_STATUS_REPORT_H_
#define HYDRANT_CLIENT_FORMAT_STATUS_REPORT_H_

#include <hydrant/v1/farm_service.pb.h>

#include <string>

#include "absl/time/time.h"
#include "client/format/grid_layout.h"
#include "client/format/screen.h"

namespace hydrant::client {

// `matrix` is the title where there is no evaluation ("matrix show").
std::string FormatStatus(const std::string& matrix, const v1::GetStatusResponse& status, absl::Time now,
                         const Screen& screen);
std::string FormatMarkdownStatus(const std::string& matrix, const v1::GetStatusResponse& status);

// Variants of one fate and one reason, in the order in which they were met.
struct VariantGroup {
  std::string state;    // failed (its dependents belong to it), waiting or impossible
  std::string cause;    // the cause's word
  std::string message;  // of the one at fault
  std::string root;     // .drv; failed only
  std::vector<const v1::VariantStatus*> variants;
};
// Failed and dependency_failed ones by root, waiting ones by what they wait for, impossible ones by cause and
// message.
std::vector<VariantGroup> GroupVariants(const Variants& variants);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_STATUS_REPORT_H_
