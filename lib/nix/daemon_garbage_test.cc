#include <unistd.h>

#include "lib/nix/daemon_client_fixture.h"

namespace hydrant::nix {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using Action = GarbageRequest::Action;

TEST_F(DaemonClientTest, IndirectRootKeepsAPathFromTheCollector) {
  const std::string kept = client_->AddTextToStore("kept", "1", {}).value(),
                    lost = client_->AddTextToStore("lost", "2", {}).value();
  const std::string link = store_.dir() / "link";
  ASSERT_EQ(symlink(kept.c_str(), link.c_str()), 0);
  ASSERT_TRUE(client_->AddIndirectRoot(link).ok());
  client_->Close();
  ASSERT_TRUE(store_.Nix({"nix-store", "--gc"})->status.ok());
  auto again = store_.Connect().value();
  EXPECT_TRUE(again->IsValidPath(kept).value());
  EXPECT_FALSE(again->IsValidPath(lost).value());
}

TEST_F(DaemonClientTest, CollectorTellsLiveAndDeadAndDeletesOnlyTheDead) {
  const std::string kept = AddText("kept", "1"), lost = AddText("lost", "2");
  client_ = store_.Connect().value();  // ends the temporary roots of what was added
  ASSERT_TRUE(client_->AddTempRoot(kept).ok());
  EXPECT_THAT(client_->CollectGarbage({.action = Action::kReturnLive})->paths, ElementsAre(kept));
  EXPECT_THAT(client_->CollectGarbage({.action = Action::kReturnDead})->paths, ElementsAre(lost));
  EXPECT_TRUE(client_->IsValidPath(lost).value());
  const auto deleted = client_->CollectGarbage({.action = Action::kDeleteDead}, Events());
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_THAT(deleted->paths, Contains(lost));
  EXPECT_GT(deleted->bytes_freed, 0u);
  EXPECT_FALSE(client_->IsValidPath(lost).value());
  EXPECT_TRUE(client_->IsValidPath(kept).value());
}

TEST_F(DaemonClientTest, OneDeadPathIsDeletedAndALivingOneIsNot) {
  const std::string kept = AddText("kept", "1"), lost = AddText("lost", "2"), other = AddText("other", "3");
  client_ = store_.Connect().value();
  ASSERT_TRUE(client_->AddTempRoot(kept).ok());
  const auto deleted = client_->CollectGarbage({.action = Action::kDeleteSpecific, .paths = {lost}});
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_THAT(deleted->paths, ElementsAre(lost));
  EXPECT_TRUE(client_->IsValidPath(other).value());
  EXPECT_FALSE(client_->CollectGarbage({.action = Action::kDeleteSpecific, .paths = {kept}}).ok());
  EXPECT_TRUE(client_->IsValidPath(kept).value());
}

TEST_F(DaemonClientTest, CollectorStopsOnceEnoughIsFreed) {
  for (int i = 0; i < 20; ++i) AddText("lost", std::to_string(i) + std::string(20000, 'x'));
  client_ = store_.Connect().value();
  const auto deleted = client_->CollectGarbage({.action = Action::kDeleteDead, .max_freed_bytes = 30000});
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_GE(deleted->bytes_freed, 30000u);
  EXPECT_THAT(client_->QueryAllValidPaths().value(), Not(testing::IsEmpty()));
}

TEST_F(DaemonClientTest, CollectingSomeDeadPathsNeedsItsFeature) {
  if (client_->protocol().has(kFeatureDeleteReferrers)) GTEST_SKIP() << "this daemon has it";
  const auto refused = client_->CollectGarbage({.action = Action::kDeleteDead, .paths = {absent_}});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("delete-dead-specific-referrers"));
}

TEST_F(DaemonClientTest, RootsAreTheLinksAndTheConnections) {
  const std::string linked = AddText("linked", "1"), temporary = AddText("temporary", "2");
  const std::string link = store_.dir() / "link";
  ASSERT_EQ(symlink(linked.c_str(), link.c_str()), 0);
  ASSERT_TRUE(client_->AddIndirectRoot(link).ok());
  const std::vector<GarbageRoot> roots = client_->FindRoots().value();
  EXPECT_THAT(roots, Contains(GarbageRoot{link, linked}));
  EXPECT_THAT(roots, Contains(testing::AllOf(testing::Field(&GarbageRoot::link, HasSubstr("{temp:")),
                                             testing::Field(&GarbageRoot::target, temporary))));
}

TEST_F(DaemonClientTest, PermanentRootIsMadeByADaemonThatCan) {
  const std::string kept = AddText("kept", "1"), link = store_.dir() / "permanent";
  const absl::Status added = client_->AddPermRoot(kept, link);
  if (client_->protocol().minor < 36) {
    EXPECT_EQ(added.message(), "AddPermRoot needs worker protocol 1.36, the Nix daemon speaks 1.34");
  } else {
    ASSERT_TRUE(added.ok()) << added;
    EXPECT_THAT(client_->FindRoots().value(), Contains(GarbageRoot{link, kept}));
  }
  EXPECT_TRUE(client_->IsValidPath(kept).value());
}

TEST_F(DaemonClientTest, VerifyFindsAChangedPathAndRepairsNothingByItself) {
  const std::string good = AddText("good", "1"), bad = AddText("bad", "2");
  EXPECT_EQ(client_->VerifyStore(/*check_contents=*/true).value(), true);
  ASSERT_TRUE(WriteFileAtomically(store_.RealPath(bad), "3").ok());
  EXPECT_EQ(client_->VerifyStore(/*check_contents=*/false).value(), true);
  EXPECT_EQ(client_->VerifyStore(/*check_contents=*/true, /*repair=*/false, Events()).value(), false);
  EXPECT_THAT(events_, Contains(testing::Field(&LogEvent::text, HasSubstr(bad))));
  EXPECT_TRUE(client_->VerifyPath(good).ok());
  const absl::Status verified = client_->VerifyPath(bad);
  EXPECT_EQ(verified.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(verified.message()), HasSubstr(bad + " was modified"));
  EXPECT_EQ(client_->VerifyPath(absent_).code(), absl::StatusCode::kNotFound);
}

TEST_F(DaemonClientTest, EqualFilesAreLinkedByOptimising) {
  AddText("a", std::string(20000, 'x'));
  AddText("b", std::string(20000, 'x'));
  ASSERT_TRUE(client_->OptimiseStore(Events()).ok());
  EXPECT_THAT(events_, Contains(testing::Field(&LogEvent::result, ResultType::kFileLinked)));
  EXPECT_TRUE(client_->SyncWithGC().ok());
}

}  // namespace
}  // namespace hydrant::nix
