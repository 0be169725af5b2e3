#include "worker/lease/wire.h"

#include <gtest/gtest.h>

namespace hydrant::worker {
namespace {

TEST(Wire, AnEndComesBackAsItWas) {
  const AttemptEnd end{.cause = Cause::kBuilderFailed,
                       .message = "exit 3",
                       .nix_status = 3,
                       .fetching = absl::Milliseconds(1),
                       .building = absl::Milliseconds(2),
                       .pushing = absl::Milliseconds(3),
                       .cpu = absl::Milliseconds(4),
                       .max_memory_bytes = 5,
                       .log_bytes = 6,
                       .gpu = GpuFacts{.uuid = "simulated-0", .architecture = "8.6", .simulated = true}};
  const AttemptEnd back = FromWire(ToWire(end));
  EXPECT_EQ(back.cause, end.cause);
  EXPECT_EQ(back.message, end.message);
  EXPECT_EQ(back.nix_status, 3);
  EXPECT_EQ(back.building, end.building);
  EXPECT_EQ(back.log_bytes, 6);
  EXPECT_TRUE(back.gpu->simulated);
}

TEST(Wire, AMessageIsCutAndMadeUtf8) {
  const std::string text = "caf\xc3\xa9 \xff\xc3 \xed\xa0\x80 " + std::string(10000, 'x');
  const std::string sent = ToWire(AttemptEnd{.message = text}).message();
  EXPECT_EQ(sent.substr(0, 15), "caf\xc3\xa9 ?? ??? xx");
  EXPECT_LE(sent.size(), 4096u);
}

TEST(Wire, AnAssignmentWithoutWorkIsRefused) {
  v1::Assignment empty;
  empty.set_attempt(3);
  EXPECT_TRUE(absl::IsInvalidArgument(FromWire(empty, {}).status()));
}

TEST(Wire, ACheckKeepsItsLimits) {
  v1::Assignment wire;
  wire.set_gpu_uuid("simulated-0");
  wire.mutable_check()->add_command("python3");
  wire.mutable_check()->mutable_limits()->set_timeout_s(600);
  v1::Farm farm;
  farm.set_cache_url("http://c");
  const Assignment assignment = *FromWire(wire, farm);
  EXPECT_EQ(std::get<CheckWork>(assignment.work).limits.timeout, absl::Minutes(10));
  EXPECT_EQ(assignment.farm.cache_url, "http://c");
}

}  // namespace
}  // namespace hydrant::worker
