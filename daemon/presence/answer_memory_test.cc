#include "daemon/presence/answer_memory.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

using Known = AnswerMemory::Known;

constexpr absl::Time kNow = absl::FromUnixSeconds(1'000'000);

TEST(AnswerMemoryTest, PresentHoldsForAnHourAndAbsentForAMinute) {
  AnswerMemory memory({});
  memory.Remember("a", {true}, kNow);
  memory.Remember("b", {false}, kNow);
  EXPECT_EQ(memory.Recall("b", kNow + absl::Seconds(59)), Known{false});
  EXPECT_EQ(memory.Recall("b", kNow + absl::Seconds(60)), std::nullopt);
  EXPECT_EQ(memory.Recall("a", kNow + absl::Seconds(3599)), Known{true});
  EXPECT_EQ(memory.Recall("a", kNow + absl::Hours(1)), std::nullopt);
}

TEST(AnswerMemoryTest, TheOldestAreForgottenFirstWhenThereAreTooMany) {
  AnswerMemory memory({.most = 100});
  for (int i = 0; i < 1000; ++i) memory.Remember(absl::StrCat(i), {i % 2 == 0}, kNow);
  EXPECT_EQ(memory.size(), 200u);
  EXPECT_EQ(memory.Recall("799", kNow), std::nullopt);
  EXPECT_EQ(memory.Recall("801", kNow), Known{false});
}

TEST(AnswerMemoryTest, WhatEndedLeavesNothingBehind) {
  AnswerMemory memory({});
  for (int i = 0; i < 100; ++i) memory.Remember(absl::StrCat(i), {false}, kNow);
  memory.Remember("x", {true}, kNow + absl::Minutes(2));
  EXPECT_EQ(memory.size(), 1u);
}

TEST(AnswerMemoryTest, ANewerAnswerOutlivesTheEndOfTheOlder) {
  AnswerMemory memory({});
  memory.Remember("a", {false}, kNow);
  memory.Remember("a", {true}, kNow + absl::Seconds(30));
  memory.Remember("b", {false}, kNow + absl::Seconds(70));  // the line of the older answer goes
  EXPECT_EQ(memory.Recall("a", kNow + absl::Seconds(70)), Known{true});
}

TEST(AnswerMemoryTest, TheSizeOfWhatIsPresentIsRememberedWithIt) {
  AnswerMemory memory({});
  memory.Remember("a", {.present = true, .file_size = 7}, kNow);
  EXPECT_EQ(memory.Recall("a", kNow)->file_size, 7u);
  memory.Remember("a", {.present = false}, kNow);
  EXPECT_EQ(memory.Recall("a", kNow), Known{false});
}

}  // namespace
}  // namespace hydrant
