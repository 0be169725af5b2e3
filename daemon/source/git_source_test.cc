#include "daemon/source/git_source.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "daemon/source/git_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

const std::atomic<bool> kGoing = false;

using testing::HasSubstr;

class GitSourceTest : public testing::Test {
 protected:
  GitSourceTest() : repository_(dir_ / "served/x") { first_ = repository_.Commit("default.nix", "{ }"); }

  absl::StatusOr<Tree> Snapshot(const SourcePoint& point, const std::string& root = "e1") {
    return source_.Snapshot({.git = url_}, point, root, kGoing);
  }
  std::string Text(const absl::StatusOr<Tree>& tree, const std::string& name) {
    if (!tree.ok()) return tree.status().ToString();
    return ReadFile(absl::StrCat(tree->path, "/", name)).value_or("(not there)");
  }
  std::string Message(const absl::StatusOr<Tree>& tree) { return std::string(tree.status().message()); }
  // The copies of repositories, of which a test has one.
  std::string Copy() {
    for (const auto& entry : std::filesystem::directory_iterator(options_.folder)) {
      if (entry.path().extension() == ".git") return entry.path().string();
    }
    return "";
  }
  size_t Packs() {
    size_t packs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(Copy() + "/objects/pack"))
      packs += entry.path().extension() == ".pack";
    return packs;
  }

  TestDir dir_;
  TestRepository repository_;
  std::string first_;
  std::string url_ = repository_.url();
  GitSource::Options options_{.nix = {.store_root = dir_ / "root", .folder = dir_ / "private"},
                              .folder = dir_ / "git"};
  GitSource source_{options_};
};

TEST_F(GitSourceTest, TheRevisionIsTheCommitAndTheTreeIsWhatNixItselfFetches) {
  repository_.Write("sub/run", "#!/bin/sh\n");
  chmod((repository_.folder() + "/sub/run").c_str(), 0755);
  ASSERT_EQ(symlink("../default.nix", (repository_.folder() + "/sub/link").c_str()), 0);
  const std::string commit = repository_.Commit();
  const auto tree = Snapshot({});
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_EQ(tree->revision, commit);
  EXPECT_FALSE(FileExists(tree->path + "/.git"));
  const std::string expression = absl::StrCat("(builtins.fetchGit { url = \"", url_, "\"; rev = \"", commit,
                                              "\"; ref = \"main\"; }).outPath");
  auto env = CommandEnvironment(options_.nix);
  env["NIX_REMOTE"] = dir_ / "other";
  const auto theirs =
      hydrant::Run({.argv = {"nix-instantiate", "--eval", "--read-write-mode", "--expr", expression},
                    .env = env,
                    .clear_env = true});
  ASSERT_TRUE(theirs.ok() && theirs->status.ok()) << theirs->err;
  EXPECT_THAT(theirs->out, HasSubstr(tree->path.substr(tree->path.rfind('/') + 1)));
}

TEST_F(GitSourceTest, AMovedBranchIsSeenAndOnlyWhatIsNewIsFetched) {
  ASSERT_TRUE(Snapshot({.branch = "main"}).ok());
  const std::string second = repository_.Commit("default.nix", "{ a = 1; }");
  const auto tree = Snapshot({.branch = "main"});
  EXPECT_EQ(Text(tree, "default.nix"), "{ a = 1; }");
  EXPECT_EQ(tree->revision, second);
}

TEST_F(GitSourceTest, ABranchThatWasPushedOverIsWhatItIsNow) {
  ASSERT_TRUE(Snapshot({.branch = "main"}).ok());
  repository_.Write("default.nix", "{ other = 1; }");
  repository_.Git({"commit", "--quiet", "--all", "--amend", "--message=y"});
  EXPECT_EQ(Text(Snapshot({.branch = "main"}), "default.nix"), "{ other = 1; }");
}

TEST_F(GitSourceTest, BranchTagAndCommitAreRevisions) {
  repository_.Git({"tag", "light"});
  repository_.Git({"tag", "--annotate", "--message=x", "heavy"});
  repository_.Git({"branch", "old"});
  const std::string second = repository_.Commit("default.nix", "{ a = 1; }");
  for (const std::string& revision :
       {std::string("light"), std::string("heavy"), std::string("old"), first_, first_.substr(0, 9)}) {
    const auto tree = Snapshot({.branch = "main", .revision = revision});
    ASSERT_TRUE(tree.ok()) << revision << ": " << tree.status();
    EXPECT_EQ(tree->revision, first_) << revision;
  }
  EXPECT_EQ(Snapshot({.revision = second.substr(0, 9)})->revision, second);
}

TEST_F(GitSourceTest, ASecondSnapshotOfOneCommitNeedsNoServer) {
  const auto before = Snapshot({});
  ASSERT_TRUE(before.ok()) << before.status();
  std::filesystem::rename(repository_.folder(), dir_ / "away");
  const auto after = Snapshot({.revision = first_}, "e2");
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->path, before->path);
}

