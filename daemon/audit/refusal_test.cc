#include "daemon/audit/refusal.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

TEST(RefusalTest, OnlyTheRulesThatAreNamedRefuse) {
  std::vector<Finding> findings = {{.rule = "capabilities", .message = "x"},
                                   {.rule = "two_cuda_releases", .message = "12.9 and 11.8 meet"}};
  EXPECT_FALSE(RefusalOf(findings));
  SetSeverity(std::vector<std::string>{"two_cuda_releases"}, findings);
  EXPECT_EQ(findings[0].severity, Severity::kWarn);
  const auto refusal = RefusalOf(findings);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->cause, Cause::kAuditFailed);
  EXPECT_EQ(refusal->message, "rule two_cuda_releases: 12.9 and 11.8 meet");
  SetSeverity({}, findings);
  EXPECT_FALSE(RefusalOf(findings));
}

TEST(RefusalTest, TwoCopiesOfAModuleHaveACauseOfTheirOwn) {
  std::vector<Finding> findings = {{.rule = "duplicate_modules", .message = "jaxlib is there twice"}};
  SetSeverity(std::vector<std::string>{"duplicate_modules"}, findings);
  EXPECT_EQ(RefusalOf(findings)->cause, Cause::kDuplicateModules);
}

}  // namespace
}  // namespace hydrant
