#include "daemon/schedule/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydrant {
namespace {

using ::testing::ElementsAre;

TEST(EstimateTest, APackageEndsBeforeTheFirstDashThatNoLetterFollows) {
  EXPECT_EQ(PackageOf("jaxlib-cuda-0.4.1"), "jaxlib-cuda");
  EXPECT_EQ(PackageOf("python3.10-torch-1.12.1"), "python3.10-torch");
  EXPECT_EQ(PackageOf("source"), "source");
  EXPECT_EQ(PackageOf("odd-"), "odd-");
  EXPECT_EQ(PackageOf(""), "");
}

TEST(EstimateTest, TheSameNameCountsBeforeAnotherVersionAndThatBeforeTheGuess) {
  Estimate estimate;
  estimate.Observe("jaxlib-0.4.1", absl::Hours(2));
  estimate.Observe("jaxlib-0.4.2", absl::Hours(4));
  EXPECT_EQ(estimate.Of("jaxlib-0.4.1"), absl::Hours(2));
  EXPECT_EQ(estimate.Of("jaxlib-0.5.0"), absl::Hours(3));
  EXPECT_TRUE(estimate.Known("jaxlib-0.5.0"));
  EXPECT_FALSE(estimate.Known("torch-2.0"));
  EXPECT_EQ(estimate.Of("torch-2.0"), absl::Minutes(1));
}

TEST(EstimateTest, NewerObservationsWeighMore) {
  Estimate estimate;
  for (int hours : {8, 2, 1}) estimate.Observe("magma-2.6", absl::Hours(hours));
  EXPECT_EQ(estimate.Of("magma-2.6"), absl::Hours(3));
}

TEST(EstimateTest, AnotherPackageSetOfTheSamePackageCountsBeforeTheGuess) {
  EXPECT_EQ(PackageOfAnySet("python3.12-torch-2.1"), "torch");
  EXPECT_EQ(PackageOfAnySet("cuda12.9-cuda_nvcc-12.9.86"), "cuda_nvcc");
  EXPECT_EQ(PackageOfAnySet("python3-3.12.1"), "python3");
  EXPECT_EQ(PackageOfAnySet("python-env"), "python-env");
  EXPECT_EQ(PackageOfAnySet("cuda12-"), "cuda12-");
  Estimate estimate;
  estimate.Observe("python3.11-torch-2.0", absl::Hours(2));
  EXPECT_EQ(estimate.Of("python3.12-torch-2.1"), absl::Hours(2));
  estimate.Observe("python3.12-torch-2.0", absl::Hours(6));
  EXPECT_EQ(estimate.Of("python3.12-torch-2.1"), absl::Hours(6));
  EXPECT_FALSE(estimate.Known("torchvision-2.1"));
}

TEST(EstimateTest, WhatAnAttemptDidNotMeasureLeavesWhatIsKnown) {
  Estimate estimate;
  estimate.Observe("a-1", {.building = absl::Hours(2), .cpu = absl::Hours(8), .bytes = 100});
  estimate.Observe("a-1", {.building = absl::Hours(4)});
  estimate.Observe("a-1", {.cpu = absl::Hours(1000), .bytes = 1 << 30});  // it did not even say how long
  EXPECT_EQ(estimate.CostOf("a-2")->building, absl::Hours(3));
  EXPECT_EQ(estimate.CostOf("a-2")->cpu, absl::Hours(8));
  EXPECT_EQ(estimate.CostOf("a-2")->bytes, 100);
}

TEST(EstimateTest, ACheckIsKnownOfThePackageElseOfAny) {
  Estimate estimate;
  estimate.ObserveCheck("imports", "python3.11-jax-0.4", absl::Minutes(4));
  EXPECT_EQ(estimate.CheckTime("imports", "python3.12-jax-0.5"), absl::Minutes(4));
  EXPECT_EQ(estimate.CheckTime("imports", "flax-0.1"), absl::Minutes(4));
  EXPECT_EQ(estimate.CheckTime("other", "python3.11-jax-0.4"), std::nullopt);
}

StepSpec Spec(const std::string& name, std::vector<std::string> inputs) {
  return {.derivation = name, .name = name, .inputs = std::move(inputs)};
}

TEST(RemainingPathsTest, IsTheLongestPathThroughOpenDependents) {
  Estimate estimate;
  for (const auto& [name, minutes] : {std::pair{"cuda", 10}, {"torch", 100}, {"jax", 30}, {"demo", 5}}) {
    estimate.Observe(name, absl::Minutes(minutes));
  }
  StepGraph graph;
  const auto added = graph.Add(
      {Spec("cuda", {}), Spec("torch", {"cuda"}), Spec("jax", {"cuda"}), Spec("demo", {"torch", "jax"})},
      {{"torch", {StepState::kSucceeded, {}}}});
  ASSERT_TRUE(added.ok());
  const std::vector<absl::Duration> remaining = RemainingPaths(graph, estimate);
  const auto of = [&](const char* name) { return remaining[*graph.Find(name)]; };
  EXPECT_EQ(of("demo"), absl::Minutes(5));
  EXPECT_EQ(of("jax"), absl::Minutes(35));
  EXPECT_EQ(of("torch"), absl::ZeroDuration());
  EXPECT_EQ(of("cuda"), absl::Minutes(45));  // by jax: torch is done
}

}  // namespace
}  // namespace hydrant
