// What every TreeSource promises, held against the real one and its twin.
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "daemon/source/git_fixture.h"
#include "daemon/source/git_source.h"
#include "daemon/source/path_source.h"
#include "daemon/source/source.h"
#include "gtest/gtest.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "lib/nix/hash.h"
#include "lib/nix/nar.h"
#include "tests/fakes/memory_source.h"

namespace hydrant {
namespace {

const std::atomic<bool> kGoing = false;

const SystemClock kClock;

// What a matrix would name to have the folder `name` as its source.
SourceSpec ByPath(const std::string& folder) { return {.path = folder}; }
SourceSpec ByCommit(const std::string& folder) {
  if (std::filesystem::is_directory(folder)) TestRepository(folder).Commit();
  return {.git = "file://" + folder};
}

struct Kind {
  const char* name;
  SourceSpec (*spec)(const std::string& folder);
  std::function<std::unique_ptr<TreeSource>(const TestDir&)> make;
};

class SourceConformance : public testing::TestWithParam<Kind> {
 protected:
  SourceConformance() : source_(GetParam().make(dir_)) {
    Write("tree/default.nix", "{ }");
    Write("tree/sub/file", "words");
  }

  void Write(const std::string& name, const std::string& text) {
    const std::string path = dir_ / name;
    ASSERT_TRUE(MakeDirectories(path.substr(0, path.rfind('/'))).ok());
    ASSERT_TRUE(WriteFileAtomically(path, text).ok());
  }
  absl::StatusOr<Tree> Snapshot(const std::string& path, const std::string& root = "e1") {
    return source_->Snapshot(GetParam().spec(path), {}, root, kGoing);
  }

  TestDir dir_;
  std::unique_ptr<TreeSource> source_;
};

TEST_P(SourceConformance, TheRevisionIsTheHashOfTheArchive) {
  if (GetParam().spec == ByCommit) GTEST_SKIP() << "of git it is the commit";
  nix::Sha256 hash;
  ASSERT_TRUE(nix::DumpPath(dir_ / "tree", hash).ok());
  const auto tree = Snapshot(dir_ / "tree");
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_EQ(tree->revision, hash.Finish().ToBase32());
}

TEST_P(SourceConformance, ASnapshotDoesNotSeeLaterChanges) {
  const auto before = Snapshot(dir_ / "tree");
  ASSERT_TRUE(before.ok()) << before.status();
  Write("tree/sub/file", "other words");
  EXPECT_EQ(*ReadFile(before->path + "/sub/file"), "words");
  const auto after = Snapshot(dir_ / "tree");
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_NE(before->revision, after->revision);
  EXPECT_EQ(*ReadFile(after->path + "/sub/file"), "other words");
  EXPECT_EQ(*ReadFile(before->path + "/sub/file"), "words");
}

TEST_P(SourceConformance, TheSameContentsElsewhereAreTheSameRevision) {
  Write("copy/default.nix", "{ }");
  Write("copy/sub/file", "words");
  EXPECT_EQ(Snapshot(dir_ / "tree")->revision, Snapshot(dir_ / "copy", "e2")->revision);
}

TEST_P(SourceConformance, ALinkToAFolderIsThatFolder) {
  std::filesystem::create_directory_symlink("tree", dir_ / "link");
  const auto tree = Snapshot(dir_ / "link");
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_EQ(*ReadFile(tree->path + "/default.nix"), "{ }");
}

TEST_P(SourceConformance, WhatIsNotThereIsNotFoundByName) {
  const auto tree = Snapshot(dir_ / "nosuch");
  EXPECT_TRUE(absl::IsNotFound(tree.status())) << tree.status();
  EXPECT_NE(tree.status().message().find(dir_ / "nosuch"), absl::string_view::npos);
}

TEST_P(SourceConformance, AFileIsNoTree) {
  const auto tree = Snapshot(dir_ / "tree/default.nix");
  EXPECT_TRUE(absl::IsInvalidArgument(tree.status()) || absl::IsNotFound(tree.status())) << tree.status();
}

TEST_P(SourceConformance, WhatItDoesNotServeIsSaid) {
  const SourceSpec other = GetParam().spec == ByCommit ? SourceSpec{.path = dir_ / "tree"}
                                                       : SourceSpec{.git = "https://example.org/x"};
  EXPECT_TRUE(absl::IsUnimplemented(source_->Snapshot(other, {}, "e1", kGoing).status()));
}

TEST_P(SourceConformance, ABranchThatIsNotThereIsAnError) {
  const auto tree = source_->Snapshot(GetParam().spec(dir_ / "tree"), {.branch = "nosuch"}, "e1", kGoing);
  EXPECT_TRUE(absl::IsInvalidArgument(tree.status()) || absl::IsNotFound(tree.status())) << tree.status();
  EXPECT_NE(tree.status().message().find("nosuch"), absl::string_view::npos);
}

TEST_P(SourceConformance, WhatGitKeepsOfItsOwnIsNoPartOfATree) {
  const auto plain = Snapshot(dir_ / "tree");
  ASSERT_TRUE(plain.ok()) << plain.status();
  TestRepository(dir_ / "tree").Git({"add", "--all"});
  const auto tree = Snapshot(dir_ / "tree");
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_FALSE(FileExists(tree->path + "/.git"));
  if (GetParam().spec == ByPath) {
    EXPECT_EQ(plain->revision, tree->revision);
  }
}

TEST_P(SourceConformance, ARootThatLeadsElsewhereIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(Snapshot(dir_ / "tree", "../../x").status()));
  source_->Release("../../x");
}

TEST_P(SourceConformance, ReleaseTwiceOrOfNothingIsNothing) {
  ASSERT_TRUE(Snapshot(dir_ / "tree").ok());
  source_->Release("e1");
  source_->Release("e1");
  source_->Release("never");
  EXPECT_TRUE(Snapshot(dir_ / "tree").ok());
}

INSTANTIATE_TEST_SUITE_P(
    All, SourceConformance,
    testing::Values(
        Kind{"Path", ByPath,
             [](const TestDir& dir) -> std::unique_ptr<TreeSource> {
               return std::make_unique<PathSource>(
                   nix::CommandSettings{.store_root = dir / "root", .folder = dir / "private"}, kClock);
             }},
        Kind{"Git", ByCommit,
             [](const TestDir& dir) -> std::unique_ptr<TreeSource> {
               return std::make_unique<GitSource>(GitSource::Options{
                   .nix = {.store_root = dir / "root", .folder = dir / "private"}, .folder = dir / "git"});
             }},
        Kind{"Memory", ByPath,
             [](const TestDir&) -> std::unique_ptr<TreeSource> { return std::make_unique<MemorySource>(); }}),
    [](const testing::TestParamInfo<Kind>& info) { return info.param.name; });

}  // namespace
}  // namespace hydrant
