#include "worker/lease/attempt_spool.h"

#include <gtest/gtest.h>

#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant::worker {
namespace {

TEST(AttemptSpool, KeepsWhatIsDoneAndForgetsTheRest) {
  TestDir dir;
  {
    const auto spool = *AttemptSpool::Open(dir / "s");
    ASSERT_TRUE((*spool->OpenLog({1}))->Append("one").ok());
    ASSERT_TRUE((*spool->OpenLog({2}))->Append("two").ok());
    ASSERT_TRUE(spool->Keep({{2}, "assignment", "end"}).ok());
  }
  const auto spool = *AttemptSpool::Open(dir / "s");
  const auto kept = *spool->Load();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].attempt.value, 2);
  EXPECT_EQ(kept[0].assignment, "assignment");
  EXPECT_EQ(kept[0].end, "end");
  EXPECT_FALSE(FileExists(dir / "s/a1.log"));
  EXPECT_EQ(*(*spool->OpenLog({2}))->Read(0, 100), "two");
  spool->Forget({2});
  EXPECT_TRUE(spool->Load()->empty());
  EXPECT_FALSE(FileExists(dir / "s/a2.log"));
}

TEST(SpooledLog, IsReadFromAnywhere) {
  TestDir dir;
  const auto log = *SpooledLog::Open(dir / "l");
  ASSERT_TRUE(log->Append("0123").ok());
  ASSERT_TRUE(log->Append("4567").ok());
  EXPECT_EQ(*log->Size(), 8);
  EXPECT_EQ(*log->Read(3, 2), "34");
  EXPECT_EQ(*log->Read(6, 100), "67");
  EXPECT_EQ(*log->Read(8, 100), "");
}

}  // namespace
}  // namespace hydrant::worker
