// One evaluation and one channel a branch, and what is asked for by name.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/farm_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/matrix/channel_names.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Matrix Of(std::vector<std::string> branches) {
  Matrix matrix;
  matrix.name = "m";
  matrix.source = {.git = "https://host/x", .branches = std::move(branches)};
  return matrix;
}

TEST(Branches, EachIsMeantUnlessOneIsNamed) {
  EXPECT_THAT(*BranchesOf(Of({"a", "b"}), {}), ElementsAre("a", "b"));
  EXPECT_THAT(*BranchesOf(Of({"a", "b"}), {.branch = "b"}), ElementsAre("b"));
  EXPECT_THAT(*BranchesOf(Of({}), {}), ElementsAre("")) << "the default branch";
  EXPECT_THAT(*BranchesOf(Of({}), {.revision = "v1"}), ElementsAre(""));
  EXPECT_THAT(*BranchesOf(Of({"a"}), {.revision = "v1"}), ElementsAre("a"));
}

TEST(Branches, WhatCannotBeMeantIsRefusedWithTheWayOut) {
  const absl::Status unknown = BranchesOf(Of({"stable", "unstable"}), {.branch = "stabel"}).status();
  EXPECT_TRUE(absl::IsNotFound(unknown)) << unknown;
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("nearest is 'stable'"));
  EXPECT_TRUE(absl::IsNotFound(BranchesOf(Of({}), {.branch = "a"}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(BranchesOf(Of({"a", "b"}), {.revision = "v1"}).status()));
  Matrix path;
  path.source.path = "/src";
  EXPECT_TRUE(absl::IsInvalidArgument(BranchesOf(path, {.branch = "a"}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(BranchesOf(path, {.revision = "a"}).status()));
  EXPECT_THAT(*BranchesOf(path, {}), ElementsAre(""));
}

TEST(Branches, AChannelHasTheBranchInItsNameOnlyWhereThereAreSeveral) {
  EXPECT_EQ(ChannelName(Of({}), ""), "m");
  EXPECT_EQ(ChannelName(Of({"a"}), "a"), "m");
  EXPECT_EQ(ChannelName(Of({"a", "release/24.11"}), "release/24.11"), "m-release-24.11");
}

TEST(Branches, TwoThatWouldMoveOneChannelAreRefused) {
  EXPECT_EQ(ChannelFault(Of({"a/b", "a-b"})), "its branches a/b and a-b would both move the channel m-a-b");
  EXPECT_EQ(ChannelFault(Of({"a/b", "a-c"})), "");
  Matrix other = Of({"x"});
  other.name = "m-a";
  const absl::Status taken = CheckChannels(Of({"a", "b"}), {&other});
  EXPECT_TRUE(absl::IsFailedPrecondition(taken));
  EXPECT_THAT(std::string(taken.message()), HasSubstr("that of matrix m-a"));
  const Matrix before = Of({"b"});
  EXPECT_TRUE(CheckChannels(Of({"a", "b"}), {&before}).ok()) << "the text that it replaces";
}

class BranchesTest : public FarmTest {
 protected:
  BranchesTest() {
    SetPackages("base\n");
    presence_.Hold(OutputOf("base"));
    const std::string toml =
        "name = \"m\"\n[source]\ngit = \"https://host/x\"\nbranches = [\"old\", \"new\"]\n"
        "[axes]\npackage = [\"base\"]\n";
    EXPECT_TRUE(farm().Apply({.toml = toml, .directory = "/", .file = "m.toml"}, false).ok());
  }
  // "m-new:2@r2 m-old:1@r1".
  std::string Channels() {
    std::string all;
    for (const ChannelRecord& channel : farm().Channels())
      absl::StrAppend(&all, all.empty() ? "" : " ", channel.name, ":", channel.evaluation.value, "@",
                      channel.revision);
    return all;
  }
};

TEST_F(BranchesTest, EachBranchIsEvaluatedAndOnlyItsOwnChannelMoves) {
  const auto records = farm().Trigger({.matrix = "m"});
  ASSERT_TRUE(records.ok()) << records.status();
  ASSERT_EQ(records->size(), 2u);
  Evaluate();
  revision_ = "r2";
  Evaluate();
  EXPECT_EQ(Channels(), "m-new:2@r2 m-old:1@r1");
  ASSERT_TRUE(farm().Trigger({.matrix = "m", .point = {.branch = "new"}}).ok());
  revision_ = "r3";
  Evaluate();
  EXPECT_EQ(Channels(), "m-new:3@r3 m-old:1@r1");
}

TEST_F(BranchesTest, TheNewestOfABranchIsFoundByItsName) {
  ASSERT_TRUE(farm().Trigger({.matrix = "m"}).ok());
  EXPECT_EQ(farm().Grid("m", {})->evaluation.branch, "new");
  EXPECT_EQ(farm().Grid("m", {}, "old")->evaluation.id.value, 1);
  EXPECT_EQ(farm().Evaluations("m", "old")->size(), 1u);
  EXPECT_TRUE(absl::IsNotFound(farm().Grid("m", {2}, "old").status()));
  EXPECT_THAT(std::string(farm().Grid("m", {}, "nwe").status().message()), HasSubstr("nearest is 'new'"));
}

TEST_F(BranchesTest, AVariantIsLookedUpInTheBranchThatIsNamed) {
  ASSERT_TRUE(farm().Trigger({.matrix = "m"}).ok());
  Evaluate();
  const auto state = [&](const std::string& address, const std::string& branch) {
    const auto view = farm().Explain(address, {}, branch);
    return view.ok() ? std::string(VariantStateName(view->variant->view.state))
                     : std::string(view.status().message());
  };
  EXPECT_EQ(state("base@x86_64-linux", "old"), "cached");
  EXPECT_EQ(state("m/base@x86_64-linux", "old"), "cached");
  EXPECT_EQ(state("m/base@x86_64-linux", "new"), "pending");
  EXPECT_EQ(state("m/base@x86_64-linux", ""), "pending") << "the newest of any";
  EXPECT_THAT(state("m/base@x86_64-linux", "nwe"), HasSubstr("nearest is 'new'"));
  EXPECT_THAT(state("base@x86_64-linux", "nwe"), HasSubstr("no matrix has an evaluation of branch 'nwe'"));
  EXPECT_TRUE(absl::IsNotFound(farm().Explain("base@x86_64-linux", {2}, "old").status())) << "it is of new";
  EXPECT_THAT(std::string(farm().AttemptOf("base@x86_64-linux", {}, "nwe").status().message()),
              HasSubstr("'nwe'"));
}

TEST_F(BranchesTest, AMatrixIsListedWithTheNewestEvaluationOfEach) {
  ASSERT_TRUE(farm().Trigger({.matrix = "m", .point = {.branch = "new"}}).ok());
  Evaluate();
  const std::vector<BranchView> branches = farm().Matrices()[0].branches;
  ASSERT_EQ(branches.size(), 2u);
  EXPECT_EQ(branches[0].branch, "old");
  EXPECT_FALSE(branches[0].evaluation.has_value());
  EXPECT_EQ(branches[1].evaluation->id.value, 1);
  EXPECT_EQ(branches[1].totals.at("cached"), 1);
}

TEST_F(BranchesTest, RetryAndCancelMeanTheBranchThatIsNamed) {
  ASSERT_TRUE(farm().Trigger({.matrix = "m"}).ok());
  const auto task = farm().TakeRequested();
  ASSERT_TRUE(task.ok() && task->has_value());
  ASSERT_TRUE(farm().FinishEvaluation((*task)->id, absl::NotFoundError("no such commit")).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(farm().Retry({.matrix = "m"}, "").status()))
      << "nothing of new has failed";
  ASSERT_TRUE(farm().Cancel({.matrix = "m", .branch = "new"}).ok());
  const auto again = farm().Retry({.matrix = "m", .branch = "old"}, "");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->evaluation.value, 3);
  EXPECT_EQ(Newest().branch, "old");
}

TEST_F(BranchesTest, AFailedBranchIsTriedAgainAloneAndAtWhatWasAskedFor) {
  ASSERT_TRUE(farm().Trigger({.matrix = "m", .point = {.branch = "old", .revision = "gone"}}).ok());
  const auto task = farm().TakeRequested();
  ASSERT_TRUE(task.ok() && task->has_value());
  ASSERT_TRUE(farm().FinishEvaluation((*task)->id, absl::NotFoundError("no such commit")).ok());
  EXPECT_EQ(Newest().message, "no such commit");
  const auto again = farm().Retry({.matrix = "m"}, "");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(farm().Evaluations("m")->size(), 2u);
  EXPECT_EQ(Newest().branch + "@" + Newest().wanted_revision, "old@gone");
}

TEST_F(BranchesTest, FiguresAreOfEachBranch) {
  ASSERT_TRUE(farm().Trigger({.matrix = "m"}).ok());
  Evaluate();
  Evaluate();
  clock_.Advance(absl::Hours(1));
  ASSERT_TRUE(farm().Trigger({.matrix = "m", .point = {.branch = "new"}}).ok());
  ASSERT_TRUE(farm().Trigger({.matrix = "m", .point = {.branch = "old", .revision = "v1"}}).ok());
  FarmTotals totals = farm().Totals();
  EXPECT_EQ(totals.variants["m"]["pending"], 2);
  EXPECT_EQ(totals.channel_lag_since["m-new"], clock_.Now());
  EXPECT_EQ(totals.channel_lag_since["m-old"], absl::InfiniteFuture())
      << "what --rev asked for moves no channel";
}

TEST_F(BranchesTest, WhatWasAskedForByNameIsEvaluatedThereAndMovesNoChannel) {
  ASSERT_TRUE(farm().Trigger({.matrix = "m", .point = {.branch = "new", .revision = "v1"}}).ok());
  Restart();
  const auto task = farm().TakeRequested();
  ASSERT_TRUE(task.ok() && task->has_value());
  EXPECT_EQ((*task)->point.branch, "new");
  EXPECT_EQ((*task)->point.revision, "v1");
  ASSERT_TRUE(farm().SetRevision((*task)->id, "r9").ok());
  ASSERT_TRUE(farm().AddOutcomes((*task)->id, Outcomes(**task, (*task)->variants)).ok());
  ASSERT_TRUE(farm().FinishEvaluation((*task)->id, absl::OkStatus()).ok());
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_EQ(Channels(), "");
}

}  // namespace
}  // namespace hydrant
