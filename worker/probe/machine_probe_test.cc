#include "worker/probe/machine_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydrant::worker {
namespace {

TEST(ProbeMachine, MeasuresWhatIsHere) {
  const MachineFacts facts = ProbeMachine();
  EXPECT_GE(facts.cores, 1);
  EXPECT_GT(facts.memory_bytes, 64 << 20);
  EXPECT_THAT(facts.system, testing::EndsWith("-linux"));
  EXPECT_THAT(facts.features, testing::IsSupersetOf({"benchmark", "big-parallel"}));
  EXPECT_THAT(facts.features, testing::Not(testing::Contains("cuda")));
}

TEST(FreeDiskBytes, OfAFolderThatIsNotThereIsThatAbove) {
  EXPECT_GT(FreeDiskBytes("/tmp/not/there/at/all"), 0);
  EXPECT_GT(FreeDiskBytes("/"), 0);
}

TEST(HostName, IsAWorkersName) { EXPECT_THAT(HostName(), testing::MatchesRegex("[a-z0-9][a-z0-9.-]*")); }

}  // namespace
}  // namespace hydrant::worker