TEST_F(GitSourceTest, ACommitIsFetchedOnceForAllWhoWantItAtOnce) {
  std::vector<std::thread> threads;
  std::vector<absl::StatusOr<Tree>> trees(4);
  for (size_t i = 0; i < trees.size(); ++i)
    threads.emplace_back([&, i] { trees[i] = Snapshot({}, absl::StrCat("e", i)); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& tree : trees) ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_EQ(Packs(), 1u);
}

TEST_F(GitSourceTest, OnlyOneCommitsFilesAreFetched) {
  repository_.Commit("default.nix", "{ a = 1; }");
  ASSERT_TRUE(Snapshot({}).ok());
  const auto count = hydrant::Run({.argv = {"git", "--git-dir", Copy(), "rev-list", "--count", "--all"}});
  EXPECT_EQ(count->out, "1\n");
}

TEST_F(GitSourceTest, AttributesOfACommitChangeNoByte) {
  repository_.Write(".git/info/attributes", "* -text -ident -working-tree-encoding\n");  // on the way in
  repository_.Write(
      ".gitattributes",
      "* text eol=crlf ident export-subst\nhidden export-ignore\n*.u working-tree-encoding=UTF-16\n");
  repository_.Write("hidden", "$Id$ $Format:%H$\n");
  repository_.Commit("x.u", "plain\n");
  const auto tree = Snapshot({});
  EXPECT_EQ(Text(tree, "hidden"), "$Id$ $Format:%H$\n");
  EXPECT_EQ(Text(tree, "x.u"), "plain\n");
}

TEST_F(GitSourceTest, ASubmoduleIsAnEmptyFolder) {
  repository_.Git({"update-index", "--add", "--cacheinfo", absl::StrCat("160000,", first_, ",module")});
  repository_.Git({"commit", "--quiet", "--message=m"});
  const auto tree = Snapshot({});
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_TRUE(std::filesystem::is_empty(tree->path + "/module"));
}

TEST_F(GitSourceTest, AnUnknownBranchIsToldTheNearest) {
  repository_.Git({"branch", "nixos-unstable"});
  const auto tree = Snapshot({.branch = "nixos-unstabel"});
  EXPECT_TRUE(absl::IsNotFound(tree.status())) << tree.status();
  EXPECT_THAT(Message(tree), testing::AllOf(HasSubstr("no branch 'nixos-unstabel'"),
                                            HasSubstr("nearest is 'nixos-unstable'")));
}

TEST_F(GitSourceTest, ATagIsNoBranch) {
  repository_.Git({"tag", "v1"});
  EXPECT_TRUE(absl::IsNotFound(Snapshot({.branch = "v1"}).status()));
}

TEST_F(GitSourceTest, ARevisionThatVanishedIsNotFound) {
  for (const std::string& revision : {std::string(40, '1'), std::string("deadbee"), std::string("nosuch")}) {
    const auto tree = Snapshot({.revision = revision});
    EXPECT_TRUE(absl::IsNotFound(tree.status())) << tree.status();
    EXPECT_THAT(Message(tree), HasSubstr(repository_.url()));
  }
}

TEST_F(GitSourceTest, WhatCanBeNoRevisionIsRefusedBeforeGitSeesIt) {
  for (const char* revision :
       {"--upload-pack=touch x", "-x", "main~1", "a..b", "a:b", "HEAD^{tree}", "refs/*"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Snapshot({.revision = revision}).status())) << revision;
    EXPECT_TRUE(absl::IsInvalidArgument(Snapshot({.branch = revision}).status())) << revision;
  }
}

TEST_F(GitSourceTest, ARepositoryWithoutACommitSaysSo) {
  TestRepository empty(dir_ / "served/empty");
  url_ = empty.url();
  const auto tree = Snapshot({});
  EXPECT_TRUE(absl::IsNotFound(tree.status())) << tree.status();
  EXPECT_THAT(Message(tree), HasSubstr("no default branch"));
}

TEST_F(GitSourceTest, AFolderThatIsNoRepositoryAndAServerThatIsNotThere) {
  url_ = "file://" + dir_ / "served";
  EXPECT_TRUE(absl::IsNotFound(Snapshot({}).status())) << Snapshot({}).status();
  url_ = "http://127.0.0.1:1/x";
  EXPECT_TRUE(absl::IsUnavailable(Snapshot({}).status())) << Snapshot({}).status();
}

TEST_F(GitSourceTest, OverHttpAnyCommitIsFetchedByItself) {
  const std::string second = repository_.Commit("default.nix", "{ a = 1; }");
  repository_.Commit("default.nix", "{ a = 2; }");
  TestHttpServer server(dir_ / "served");
  url_ = server.url("x/.git");
  EXPECT_EQ(Text(Snapshot({}), "default.nix"), "{ a = 2; }");
  EXPECT_EQ(Text(Snapshot({.revision = second}), "default.nix"), "{ a = 1; }");
  EXPECT_TRUE(absl::IsNotFound(Snapshot({.revision = std::string(40, '1')}).status()));
}

