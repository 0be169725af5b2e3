#include "daemon/schedule/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kLinux[] = "x86_64-linux";

WorkerOffer Cpu() { return {.systems = {kLinux}, .features = {"big-parallel"}}; }
WorkerOffer Gpu(const std::string& architecture, int count = 1) {
  WorkerOffer offer = Cpu();
  offer.features.insert("cuda");
  for (int i = 0; i < count; ++i) {
    offer.gpus.push_back(
        {.uuid = "GPU-" + std::to_string(i), .architecture = architecture, .memory_bytes = 24LL << 30});
  }
  return offer;
}
ReadyWork Work(uint64_t key, Demand demand = {.system = kLinux}) {
  return {.key = key, .demand = std::move(demand)};
}
Demand NeedsCuda(std::set<std::string> avoid = {}) {
  return {.system = kLinux, .features = {"cuda"}, .avoid = std::move(avoid)};
}

// "1->a 2->b[GPU-0]"
std::string Draw(const std::vector<Placement>& placements) {
  std::string drawn;
  for (const Placement& placement : placements) {
    absl::StrAppend(&drawn, drawn.empty() ? "" : " ", placement.key, "->", placement.worker,
                    placement.gpu_uuid.empty() ? "" : "[" + placement.gpu_uuid + "]");
  }
  return drawn;
}

TEST(WhyNotTest, NamesTheFirstRuleThatTheWorkerFails) {
  EXPECT_EQ(WhyNot({.system = "aarch64-linux"}, Cpu()), "offers no system aarch64-linux");
  EXPECT_EQ(WhyNot({.system = kLinux, .features = {"kvm"}}, Cpu()), "offers no feature kvm");
  EXPECT_EQ(WhyNot(NeedsCuda(), Cpu()), "offers no GPU");
  EXPECT_EQ(WhyNot({.gpu = true}, Cpu()), "offers no GPU");
  EXPECT_EQ(WhyNot({.gpu = true, .gpu_architecture = "9.0"}, Gpu("8.6")),
            "offers no GPU of architecture 9.0 (it has 8.6)");
}

TEST(WhyNotTest, AGpuThatBuildsCannotReachServesChecksOnly) {
  WorkerOffer checks_only = Gpu("8.6");
  checks_only.features.erase("cuda");
  EXPECT_EQ(WhyNot(NeedsCuda(), checks_only), "offers no feature cuda");
  EXPECT_EQ(WhyNot({.gpu = true}, checks_only), "");
}

TEST(WhyNotTest, IsSilentWhenTheWorkerCould) {
  EXPECT_EQ(WhyNot({.system = kLinux, .features = {"big-parallel"}}, Cpu()), "");
  EXPECT_EQ(WhyNot({.system = "builtin"}, Cpu()), "");
  EXPECT_EQ(WhyNot(NeedsCuda(), Gpu("8.6")), "");
  EXPECT_EQ(WhyNot({.gpu = true, .gpu_architecture = "8.6"}, Gpu("8.6")), "");
}

TEST(PlaceTest, PriorityThenLongestPathThenOldestFirst) {
  ReadyWork old = Work(1), late = Work(2), deep = Work(3), urgent = Work(4);
  old.ready_since = absl::FromUnixSeconds(1);
  late.ready_since = absl::FromUnixSeconds(2);
  deep.ready_since = absl::FromUnixSeconds(3);
  deep.remaining = absl::Hours(9);
  urgent.priority = 1;
  EXPECT_EQ(Draw(Place({late, old, deep, urgent}, {{"a", Cpu(), 3, {}}})), "4->a 3->a 1->a");
}

TEST(PlaceTest, WorkWithoutAGpuTakesAGpuWorkersSlotLast) {
  EXPECT_EQ(Draw(Place({Work(1), Work(2)}, {{"gpu", Gpu("8.6"), 1, {}}, {"cpu", Cpu(), 1, {}}})),
            "1->cpu 2->gpu");
}

TEST(PlaceTest, ThePlainestWorkerThenTheFreest) {
  WorkerOffer rare = Cpu();
  rare.features.insert("kvm");
  EXPECT_EQ(Draw(Place({Work(1)}, {{"a", rare, 9, {}}, {"b", Cpu(), 1, {}}, {"c", Cpu(), 2, {}}})), "1->c");
}

TEST(PlaceTest, OneGpuRunsOneLease) {
  const std::vector<ReadyWork> ready = {Work(1, NeedsCuda()), Work(2, NeedsCuda()), Work(3, NeedsCuda()),
                                        Work(4)};
  EXPECT_EQ(Draw(Place(ready, {{"gpu", Gpu("8.6", 2), 8, {}}})), "1->gpu[GPU-0] 2->gpu[GPU-1] 4->gpu");
  EXPECT_EQ(Draw(Place(ready, {{"gpu", Gpu("8.6", 2), 8, {"GPU-0"}}})), "1->gpu[GPU-1] 4->gpu");
}

TEST(PlaceTest, TheSmallestGpuThatSuits) {
  WorkerOffer offer = Gpu("8.6", 2);
  offer.gpus[0].memory_bytes = 80LL << 30;
  EXPECT_EQ(Draw(Place({Work(1, NeedsCuda())}, {{"gpu", offer, 1, {}}})), "1->gpu[GPU-1]");
}

TEST(PlaceTest, WhatNobodyCanTakeDoesNotHoldUpTheRest) {
  ReadyWork hopper = Work(1, {.gpu = true, .gpu_architecture = "9.0"});
  hopper.priority = 100;
  EXPECT_EQ(Draw(Place({hopper, Work(2)}, {{"gpu", Gpu("8.6"), 1, {}}})), "2->gpu");
}

TEST(PlaceTest, AWorkerThatFailedItIsTakenOnlyWhenNoOtherCould) {
  const Demand avoid = {.system = kLinux, .avoid = {"a"}};
  EXPECT_EQ(Draw(Place({Work(1, avoid)}, {{"a", Cpu(), 4, {}}, {"b", Cpu(), 1, {}}})), "1->b");
  EXPECT_THAT(Place({Work(1, avoid)}, {{"a", Cpu(), 4, {}}, {"b", Cpu(), 0, {}}}), IsEmpty());
  EXPECT_EQ(Draw(Place({Work(1, avoid)}, {{"a", Cpu(), 4, {}}})), "1->a");
  EXPECT_EQ(Draw(Place({Work(1, NeedsCuda({"a"}))}, {{"a", Gpu("8.6"), 1, {}}, {"b", Cpu(), 1, {}}})),
            "1->a[GPU-0]");
}

TEST(PlaceTest, TheOrderOfTheArgumentsDoesNotMatter) {
  std::vector<ReadyWork> ready;
  for (uint64_t key = 0; key < 30; ++key)
    ready.push_back(Work(key, key % 3 == 0 ? NeedsCuda() : Demand{.system = kLinux}));
  std::vector<FreeWorker> workers = {
      {"a", Cpu(), 4, {}}, {"b", Cpu(), 4, {}}, {"c", Gpu("8.6", 2), 4, {}}, {"d", Gpu("9.0"), 2, {}}};
  const std::string expected = Draw(Place(ready, workers));
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(ready.begin(), ready.end(), random);
    std::shuffle(workers.begin(), workers.end(), random);
    EXPECT_EQ(Draw(Place(ready, workers)), expected);
  }
}

}  // namespace
}  // namespace hydrant
