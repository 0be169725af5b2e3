#include "worker/attempt_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydrant::worker {
namespace {

using testing::HasSubstr;

TEST(AttemptMetrics, CountsOutcomesStagesAndBytes) {
  const auto metrics =
      *AttemptMetrics::Open("", {.slots = 3, .gpus = {{.architecture = "8.6", .simulated = true}}});
  metrics->Entered(AttemptStage::kFetching, AttemptStage::kLeased);
  metrics->Entered(AttemptStage::kBuilding, AttemptStage::kFetching);
  EXPECT_THAT(metrics->Text(), HasSubstr("hydrant_worker_attempts{stage=\"building\"} 1"));
  metrics->Uploaded(1, 100);
  metrics->Ended({.cause = Cause::kBuilderFailed, .building = absl::Seconds(2)}, AttemptStage::kBuilding);
  metrics->Ended({}, AttemptStage::kLeased);
  const std::string text = metrics->Text();
  for (const char* line :
       {"hydrant_worker_slots 3", "hydrant_worker_gpus{architecture=\"8.6\",simulated=\"true\"} 1",
        "hydrant_worker_attempts{stage=\"building\"} 0", "hydrant_worker_attempts{stage=\"fetching\"} 0",
        "hydrant_worker_attempts_total{cause=\"builder_failed\",outcome=\"failed\"} 1",
        "hydrant_worker_attempts_total{cause=\"\",outcome=\"succeeded\"} 1",
        "hydrant_worker_attempt_duration_seconds_sum{stage=\"building\"} 2",
        "hydrant_worker_upload_bytes_total 100"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(AttemptMetrics, APortThatCannotBeHadIsNamed) {
  const auto metrics = AttemptMetrics::Open("203.0.113.1:1", {});
  ASSERT_TRUE(absl::IsUnavailable(metrics.status()));
  EXPECT_THAT(std::string(metrics.status().message()), HasSubstr("203.0.113.1:1"));
}

}  // namespace
}  // namespace hydrant::worker
