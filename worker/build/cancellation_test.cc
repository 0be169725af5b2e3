#include "worker/build/cancellation.h"

#include <gtest/gtest.h>

#include <thread>

namespace hydrant::worker {
namespace {

TEST(Cancellation, WakesWhoWaits) {
  Cancellation cancellation;
  std::thread other([&] { cancellation.Cancel(); });
  EXPECT_FALSE(cancellation.WaitFor(absl::Hours(1)));
  other.join();
  EXPECT_TRUE(cancellation.cancelled());
}

TEST(Cancellation, WithoutItTheWholeTimePasses) {
  Cancellation cancellation;
  EXPECT_TRUE(cancellation.WaitFor(absl::Milliseconds(1)));
}

TEST(Cancellation, RunsAHookOnce) {
  Cancellation cancellation;
  int runs = 0;
  Cancellation::Hook hook(cancellation, [&] { ++runs; });
  cancellation.Cancel();
  cancellation.Cancel();
  EXPECT_EQ(runs, 1);
}

TEST(Cancellation, AHookThatComesLateRunsAtOnce) {
  Cancellation cancellation;
  cancellation.Cancel();
  bool ran = false;
  Cancellation::Hook hook(cancellation, [&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(Cancellation, AHookThatIsGoneDoesNotRun) {
  Cancellation cancellation;
  bool ran = false;
  {
    Cancellation::Hook hook(cancellation, [&] { ran = true; });
  }
  cancellation.Cancel();
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace hydrant::worker
