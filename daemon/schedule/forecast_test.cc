#include "daemon/schedule/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydrant {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

constexpr absl::Duration kMinute = absl::Minutes(1);

Workload::Step Step(const std::string& name, std::vector<size_t> inputs = {},
                    const std::string& system = "x86_64-linux") {
  return {.derivation = "/nix/store/" + name + ".drv",
          .name = name,
          .demand = {.system = system},
          .inputs = std::move(inputs)};
}

WorkerOffer Worker(int slots, int gpus = 0) {
  WorkerOffer offer{.systems = {"x86_64-linux"}, .cores = 64, .slots = slots};
  for (int i = 0; i < gpus; ++i)
    offer.gpus.push_back({.uuid = std::string(1, static_cast<char>('a' + i)), .architecture = "8.6"});
  return offer;
}

class ForecastTest : public testing::Test {
 protected:
  ForecastTest() {
    history_.Observe("cuda-12.6", {.building = 10 * kMinute, .cpu = 20 * kMinute, .bytes = 1000});
    history_.Observe("torch-2.1", {.building = 60 * kMinute, .cpu = 600 * kMinute, .bytes = 5000});
    history_.Observe("jax-0.4", {.building = 30 * kMinute, .cpu = 90 * kMinute, .bytes = 300});
    history_.ObserveCheck("torch-cuda", "torch-2.1", 2 * kMinute);
  }
  Estimate history_;
};

TEST_F(ForecastTest, OneSlotTakesTheSumManyTheLongestChain) {
  const Workload work{.steps = {Step("cuda-12.6"), Step("torch-2.1", {0}), Step("jax-0.4", {0})}};
  const Forecast one = MakeForecast(work, history_, {Worker(1)});
  EXPECT_EQ(one.at_least, 100 * kMinute);
  const Forecast many = MakeForecast(work, history_, {Worker(8), Worker(8)});
  EXPECT_EQ(many.path, 70 * kMinute);
  EXPECT_EQ(many.at_least, 70 * kMinute);
  EXPECT_EQ(many.at_most, 70 * kMinute + 100 * kMinute / 16);
  EXPECT_EQ(many.core_time, 710 * kMinute);
  EXPECT_EQ(many.bytes, 6300);
  EXPECT_EQ(many.slots, 16);
}

TEST_F(ForecastTest, FewCoresBoundItToo) {
  const Workload work{.steps = {Step("torch-2.1")}};
  WorkerOffer small = Worker(1);
  small.cores = 4;
  EXPECT_EQ(MakeForecast(work, history_, {small}).at_least, 150 * kMinute);
}

TEST_F(ForecastTest, WhatWasNeverBuiltHereIsCountedAndInNoSum) {
  const Workload work{.steps = {Step("new-1.0"), Step("torch-2.1", {0})},
                      .checks = {{.name = "other", .package = "new-1.0", .demand = {}, .after = {0}}}};
  const Forecast forecast = MakeForecast(work, history_, {Worker(2)});
  EXPECT_EQ(forecast.steps, 2);
  EXPECT_EQ(forecast.unknown_steps, 1);
  EXPECT_EQ(forecast.unknown_checks, 1);
  EXPECT_EQ(forecast.unknown_bytes, 1);
  EXPECT_EQ(forecast.path, 60 * kMinute);
}

TEST_F(ForecastTest, WithoutMeasuredCpuAStepCountsAsOneCoreAndSaysSo) {
  history_.Observe("plain-1.0", kMinute);
  const Forecast forecast = MakeForecast({.steps = {Step("plain-1.0")}}, history_, {Worker(1)});
  EXPECT_EQ(forecast.core_time, kMinute);
  EXPECT_EQ(forecast.unmeasured_cpu, 1);
  EXPECT_EQ(forecast.unknown_bytes, 1);
}

