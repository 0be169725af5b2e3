#include "lib/gpu/simulated_gpu_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydrant {
namespace {

TEST(SimulatedGpuProbe, NothingDeclaredIsNoGpu) { EXPECT_TRUE(SimulatedGpuProbe({}).Probe()->empty()); }

TEST(SimulatedGpuProbe, EachSaysThatItIsSimulatedAndKeepsItsUuid) {
  SimulatedGpuProbe probe(
      {{.architecture = "8.6", .memory_bytes = 24, .driver = "550.54.14"}, {.architecture = "9.0"}});
  for (int round = 0; round < 2; ++round) {
    const auto gpus = *probe.Probe();
    ASSERT_EQ(gpus.size(), 2u);
    EXPECT_EQ(gpus[0].uuid, "simulated-0");
    EXPECT_EQ(gpus[1].uuid, "simulated-1");
    EXPECT_THAT(gpus[0].name, testing::StartsWith("simulated"));
    EXPECT_TRUE(gpus[0].simulated && gpus[1].simulated);
    EXPECT_EQ(gpus[0].driver, "550.54.14");
  }
}

}  // namespace
}  // namespace hydrant
