#include "lib/nix/build_result.h"

#include <gtest/gtest.h>

namespace hydrant::nix {
namespace {

TEST(BuildResultTest, NamesAndSuccess) {
  EXPECT_EQ(BuildStatusName(BuildStatus::kBuilt), "built");
  EXPECT_EQ(BuildStatusName(BuildStatus::kHashMismatch), "hash-mismatch");
  EXPECT_EQ(BuildStatusName(static_cast<BuildStatus>(99)), "unknown");
  EXPECT_TRUE(BuildResult{.status = BuildStatus::kResolvesToAlreadyValid}.ok());
  EXPECT_FALSE(BuildResult{}.ok());
}

TEST(BuildResultTest, PlainErrorHasNoAnsiCodes) {
  EXPECT_EQ(BuildResult{.error = "\x1b[31;1merror:\x1b[0m no\x1b"}.plain_error(), "error: no");
  EXPECT_EQ(BuildResult{.error = "cut \x1b[31"}.plain_error(), "cut ");
}

}  // namespace
}  // namespace hydrant::nix
