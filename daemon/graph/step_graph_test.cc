#include "daemon/graph/step_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace hydrant {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// "torch: cuda python" a line: torch needs cuda and python. Derivations are called by these words.
std::vector<StepSpec> Specs(const std::string& text) {
  std::vector<StepSpec> specs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    StepSpec spec;
    if (!(words >> spec.derivation)) continue;
    if (spec.derivation.back() == ':') spec.derivation.pop_back();
    spec.name = spec.derivation;
    for (std::string input; words >> input;) spec.inputs.push_back(input);
    specs.push_back(spec);
  }
  return specs;
}

class StepGraphTest : public ::testing::Test {
 protected:
  void Add(const std::string& text, const absl::flat_hash_map<std::string, StepGraph::Known>& known = {}) {
    const auto added = graph_.Add(Specs(text), known);
    ASSERT_TRUE(added.ok()) << added.status();
  }
  StepId Id(const std::string& name) { return graph_.Find(name).value(); }
  std::string State(const std::string& name) { return std::string(StepStateName(graph_.state(Id(name)))); }
  // Plans, applies, and gives the moves as "name: from -> to" lines.
  std::string Happen(const std::string& name, StepEvent event, StepDetail detail = {}) {
    const auto moves = graph_.Plan(Id(name), event, std::move(detail));
    if (!moves.ok()) return std::string(moves.status().message());
    EXPECT_EQ(graph_.Apply(*moves), absl::OkStatus());
    return Draw(*moves);
  }
  std::string Draw(const std::vector<StepMove>& moves) {
    std::string drawn;
    for (const StepMove& move : moves) {
      drawn += graph_.spec(move.step).name + ": " + std::string(StepStateName(move.from)) + " -> " +
               std::string(StepStateName(move.to)) + "\n";
    }
    return drawn;
  }
  void Build(const std::string& name) {
    Happen(name, StepEvent::kGranted);
    Happen(name, StepEvent::kOutputsVerified);
    Happen(name, StepEvent::kStaged);
  }
  void Fail(const std::string& name, const std::string& message = "") {
    Happen(name, StepEvent::kGranted);
    Happen(name, StepEvent::kFailedForGood, {.cause = Cause::kBuilderFailed, .message = message});
  }

  StepGraph graph_;
};

TEST_F(StepGraphTest, AStepBecomesReadyWhenItsLastInputIsStaged) {
  Add("torch: cuda python\n cuda\n python\n");
  EXPECT_EQ(State("torch"), "blocked");
  Build("cuda");
  EXPECT_EQ(State("torch"), "blocked");
  Happen("python", StepEvent::kGranted);
  Happen("python", StepEvent::kOutputsVerified);
  EXPECT_EQ(Happen("python", StepEvent::kStaged), "python: built -> succeeded\ntorch: blocked -> ready\n");
  EXPECT_THAT(graph_.ready(), ElementsAre(Id("torch")));
}

TEST_F(StepGraphTest, AnInputThatPresencePrunedCountsAsSucceeded) {
  Add("torch: glibc");
  EXPECT_EQ(State("torch"), "ready");
}

TEST_F(StepGraphTest, AStepHeldByACacheIsSucceededFromTheStart) {
  Add("torch: cuda\n cuda", {{"cuda", {StepState::kSucceeded, {.held_by = "https://cache.nixos.org"}}}});
  EXPECT_EQ(State("torch"), "ready");
  EXPECT_EQ(graph_.detail(Id("cuda")).held_by, "https://cache.nixos.org");
}

TEST_F(StepGraphTest, AFailureReachesAllDependentsWithItsRoot) {
  Add("flax: jax\n jax: jaxlib\n jaxlib\n");
  Happen("jaxlib", StepEvent::kGranted);
  EXPECT_EQ(
      Happen("jaxlib", StepEvent::kFailedForGood, {.cause = Cause::kBuilderFailed, .message = "no nvcc"}),
      "jaxlib: running -> failed\njax: blocked -> dependency_failed\nflax: blocked -> dependency_failed\n");
  const StepDetail& flax = graph_.detail(Id("flax"));
  EXPECT_EQ(flax.root, "jaxlib");
  EXPECT_EQ(flax.cause, Cause::kDependencyFailed);
  EXPECT_EQ(flax.message, "jaxlib failed: no nvcc");
  EXPECT_THAT(graph_.ChainToRoot(Id("flax")), ElementsAre("flax", "jax", "jaxlib"));
}