TEST_F(ForecastTest, ChecksWaitForTheirStepAndHaveAGpuForThemselves) {
  Workload work{.steps = {Step("torch-2.1")}};
  for (int i = 0; i < 40; ++i) {
    work.checks.push_back(
        {.name = "torch-cuda", .package = "torch-2.1", .demand = {.gpu = true}, .after = {0}});
  }
  const Forecast forecast = MakeForecast(work, history_, {Worker(16), Worker(4, 1)});
  EXPECT_EQ(forecast.gpu_time, 80 * kMinute);
  EXPECT_EQ(forecast.path, 62 * kMinute);
  EXPECT_EQ(forecast.throughput, 80 * kMinute) << "forty checks, one GPU";
  EXPECT_EQ(forecast.gpus, 1);
}

TEST_F(ForecastTest, AStepThatNeedsAGpuUsesOne) {
  Workload::Step step = Step("jax-0.4");
  step.demand.features = {"cuda"};
  WorkerOffer worker = Worker(2, 1);
  worker.features = {"cuda"};
  EXPECT_EQ(MakeForecast({.steps = {step}}, history_, {worker}).gpu_time, 30 * kMinute);
}

TEST_F(ForecastTest, WhatNoWorkerCouldTakeIsNotInTheWallTime) {
  const Workload work{.steps = {Step("torch-2.1", {}, "aarch64-linux"), Step("jax-0.4")}};
  const Forecast forecast = MakeForecast(work, history_, {Worker(1)});
  EXPECT_EQ(forecast.unplaceable, 1);
  EXPECT_EQ(forecast.at_least, 30 * kMinute);
  EXPECT_EQ(forecast.core_time, 690 * kMinute);
  const Forecast nobody = MakeForecast(work, history_, {});
  EXPECT_EQ(nobody.unplaceable, 2);
  EXPECT_EQ(nobody.at_most, absl::ZeroDuration());
}

TEST_F(ForecastTest, TheFiveThatBuildLongestAreNamed) {
  Workload work;
  for (const char* name :
       {"cuda-12.6", "torch-2.1", "jax-0.4", "new-1.0", "cuda-12.6", "cuda-12.8", "cuda-12.9"}) {
    work.steps.push_back(Step(name));
  }
  EXPECT_THAT(
      MakeForecast(work, history_, {}).longest,
      ElementsAre(Field(&Forecast::Heavy::name, "torch-2.1"), Field(&Forecast::Heavy::name, "jax-0.4"),
                  Field(&Forecast::Heavy::name, "cuda-12.6"), Field(&Forecast::Heavy::name, "cuda-12.6"),
                  Field(&Forecast::Heavy::name, "cuda-12.8")));
  EXPECT_THAT(MakeForecast({}, history_, {}).longest, IsEmpty());
}

Backlog Ahead(absl::Duration time, bool running = false) {
  return {
      .id = "x", .demand = {.system = "x86_64-linux"}, .running = running, .time = time, .core_time = time};
}

TEST_F(ForecastTest, WhatWorkersHaveToDoAlreadyPutsOffTheLatestEndOnly) {
  const Workload work{.steps = {Step("cuda-12.6"), Step("torch-2.1", {0})}};
  const Forecast busy =
      MakeForecast(work, history_, {Worker(2)}, {Ahead(50 * kMinute, true), Ahead(20 * kMinute)});
  EXPECT_EQ(busy.at_least, 70 * kMinute);
  EXPECT_EQ(busy.at_most, 70 * kMinute + (70 + 50 + 20) * kMinute / 2);
  EXPECT_EQ(busy.running, 1);
  EXPECT_EQ(busy.waiting, 1);
  EXPECT_EQ(busy.steps, 2);
}

TEST_F(ForecastTest, WhatIsUnknownOrForNobodyHerePutsNothingOff) {
  const Workload work{.steps = {Step("cuda-12.6")}};
  Backlog elsewhere = Ahead(50 * kMinute), unknown = Ahead(kMinute);
  elsewhere.demand.system = "aarch64-linux";
  unknown.time.reset();
  const Forecast forecast = MakeForecast(work, history_, {Worker(1)}, {elsewhere, unknown});
  EXPECT_EQ(forecast.at_most, 20 * kMinute);
  EXPECT_EQ(forecast.waiting, 2);
  EXPECT_EQ(forecast.unknown_backlog, 1);
}

}  // namespace
}  // namespace hydrant
