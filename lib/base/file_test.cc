#include "lib/base/file.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

TEST(FileTest, WrittenFileReadsBackWithItsMode) {
  TestDir dir;
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(WriteFileAtomically(dir / "f", "old").ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "f", bytes, 0600).ok());
  EXPECT_EQ(ReadFile(dir / "f").value(), bytes);
  struct stat info {};
  ASSERT_EQ(stat((dir / "f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(FileTest, AbsentFileIsNotFoundByName) {
  const absl::Status status = ReadFile("/nowhere/at/all").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "open /nowhere/at/all: No such file or directory");
}

TEST(FileTest, FullDiskIsResourceExhausted) {
  EXPECT_EQ(ErrnoStatus(ENOSPC, "write x").code(), absl::StatusCode::kResourceExhausted);
}

TEST(FileTest, FailedWriteLeavesNothingBehind) {
  TestDir dir;
  ASSERT_TRUE(MakeDirectories(dir / "target/below").ok());
  EXPECT_FALSE(WriteFileAtomically(dir / "target", "x").ok());
  ASSERT_TRUE(RemoveTree(dir / "target").ok());
  EXPECT_EQ(rmdir(dir.path().c_str()), 0) << "a temporary file stayed";
  ASSERT_EQ(mkdir(dir.path().c_str(), 0700), 0);
}

TEST(FileTest, MakeDirectoriesTwiceIsFineButNotThroughAFile) {
  TestDir dir;
  EXPECT_TRUE(MakeDirectories(dir / "a/b/c").ok());
  EXPECT_TRUE(MakeDirectories(dir / "a/b/c/").ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "f", "").ok());
  EXPECT_FALSE(MakeDirectories(dir / "f/g").ok());
}

TEST(FileTest, RemoveTreeTakesReadOnlyFoldersAndLeavesWhatLinksPointTo) {
  TestDir dir;
  ASSERT_TRUE(MakeDirectories(dir / "tree/sealed/deep").ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "tree/sealed/deep/f", "x", 0444).ok());
  ASSERT_TRUE(MakeDirectories(dir / "kept").ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "kept/f", "x").ok());
  ASSERT_EQ(symlink((dir / "kept").c_str(), (dir / "tree/link").c_str()), 0);
  ASSERT_EQ(chmod((dir / "tree/sealed/deep").c_str(), 0555), 0);
  ASSERT_EQ(chmod((dir / "tree/sealed").c_str(), 0), 0);
  EXPECT_TRUE(RemoveTree(dir / "tree").ok());
  EXPECT_FALSE(FileExists(dir / "tree"));
  EXPECT_TRUE(FileExists(dir / "kept/f"));
  EXPECT_TRUE(RemoveTree(dir / "tree").ok());
}

}  // namespace
}  // namespace hydrant
