#include "daemon/evaluate/import_queue.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ImportQueueTest, TheLargestGoesToWhomHasLeast) {
  ImportQueue queue({1, 1, 5, 1, 1, 1}, 2);
  EXPECT_THAT(queue.Take(0, 10), ElementsAre(2));
  EXPECT_THAT(queue.Take(1, 10), ElementsAre(0, 1, 3, 4, 5));
}

TEST(ImportQueueTest, AProcessGetsNoMoreThanItsShareAndTheRestNext) {
  ImportQueue queue({1, 1, 1}, 1);
  EXPECT_THAT(queue.Take(0, 2), ElementsAre(0, 1));
  EXPECT_TRUE(queue.Begin(0, 1));
  EXPECT_THAT(queue.Take(0, 2), ElementsAre(2));
}

TEST(ImportQueueTest, WhoHasNothingTakesHalfOfWhatAnotherHasNotBegun) {
  ImportQueue queue({6, 1, 1, 1, 1, 1}, 2);
  ASSERT_THAT(queue.Take(0, 10), ElementsAre(0));
  ASSERT_THAT(queue.Take(1, 10), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(queue.Take(0, 10), ElementsAre(4, 5));
  EXPECT_TRUE(queue.Begin(1, 2));
  EXPECT_TRUE(queue.Begin(1, 3));
  EXPECT_FALSE(queue.Begin(1, 4));
  EXPECT_TRUE(queue.Begin(0, 5));
  EXPECT_THAT(queue.Take(1, 10), IsEmpty());
}

TEST(ImportQueueTest, WhatIsBegunIsNobodyElses) {
  ImportQueue queue({1}, 2);
  EXPECT_THAT(queue.Take(0, 10), ElementsAre(0));
  EXPECT_THAT(queue.Take(1, 10), IsEmpty());
}

TEST(ImportQueueTest, MoreWorkersThanImportsAndNone) {
  ImportQueue queue({}, 3);
  EXPECT_THAT(queue.Take(2, 10), IsEmpty());
}

}  // namespace
}  // namespace hydrant
