// A small farm in simulated time: how long one graph takes under two orders.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "daemon/schedule/estimate.h"
#include "daemon/schedule/scheduler.h"

namespace hydrant {
namespace {

// A chain of ten steps of an hour each, declared after sixty steps of an hour that nothing needs.
StepGraph LongChainBehindManyLeaves() {
  std::vector<StepSpec> specs;
  for (int i = 0; i < 60; ++i) specs.push_back({.derivation = "leaf" + std::to_string(i), .name = "leaf"});
  for (int i = 0; i < 10; ++i) {
    StepSpec link = {.derivation = "chain" + std::to_string(i), .name = "chain"};
    if (i > 0) link.inputs = {"chain" + std::to_string(i - 1)};
    specs.push_back(link);
  }
  StepGraph graph;
  EXPECT_TRUE(graph.Add(specs, {}).ok());
  return graph;
}

void Happen(StepGraph& graph, StepId step, StepEvent event) {
  const auto moves = graph.Plan(step, event, {});
  ASSERT_TRUE(moves.ok()) << moves.status();
  ASSERT_EQ(graph.Apply(*moves), absl::OkStatus());
}

// Hours until all is built by `slots` slots, by longest remaining path first or in order of arrival.
int HoursToBuildAll(StepGraph graph, int slots, bool longest_first) {
  Estimate estimate;
  estimate.Observe("leaf", absl::Hours(1));
  estimate.Observe("chain", absl::Hours(1));
  std::map<StepId, absl::Time> ready_since;
  int hours = 0;
  for (; !graph.ready().empty(); ++hours) {
    const std::vector<absl::Duration> remaining = RemainingPaths(graph, estimate);
    std::vector<ReadyWork> ready;
    for (const StepId step : graph.ready()) {
      const absl::Time since =
          ready_since.try_emplace(step, absl::FromUnixSeconds(hours * 3600)).first->second;
      ready.push_back({.key = step,
                       .remaining = longest_first ? remaining[step] : absl::ZeroDuration(),
                       .ready_since = since});
    }
    const WorkerOffer offer = {.systems = {"x86_64-linux"}, .slots = slots};
    for (const Placement& placement : Place(ready, {{"w", offer, slots, {}}})) {
      const auto step = static_cast<StepId>(placement.key);
      for (const StepEvent event : {StepEvent::kGranted, StepEvent::kOutputsVerified, StepEvent::kStaged}) {
        Happen(graph, step, event);
      }
    }
  }
  EXPECT_EQ(graph.counts()[static_cast<size_t>(StepState::kSucceeded)], static_cast<int64_t>(graph.size()));
  return hours;
}

TEST(SimulationTest, LongestRemainingPathFirstBeatsOrderOfArrival) {
  const int arrival = HoursToBuildAll(LongChainBehindManyLeaves(), 5, false);
  const int longest = HoursToBuildAll(LongChainBehindManyLeaves(), 5, true);
  EXPECT_EQ(longest, 14);  // 70 hours of work on 5 slots: none is ever idle
  EXPECT_GT(arrival, 20);  // the chain begins after the leaves
}

}  // namespace
}  // namespace hydrant
