#include "worker/spool_folder.h"

#include <gtest/gtest.h>

#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant::worker {
namespace {

TEST(SpoolFolder, IsMadeAndItsScratchIsEmptied) {
  TestDir dir;
  { ASSERT_TRUE(WriteFileAtomically((*SpoolFolder::Open(dir / "a/b"))->scratch() + "/left", "x").ok()); }
  const auto folder = SpoolFolder::Open(dir / "a/b");
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_TRUE(FileExists((*folder)->scratch()));
  EXPECT_FALSE(FileExists((*folder)->scratch() + "/left"));
}

TEST(SpoolFolder, ASecondWorkerIsRefused) {
  TestDir dir;
  const auto first = SpoolFolder::Open(dir / "s");
  EXPECT_TRUE(absl::IsFailedPrecondition(SpoolFolder::Open(dir / "s").status()));
}

}  // namespace
}  // namespace hydrant::worker
