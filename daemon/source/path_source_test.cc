#include "daemon/source/path_source.h"

#include <sys/stat.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

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
  PathSource source_{settings_};
};

TEST_F(PathSourceTest, GarbageCollectionTakesATreeOnlyAfterItsRelease) {
  const auto tree = source_.Snapshot({.path = dir_ / "tree"}, "e1");
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
  const auto tree = source_.Snapshot({.path = dir_ / "tree"}, "e1");
  EXPECT_TRUE(absl::IsInvalidArgument(tree.status())) << tree.status();
  EXPECT_THAT(std::string(tree.status().message()), testing::HasSubstr("tree/pipe"));
}

TEST_F(PathSourceTest, WithoutNixTheErrorSaysWhatInstallsIt) {
  settings_.search_path = dir_ / "nothing";
  const auto tree = PathSource(settings_).Snapshot({.path = dir_ / "tree"}, "e1");
  EXPECT_TRUE(absl::IsFailedPrecondition(tree.status())) << tree.status();
  EXPECT_THAT(std::string(tree.status().message()), testing::HasSubstr("deploy/install-deps"));
}

}  // namespace
}  // namespace hydrant
