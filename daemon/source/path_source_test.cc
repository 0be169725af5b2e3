#include "daemon/source/path_source.h"

#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/source/tree_stamp.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

const std::atomic<bool> kGoing = false;

class PathSourceTest : public testing::Test {
 protected:
  PathSourceTest() {
    EXPECT_TRUE(MakeDirectories(dir_ / "tree").ok());
    EXPECT_TRUE(WriteFileAtomically(dir_ / "tree/default.nix", "{ }").ok());
  }
  void CollectGarbage() {
    const auto done = hydrant::Run(
        {.argv = {"nix-store", "--gc"}, .env = CommandEnvironment(settings_), .clear_env = true});
    ASSERT_TRUE(done.ok() && done->status.ok()) << (done.ok() ? done->err : done.status().ToString());
  }

  TestDir dir_;
  nix::CommandSettings settings_{.store_root = dir_ / "root", .folder = dir_ / "private"};
  // Years after the files were written, so that they count as settled.
  class Later final : public Clock {
    absl::Time Now() const override { return absl::Now() + absl::Hours(24 * 365); }
  } later_;
  PathSource source_{settings_, later_};
};

TEST_F(PathSourceTest, GarbageCollectionTakesATreeOnlyAfterItsRelease) {
  const auto tree = source_.Snapshot({.path = dir_ / "tree"}, {}, "e1", kGoing);
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_THAT(tree->path, testing::StartsWith(dir_ / "root/nix/store/"));
  EXPECT_THAT(tree->path, testing::EndsWith("-source"));
  CollectGarbage();
  EXPECT_TRUE(FileExists(tree->path + "/default.nix"));
  source_.Release("e1");
  CollectGarbage();
  EXPECT_FALSE(FileExists(tree->path));
}

TEST_F(PathSourceTest, ASocketInTheTreeIsNamed) {
  ASSERT_EQ(mkfifo((dir_ / "tree/pipe").c_str(), 0600), 0);
  const auto tree = source_.Snapshot({.path = dir_ / "tree"}, {}, "e1", kGoing);
  EXPECT_TRUE(absl::IsInvalidArgument(tree.status())) << tree.status();
  EXPECT_THAT(std::string(tree.status().message()), testing::HasSubstr("tree/pipe"));
}

TEST_F(PathSourceTest, WithoutNixTheErrorSaysWhatInstallsIt) {
  settings_.search_path = dir_ / "nothing";
  const auto tree = PathSource(settings_, later_).Snapshot({.path = dir_ / "tree"}, {}, "e1", kGoing);
  EXPECT_TRUE(absl::IsFailedPrecondition(tree.status())) << tree.status();
  EXPECT_THAT(std::string(tree.status().message()), testing::HasSubstr("deploy/install-deps"));
}

// A folder for PATH whose nix-instantiate leaves a line in `log` each time.
std::string CountingPath(const TestDir& dir, const std::string& log) {
  EXPECT_TRUE(MakeDirectories(dir / "bin").ok());
  EXPECT_TRUE(
      WriteFileAtomically(
          dir / "bin/nix-instantiate",
          absl::StrCat("#!/bin/sh\necho x >>", log, "\nPATH=${PATH#*:} exec nix-instantiate \"$@\"\n"), 0755)
          .ok());
  return absl::StrCat(dir / "bin", ":", getenv("PATH"));
}

TEST_F(PathSourceTest, AnUnchangedTreeIsNotReadAgain) {
  settings_.search_path = CountingPath(dir_, dir_ / "log");
  PathSource source(settings_, later_);
  const auto first = source.Snapshot({.path = dir_ / "tree"}, {}, "e1", kGoing);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = source.Snapshot({.path = dir_ / "tree"}, {}, "e2", kGoing);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(first->path, second->path);
  EXPECT_EQ(first->revision, second->revision);
  EXPECT_EQ(*ReadFile(dir_ / "log"), "x\n");
  source.Release("e1");
  CollectGarbage();
  EXPECT_TRUE(FileExists(second->path + "/default.nix"));
}

TEST_F(PathSourceTest, ATreeThatTheStoreHasLostIsReadAgain) {
  ASSERT_TRUE(source_.Snapshot({.path = dir_ / "tree"}, {}, "e1", kGoing).ok());
  source_.Release("e1");
  CollectGarbage();
  const auto tree = source_.Snapshot({.path = dir_ / "tree"}, {}, "e2", kGoing);
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_TRUE(FileExists(tree->path + "/default.nix"));
}

TEST_F(PathSourceTest, ATreeOfWhichAFileIsNewIsNotTakenForSettled) {
  settings_.search_path = CountingPath(dir_, dir_ / "log");
  const SystemClock now;
  ASSERT_TRUE(MakeDirectories(dir_ / "new").ok());
  PathSource source(settings_, now);
  ASSERT_TRUE(WriteFileAtomically(dir_ / "new/a", "a").ok());
  ASSERT_TRUE(source.Snapshot({.path = dir_ / "new"}, {}, "e1", kGoing).ok());
  EXPECT_TRUE(WriteFileAtomically(dir_ / "new/a", "b").ok());
  EXPECT_EQ(*ReadFile(source.Snapshot({.path = dir_ / "new"}, {}, "e1", kGoing)->path + "/a"), "b");
}

TEST_F(PathSourceTest, EveryKindOfChangeChangesTheStamp) {
  const std::string tree = dir_ / "tree";
  TreeStamp before = *StampOf(tree);
  EXPECT_EQ(before, *StampOf(tree));
  const auto changes = [&](const char* what) {
    const TreeStamp after = *StampOf(tree);
    EXPECT_NE(before.digest, after.digest) << what;
    before = after;
  };
  chmod((tree + "/default.nix").c_str(), 0755);
  changes("mode");
  ASSERT_TRUE(WriteFileAtomically(tree + "/default.nix", "[ ]").ok());
  changes("bytes of the same length");
  ASSERT_TRUE(MakeDirectories(tree + "/folder").ok());
  changes("a folder");
  ASSERT_EQ(rename((tree + "/folder").c_str(), (tree + "/other").c_str()), 0);
  changes("a name");
  ASSERT_TRUE(MakeDirectories(tree + "/.git").ok());
  before = *StampOf(tree);
  ASSERT_TRUE(WriteFileAtomically(tree + "/.git/index", "x").ok());
  EXPECT_EQ(before, *StampOf(tree)) << "what git keeps of its own";
}

}  // namespace
}  // namespace hydrant
