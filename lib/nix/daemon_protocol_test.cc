#include "lib/nix/daemon_protocol.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hydrant::nix {
namespace {

TEST(DaemonProtocolTest, TableHasEachOperationOnceInOrder) {
  EXPECT_EQ(Operations().size(), 33u);
  EXPECT_TRUE(std::ranges::is_sorted(Operations(), std::ranges::less_equal(), &OperationFacts::operation));
  for (const OperationFacts& facts : Operations()) {
    EXPECT_FALSE(facts.name.empty());
    EXPECT_GE(facts.since_minor, kOldestProtocolMinor);
    EXPECT_TRUE(CheckOperation(facts.operation, {.minor = kProtocolMinor, .features = {}}).ok())
        << facts.name;
    EXPECT_TRUE(CheckOperation(facts.operation, {.minor = facts.since_minor, .features = {}}).ok())
        << facts.name;
  }
}

TEST(DaemonProtocolTest, MissingOperationIsNamedWithBothVersions) {
  const absl::Status status = CheckOperation(DaemonOperation::kAddPermRoot, {.minor = 34, .features = {}});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "AddPermRoot needs worker protocol 1.36, the Nix daemon speaks 1.34");
}

}  // namespace
}  // namespace hydrant::nix