TEST_F(StepGraphTest, ANewDependentOfAFailedStepFailsAtOnce) {
  Add("jaxlib");
  Fail("jaxlib");
  Add("jax: jaxlib");
  EXPECT_EQ(State("jax"), "dependency_failed");
  EXPECT_EQ(graph_.detail(Id("jax")).root, "jaxlib");
}

TEST_F(StepGraphTest, ARetryTakesBackTheFailureOfDependents) {
  Add("flax: jax\n jax: jaxlib\n jaxlib\n");
  Fail("jaxlib");
  EXPECT_EQ(
      Happen("jaxlib", StepEvent::kRetriedReady),
      "jaxlib: failed -> ready\njax: dependency_failed -> blocked\nflax: dependency_failed -> blocked\n");
  EXPECT_EQ(graph_.detail(Id("flax")).root, "");
}

TEST_F(StepGraphTest, ADependentOfTwoFailuresWaitsForBothRetriesAndBlamesTheOneThatIsLeft) {
  Add("demo: torch\n torch: cuda magma\n cuda\n magma\n");
  Fail("cuda");
  Fail("magma");
  EXPECT_EQ(graph_.detail(Id("demo")).root, "cuda");
  Happen("cuda", StepEvent::kRetriedReady);
  EXPECT_EQ(State("torch"), "dependency_failed");
  EXPECT_EQ(graph_.detail(Id("torch")).root, "magma");
  EXPECT_EQ(graph_.detail(Id("demo")).root, "magma");
  Happen("magma", StepEvent::kRetriedReady);
  EXPECT_EQ(State("demo"), "blocked");
}

TEST_F(StepGraphTest, AllThatIsAtFaultIsFoundThroughDeadInputs) {
  Add("demo: torch\n torch: cuda magma python\n cuda\n magma\n python\n");
  Fail("cuda");
  Fail("magma");
  EXPECT_THAT(graph_.AtFault(Id("demo")), UnorderedElementsAre(Id("cuda"), Id("magma")));
  EXPECT_THAT(graph_.AtFault(Id("cuda")), ElementsAre(Id("cuda")));
  EXPECT_THAT(graph_.AtFault(Id("python")), IsEmpty());
}

TEST_F(StepGraphTest, ARetryOfADependencyFailedStepNamesTheStepToRetry) {
  Add("jax: jaxlib\n jaxlib\n");
  Fail("jaxlib");
  EXPECT_THAT(Happen("jax", StepEvent::kRetriedBlocked), HasSubstr("retry jaxlib"));
}

TEST_F(StepGraphTest, SeveralRetriesArePlannedTogether) {
  Add("torch: cuda magma\n cuda\n magma\n");
  Fail("cuda");
  Fail("magma");
  const auto moves = graph_.PlanAll(
      {{Id("cuda"), StepEvent::kRetriedReady, {}}, {Id("magma"), StepEvent::kRetriedReady, {}}});
  ASSERT_TRUE(moves.ok());
  ASSERT_EQ(graph_.Apply(*moves), absl::OkStatus());
  EXPECT_EQ(State("torch"), "blocked");
}

TEST_F(StepGraphTest, AFailedStepThatACacheGotMeanwhileFreesItsDependents) {
  Add("jax: jaxlib\n jaxlib\n");
  Fail("jaxlib");
  EXPECT_EQ(Happen("jaxlib", StepEvent::kFoundInCache),
            "jaxlib: failed -> succeeded\njax: dependency_failed -> ready\n");
}

TEST_F(StepGraphTest, WantedDependentsOfACancelledStepFailAndUnwantedAreCancelled) {
  Add("flax: jaxlib\n chex: jaxlib\n jaxlib\n");
  graph_.Want(Id("flax"));
  Happen("jaxlib", StepEvent::kCancelled);
  EXPECT_EQ(State("flax"), "dependency_failed");
  EXPECT_EQ(graph_.detail(Id("flax")).cause, Cause::kCancelled);
  EXPECT_EQ(graph_.detail(Id("flax")).root, "jaxlib");
  EXPECT_EQ(State("chex"), "cancelled");
}

TEST_F(StepGraphTest, WhatNoRootReachesIsUnwantedDependentsFirst) {
  Add("flax: jax\n jax: jaxlib\n chex: jaxlib\n jaxlib\n");
  graph_.Want(Id("flax"));
  graph_.Want(Id("chex"));
  EXPECT_THAT(graph_.Unwanted(), IsEmpty());
  graph_.Unwant(Id("flax"));
  EXPECT_THAT(graph_.Unwanted(), ElementsAre(Id("flax"), Id("jax")));
  graph_.Unwant(Id("chex"));
  EXPECT_THAT(graph_.Unwanted().back(), Id("jaxlib"));
}

