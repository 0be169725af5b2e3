#include "lib/base/mutex.h"

#include <gtest/gtest.h>

#include <thread>

namespace hydrant {
namespace {

struct Mailbox {
  Mutex mu;
  CondVar changed;
  int value ABSL_GUARDED_BY(mu) = 0;
};

TEST(MutexTest, ConditionVariableHandsAValueOver) {
  Mailbox box;
  std::thread sender([&box] {
    MutexLock lock(box.mu);
    box.value = 42;
    box.changed.NotifyAll();
  });
  {
    MutexLock lock(box.mu);
    while (box.value == 0) box.changed.Wait(box.mu);
    EXPECT_EQ(box.value, 42);
  }
  sender.join();
}

TEST(MutexTest, WaitForReturnsFalseWhenNobodyCalls) {
  Mailbox box;
  MutexLock lock(box.mu);
  EXPECT_FALSE(box.changed.WaitFor(box.mu, absl::Milliseconds(1)));
}

}  // namespace
}  // namespace hydrant
