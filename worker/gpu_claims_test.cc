#include "worker/gpu_claims.h"

#include <gtest/gtest.h>

#include <thread>

namespace hydrant::worker {
namespace {

TEST(GpuClaims, OneGpuIsUsedByOne) {
  GpuClaims claims({{.uuid = "a"}, {.uuid = "b"}});
  Cancellation cancellation, impatient;
  impatient.Cancel();
  {
    const auto first = claims.Wait("a", cancellation);
    ASSERT_TRUE(first.has_value());
    EXPECT_FALSE(claims.Wait("a", impatient).has_value());
    EXPECT_TRUE(claims.Wait("b", cancellation).has_value());
  }
  EXPECT_TRUE(claims.Wait("a", impatient).has_value());
}

TEST(GpuClaims, TheNextGetsItWhenTheFirstIsDone) {
  GpuClaims claims({{.uuid = "a"}});
  Cancellation cancellation;
  auto first = claims.Wait("a", cancellation);
  std::thread other([&] { EXPECT_TRUE(claims.Wait("a", cancellation).has_value()); });
  first.reset();
  other.join();
}

TEST(GpuClaims, AnUnknownGpuIsNone) {
  GpuClaims claims({});
  Cancellation cancellation;
  EXPECT_FALSE(claims.Wait("a", cancellation).has_value());
}

}  // namespace
}  // namespace hydrant::worker
