#include "daemon/coordinator/attempt_log.h"

#include "gtest/gtest.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

class AttemptLogTest : public testing::Test {
 protected:
  TestDir dir_;
  AttemptLog log_ = *AttemptLog::Open(dir_ / "log");
  const AttemptId attempt_{1234};
};

TEST_F(AttemptLogTest, ChunksAreAppendedOnceHoweverOftenTheyCome) {
  EXPECT_EQ(*log_.Append(attempt_, 0, "hello ", 100), 6);
  EXPECT_EQ(*log_.Append(attempt_, 0, "hello ", 100), 6);
  EXPECT_EQ(*log_.Append(attempt_, 3, "lo world", 100), 11);
  EXPECT_EQ(*log_.Append(attempt_, 2, "xx", 100), 11) << "what is there stays";
  EXPECT_EQ(*log_.Read(attempt_, 0, 100), "hello world");
}

TEST_F(AttemptLogTest, AGapIsRefusedAndSaysWhereToGoOn) {
  ASSERT_TRUE(log_.Append(attempt_, 0, "hello", 100).ok());
  const absl::Status gap = log_.Append(attempt_, 7, "world", 100).status();
  EXPECT_EQ(gap.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(gap.message(), "the log has 5 bytes; send from there");
}

TEST_F(AttemptLogTest, BeyondItsBoundNothingIsWritten) {
  ASSERT_TRUE(log_.Append(attempt_, 0, "hello", 8).ok());
  EXPECT_EQ(log_.Append(attempt_, 5, "world", 8).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*log_.Read(attempt_, 0, 100), "hello");
}

TEST_F(AttemptLogTest, ReadsInPiecesAndNothingWhereNothingIs) {
  ASSERT_TRUE(log_.Append(attempt_, 0, "hello", 0).ok());
  EXPECT_EQ(*log_.Read(attempt_, 1, 3), "ell");
  EXPECT_EQ(*log_.Read(attempt_, 5, 3), "");
  EXPECT_EQ(*log_.Read({1}, 0, 3), "");
  EXPECT_EQ(log_.PathOf(attempt_), dir_ / "log/1/a1234.log");
}

}  // namespace
}  // namespace hydrant