TEST_F(StepGraphTest, ACancelledClosureIsWantedAgainInputsFirst) {
  Add("flax: jax\n jax: jaxlib\n jaxlib\n");
  for (const char* name : {"flax", "jax", "jaxlib"}) Happen(name, StepEvent::kCancelled);
  std::vector<StepHappening> wanted;
  for (const StepId step : graph_.InputsFirst({Id("flax")}))
    wanted.push_back({step, StepEvent::kRetriedReady, {}});
  const auto moves = graph_.PlanAll(wanted);
  ASSERT_TRUE(moves.ok());
  EXPECT_EQ(Draw(*moves),
            "jaxlib: cancelled -> ready\njax: cancelled -> blocked\nflax: cancelled -> blocked\n");
}

TEST_F(StepGraphTest, ACancelledStepWantedAgainBesideAFailedInputIsDependencyFailed) {
  Add("jax: jaxlib\n jaxlib\n");
  Happen("jax", StepEvent::kCancelled);
  Fail("jaxlib");
  EXPECT_EQ(Happen("jax", StepEvent::kRetriedBlocked), "jax: cancelled -> dependency_failed\n");
}

TEST_F(StepGraphTest, BackoffsComeDueInTheirTime) {
  Add("cuda\n magma\n");
  const absl::Time now = absl::FromUnixSeconds(1000);
  for (const auto& [name, delay] : {std::pair{"cuda", 20}, std::pair{"magma", 10}}) {
    Happen(name, StepEvent::kGranted);
    Happen(name, StepEvent::kFailedByFarm, {.cause = Cause::kLost, .not_before = now + absl::Seconds(delay)});
  }
  EXPECT_EQ(graph_.NextBackoff(), now + absl::Seconds(10));
  EXPECT_THAT(graph_.DueBackoffs(now + absl::Seconds(10)), ElementsAre(Id("magma")));
  Happen("magma", StepEvent::kBackoffOver);
  EXPECT_EQ(graph_.NextBackoff(), now + absl::Seconds(20));
}

TEST_F(StepGraphTest, AWorkersWordThatTheTableRefusesMovesNothing) {
  Add("torch: cuda\n cuda\n");
  EXPECT_THAT(Happen("torch", StepEvent::kOutputsVerified),
              AllOf(HasSubstr("torch is blocked"), HasSubstr("outputs_verified")));
  EXPECT_EQ(State("torch"), "blocked");
}

TEST_F(StepGraphTest, AnOvertakenPlanIsRefusedWhole) {
  Add("torch: cuda\n cuda\n");
  const auto cancel = graph_.Plan(Id("cuda"), StepEvent::kCancelled, {});
  Happen("torch", StepEvent::kCancelled);
  EXPECT_EQ(graph_.Apply(*cancel).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(State("cuda"), "ready");
}

TEST_F(StepGraphTest, ACircleIsRefusedAndNothingIsAdded) {
  EXPECT_EQ(graph_.Add(Specs("a: b\n b: c\n c: a\n d\n"), {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(graph_.size(), 0u);
}

TEST_F(StepGraphTest, ACircleThroughAPrunedInputIsRefused) {
  Add("a: b");
  EXPECT_EQ(graph_.Add(Specs("b: a"), {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(StepGraphTest, APrunedInputThatIsAddedLaterIsWaitedForByWhatIsBlocked) {
  Add("torch: cuda glibc\n cuda\n");
  graph_.Want(Id("torch"));
  Add("glibc");
  Build("cuda");
  EXPECT_EQ(State("torch"), "blocked");
  EXPECT_TRUE(graph_.wanted(Id("glibc")));
  Build("glibc");
  EXPECT_EQ(State("torch"), "ready");
}

TEST_F(StepGraphTest, RestoredStatesThatDoNotFitTogetherOweMoves) {
  Add("torch: cuda\n jax: jaxlib\n cuda\n jaxlib\n", {{"torch", {StepState::kBlocked, {}}},
                                                      {"jax", {StepState::kBlocked, {}}},
                                                      {"cuda", {StepState::kSucceeded, {}}},
                                                      {"jaxlib", {StepState::kFailed, {}}}});
  const std::vector<StepMove> owed = graph_.Owed();
  ASSERT_EQ(graph_.Apply(owed), absl::OkStatus());
  EXPECT_EQ(State("torch"), "ready");
  EXPECT_EQ(State("jax"), "dependency_failed");
  EXPECT_THAT(graph_.Owed(), IsEmpty());
}

}  // namespace
}  // namespace hydrant
