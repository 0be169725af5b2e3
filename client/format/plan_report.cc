#include "absl/strings/str_cat.h"
#include "client/format/lists.h"
#include "client/format/status_report.h"
#include "client/format/words.h"

namespace hydrant::client {
namespace {

// The grid and its reasons, of the status of an evaluation that is not recorded.
v1::GetStatusResponse AsStatus(const v1::PlanResponse& plan) {
  v1::GetStatusResponse status;
  *status.mutable_variants() = plan.variants();
  *status.mutable_totals() = plan.totals();
  *status.mutable_notes() = plan.notes();
  return status;
}

std::string Steps(const v1::PlanResponse& plan) {
  return absl::StrCat(Count(plan.steps_build(), "step"), " to build, ", plan.steps_present(),
                      " already in a cache, ", plan.steps_shared(), " shared by several variants");
}

}  // namespace

std::string FormatPlan(const std::string& matrix, const v1::PlanResponse& plan, const Screen& screen) {
  Writer writer(screen);
  writer.Line().Text("Revision ", Style::kBold).Text(plan.revision()).Line();
  writer.Text("Steps    ", Style::kBold).Text(Steps(plan)).Line();
  return FormatStatus(matrix, AsStatus(plan), absl::InfinitePast(), screen) + writer.Take();
}

std::string FormatMarkdownPlan(const std::string& matrix, const v1::PlanResponse& plan) {
  return absl::StrCat(FormatMarkdownStatus(matrix, AsStatus(plan)), "\n", Steps(plan), ".\n");
}

}  // namespace hydrant::client