TEST_F(GitSourceTest, AServerThatRefusesCommitsByThemselvesGivesItsHistory) {
  const std::string second = repository_.Commit("default.nix", "{ a = 1; }");
  repository_.Commit("default.nix", "{ a = 2; }");
  TestHttpServer server(dir_ / "served", /*oldest_protocol=*/true);
  url_ = server.url("x/.git");
  EXPECT_EQ(Text(Snapshot({}), "default.nix"), "{ a = 2; }");
  EXPECT_EQ(Text(Snapshot({.revision = second}), "default.nix"), "{ a = 1; }");
  const auto vanished = Snapshot({.revision = std::string(40, '1')});
  EXPECT_TRUE(absl::IsNotFound(vanished.status())) << vanished.status();
}

TEST_F(GitSourceTest, AServerThatWantsCredentialsIsNotWaitedFor) {
  TestHttpServer server(dir_ / "served");
  url_ = server.url("private/x");
  const auto tree = Snapshot({});
  EXPECT_TRUE(absl::IsPermissionDenied(tree.status())) << tree.status();
  EXPECT_THAT(Message(tree), HasSubstr("credentials"));
  url_ = server.url("nosuch");
  EXPECT_TRUE(absl::IsNotFound(Snapshot({}).status())) << Snapshot({}).status();
}

// Answers no connection: the kernel takes them, and nobody reads.
TEST_F(GitSourceTest, AServerThatSaysNothingIsWaitedForUntilItIsCancelled) {
  const UniqueFd silent(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(silent.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(silent.get(), 8), 0);
  ASSERT_EQ(getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::atomic<bool> cancelled = false;
  std::thread asks([&] {
    const auto tree = source_.Snapshot(
        {.git = absl::StrCat("http://127.0.0.1:", ntohs(address.sin_port), "/x")}, {}, "e1", cancelled);
    EXPECT_TRUE(absl::IsCancelled(tree.status())) << tree.status();
  });
  const UniqueFd asked(accept(silent.get(), nullptr, nullptr));
  cancelled = true;
  asks.join();
  EXPECT_TRUE(Snapshot({}).ok());
}

TEST_F(GitSourceTest, WhatIsTooLargeIsResourceExhausted) {
  repository_.Commit("large", std::string(3 << 20, 'x'));  // packs to little
  options_.git.max_file_bytes = 2 << 20;
  GitSource small(options_);
  const auto tree = small.Snapshot({.git = url_}, {}, "e1", kGoing);
  EXPECT_TRUE(absl::IsResourceExhausted(tree.status())) << tree.status();
}

TEST_F(GitSourceTest, WhatAKilledProcessLeftIsNoObstacle) {
  ASSERT_TRUE(Snapshot({}).ok());
  for (const char* name :
       {"/shallow.lock", "/config.lock", "/refs/hydrant/recent/x.lock", "/objects/pack/tmp_pack_1"})
    ASSERT_TRUE(WriteFileAtomically(Copy() + name, "half").ok());
  repository_.Commit("default.nix", "{ a = 1; }");
  EXPECT_EQ(Text(Snapshot({}), "default.nix"), "{ a = 1; }");
  EXPECT_FALSE(FileExists(Copy() + "/objects/pack/tmp_pack_1"));
}

TEST_F(GitSourceTest, ADamagedCopyIsFetchedAnew) {
  ASSERT_TRUE(Snapshot({}).ok());
  source_.Release("e1");
  std::filesystem::remove_all(Copy() + "/objects/pack");
  std::filesystem::remove_all(dir_ / "root/nix");
  EXPECT_EQ(Text(Snapshot({}, "e2"), "default.nix"), "{ }");
}

TEST_F(GitSourceTest, AReleasedRootKeepsNoCommit) {
  ASSERT_TRUE(Snapshot({}).ok());
  EXPECT_TRUE(FileExists(absl::StrCat(Copy(), "/refs/hydrant/root/e1/", first_)));
  source_.Release("e1");
  EXPECT_FALSE(FileExists(absl::StrCat(Copy(), "/refs/hydrant/root/e1")));
}

TEST_F(GitSourceTest, WithoutGitTheErrorSaysWhatInstallsIt) {
  options_.git.search_path = dir_ / "nothing";
  const auto tree = GitSource(options_).Snapshot({.git = url_}, {}, "e1", kGoing);
  EXPECT_TRUE(absl::IsFailedPrecondition(tree.status())) << tree.status();
  EXPECT_THAT(Message(tree), HasSubstr("deploy/install-deps"));
}

TEST_F(GitSourceTest, NoHookAndNoSettingOfAUserIsAsked) {
  repository_.Write(".git/hooks/post-checkout", "#!/bin/sh\ntouch /nonexistent\n");
  setenv("GIT_DIR", "/nonexistent", 1);
  const auto tree = Snapshot({});
  unsetenv("GIT_DIR");
  EXPECT_TRUE(tree.ok()) << tree.status();
}

}  // namespace
}  // namespace hydrant
