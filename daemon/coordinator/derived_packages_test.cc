// A matrix whose package list only an evaluation can tell.
#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DerivedPackagesTest : public FarmTest {
 protected:
  DerivedPackagesTest() {
    SetPackages("base\ntop: base\nother");
    Apply("package = { changed_by = \"cudaSupport\" }");
  }
  void Apply(const std::string& package, const std::string& more = "") {
    const std::string toml = absl::StrCat("name = \"m\"\nsource.path = \"/src\"\n[axes]\n", package,
                                          "\ncuda = [\"12.9\", \"13.0\"]\n", more);
    auto applied = farm().Apply({.toml = toml, .directory = "/", .file = "m.toml"}, false);
    ASSERT_TRUE(applied.ok()) << applied.status();
  }
  EvaluationTask Take() {
    auto task = farm().TakeRequested();
    EXPECT_TRUE(task.ok() && task->has_value());
    return **task;
  }
  EvaluationTask Begin(const std::string& only = "") {
    Trigger("m", only);
    const EvaluationTask task = Take();
    EXPECT_TRUE(farm().SetRevision(task.id, revision_).ok());
    return task;
  }
  void Derive(const EvaluationTask& task, std::vector<std::string> packages) {
    const absl::Status set = farm().SetPackages(task.id, {.packages = std::move(packages), .notes = {"2 were left out"}});
    ASSERT_TRUE(set.ok()) << set;
  }
  void Finish(const EvaluationTask& task) {
    ASSERT_TRUE(farm().AddOutcomes(task.id, Outcomes(task, *farm().UnknownVariants(task.id))).ok());
    ASSERT_TRUE(farm().FinishEvaluation(task.id, absl::OkStatus()).ok());
  }
  bool Lacks(const EvaluationTask& task) { return *farm().LacksPackages(task.id); }
};

TEST_F(DerivedPackagesTest, ItsVariantsComeWithTheList) {
  const EvaluationTask task = Begin();
  EXPECT_EQ(States(), "");
  EXPECT_TRUE(Lacks(task));
  Derive(task, {"other", "top"});
  EXPECT_FALSE(Lacks(task));
  EXPECT_THAT(*farm().UnknownVariants(task.id), ElementsAre(0, 1, 2, 3));
  Finish(task);
  EXPECT_EQ(States(), "other:ready other:ready top:pending top:pending");
  EXPECT_THAT(farm().Grid("m", {})->notes, ElementsAre("2 were left out"));
  EXPECT_EQ(farm().Matrices()[0].variants, 4);
}

TEST_F(DerivedPackagesTest, TheListOfAnEarlierEvaluationHoldsAtTheSameRevisionAndText) {
  Derive(Begin(), {"other"});
  EXPECT_FALSE(Lacks(Begin()));
  EXPECT_EQ(States(), "other:evaluating other:evaluating");
  revision_ = "r2";
  EXPECT_TRUE(Lacks(Begin()));
  revision_ = "r1";
  Apply("package = { changed_by = \"cudaSupport\", filter = [\"t*\"] }");
  EXPECT_TRUE(Lacks(Begin())) << "another text";
}

TEST_F(DerivedPackagesTest, ARestartKeepsTheListAndTheOutcomes) {
  const EvaluationTask task = Begin();
  Derive(task, {"other", "top"});
  ASSERT_TRUE(farm().AddOutcomes(task.id, Outcomes(task, {0, 2})).ok());
  Restart();
  EXPECT_EQ(States(), "other:ready other:pending top:pending top:pending");
  const EvaluationTask again = Take();
  EXPECT_THAT(again.variants, ElementsAre(1, 3));
  ASSERT_TRUE(farm().SetRevision(again.id, revision_).ok());
  EXPECT_FALSE(Lacks(again));
  Finish(again);
  const std::string states = States();
  Restart();
  EXPECT_EQ(States(), states);
  EXPECT_THAT(farm().Grid("m", {})->notes, ElementsAre("2 were left out"));
  EXPECT_FALSE(Lacks(Begin())) << "of an evaluation before the restart";
}

TEST_F(DerivedPackagesTest, AListOnWhichAnEvaluatorDiedIsOnlyOfItsOwnEvaluation) {
  const EvaluationTask task = Begin();
  const absl::Status set = farm().SetPackages(task.id, {.packages = {"other"}, .notes = {}, .unknown = {"other"}});
  ASSERT_TRUE(set.ok()) << set;
  Finish(task);
  EXPECT_TRUE(Lacks(Begin()));
  Restart();
  EXPECT_EQ(States("m", task.id), "other:ready other:ready");
}

TEST_F(DerivedPackagesTest, ARestartBeforeTheListDerivesIt) {
  Begin();
  Restart();
  const EvaluationTask again = Take();
  ASSERT_TRUE(farm().SetRevision(again.id, revision_).ok());
  EXPECT_TRUE(Lacks(again));
}

TEST_F(DerivedPackagesTest, AnEvaluationThatBeginsAgainAtAnotherRevisionHasTheListOfThat) {
  EvaluationTask task = Begin();
  Derive(task, {"other", "top"});
  ASSERT_TRUE(farm().AddOutcomes(task.id, Outcomes(task, {0, 1, 2, 3})).ok());
  Restart();
  task = Take();
  ASSERT_TRUE(farm().SetRevision(task.id, "r2").ok());
  EXPECT_TRUE(Lacks(task));
  EXPECT_EQ(States(), "");
  Derive(task, {"top"});
  Finish(task);
  EXPECT_EQ(States(), "top:pending top:pending");
  Restart();
  EXPECT_EQ(States(), "top:pending top:pending");
}

TEST_F(DerivedPackagesTest, AListThatLeavesNothingFailsTheEvaluationAndNamesTheFilter) {
  Apply("package = { changed_by = \"cudaSupport\", filter = [\"no*\"] }");
  const EvaluationTask task = Begin();
  const absl::Status empty = farm().SetPackages(task.id, {});
  EXPECT_THAT(std::string(empty.message()), HasSubstr("cudaSupport changes no package that the filter (no*) leaves"));
  ASSERT_TRUE(farm().FinishEvaluation(task.id, empty).ok());
  EXPECT_EQ(StateOfEvaluation(), "failed");
  EXPECT_EQ(Newest().message, empty.message());
  const auto again = farm().Retry({.matrix = "m"}, "");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->evaluation.value, 2);
}

TEST_F(DerivedPackagesTest, AnEvaluationIsNeverOneOfNothing) {
  const EvaluationTask task = Begin();
  ASSERT_TRUE(farm().FinishEvaluation(task.id, absl::OkStatus()).ok());
  EXPECT_EQ(StateOfEvaluation(), "failed");
  const EvaluationTask some = Begin("nothing@*");
  const absl::Status none = farm().SetPackages(some.id, {.packages = {"top"}});
  EXPECT_TRUE(absl::IsInvalidArgument(none)) << none;
  EXPECT_THAT(std::string(none.message()), HasSubstr("'nothing@*' matches no variant"));
}

TEST_F(DerivedPackagesTest, OnlySelectsFromTheList) {
  const EvaluationTask task = Begin("top@*");
  Derive(task, {"other", "top"});
  EXPECT_EQ(States(), "top:evaluating top:evaluating");
}

TEST_F(DerivedPackagesTest, ACancelledEvaluationTakesNoList) {
  const EvaluationTask task = Begin();
  ASSERT_TRUE(farm().Cancel({.matrix = "m"}).ok());
  EXPECT_TRUE(absl::IsCancelled(farm().SetPackages(task.id, {.packages = {"top"}})));
}

}  // namespace
}  // namespace hydrant
