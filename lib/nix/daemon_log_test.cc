#include "lib/nix/daemon_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "lib/nix/daemon_bytes_fixture.h"

namespace hydrant::nix {
namespace {

class DaemonLogTest : public testing::Test {
 protected:
  void Says(const std::string& bytes) { in_ = std::make_unique<WireBytes>(bytes); }
  absl::Status Read(uint64_t minor = 34) {
    return ReadDaemonLog(*in_, minor, [this](const LogEvent& event) { events_.push_back(event); });
  }
  std::unique_ptr<WireBytes> in_;
  std::vector<LogEvent> events_;
};

constexpr uint64_t kNext = 0x6f6c6d67, kLast = 0x616c7473, kError = 0x63787470, kStart = 0x53545254,
                   kStop = 0x53544f50, kResult = 0x52534c54;

TEST_F(DaemonLogTest, EventsOfABuildInOrder) {
  Says(Number(kNext) + String("hello\n") +                                                                  //
       Number(kStart) + Number(9) + Number(3) + Number(105) + String("building") + Number(2) + Number(1) +  //
       String("/nix/store/x.drv") + Number(0) + Number(1) + Number(0) +                                     //
       Number(kResult) + Number(9) + Number(101) + Number(1) + Number(1) + String("line") +                 //
       Number(kResult) + Number(9) + Number(104) + Number(1) + Number(1) + String("buildPhase") +           //
       Number(kResult) + Number(9) + Number(105) + Number(2) + Number(0) + Number(1) + Number(0) +
       Number(7) +  //
       Number(kStop) + Number(9) + Number(kLast));
  ASSERT_TRUE(Read().ok());
  ASSERT_EQ(events_.size(), 6u);
  EXPECT_EQ(events_[0].text, "hello");
  EXPECT_EQ(events_[1].kind, LogEvent::Kind::kBuildStart);
  EXPECT_EQ(events_[1].derivation, "/nix/store/x.drv");
  EXPECT_EQ(events_[2].kind, LogEvent::Kind::kBuildLogLine);
  EXPECT_EQ(events_[2].text, "line");
  EXPECT_EQ(events_[2].activity, 9u);
  EXPECT_EQ(events_[3].kind, LogEvent::Kind::kPhase);
  EXPECT_EQ(events_[4].expected, 7u);
  EXPECT_EQ(events_[5].kind, LogEvent::Kind::kStop);
}

// What a daemon says when an activity of `type` begins: number 9, level 4, within 3.
std::string Started(uint64_t type, const std::string& fields) {
  return Number(kStart) + Number(9) + Number(4) + Number(type) + String("doing") + fields + Number(3);
}
std::string Texts(const std::vector<std::string>& texts) {
  std::string bytes = Number(texts.size());
  for (const std::string& text : texts) bytes += Number(1) + String(text);
  return bytes;
}
std::string Numbers(const std::vector<uint64_t>& numbers) {
  std::string bytes = Number(numbers.size());
  for (const uint64_t number : numbers) bytes += Number(0) + Number(number);
  return bytes;
}

TEST_F(DaemonLogTest, StartsNameWhatTheyAreAbout) {
  const std::string path = "/nix/store/p", drv = "/nix/store/d.drv", store = "https://cache.example";
  Says(Started(108, Texts({path, store})) + Started(100, Texts({path, store, "local"})) +
       Started(101, Texts({"https://x/y"})) + Started(109, Texts({path, store})) +
       Started(105, Texts({drv, "ssh://builder"})) + Started(110, Texts({drv})) + Started(111, Texts({drv})) +
       Started(106, Numbers({})) + Started(4711, Numbers({1})) + Number(kLast));
  ASSERT_TRUE(Read().ok());
  ASSERT_EQ(events_.size(), 9u);
  EXPECT_EQ(events_[0].kind, LogEvent::Kind::kSubstituteStart);
  EXPECT_EQ(events_[0].path, path);
  EXPECT_EQ(events_[0].origin, store);
  EXPECT_EQ(events_[0].parent, 3u);
  EXPECT_EQ(events_[0].level, 4);
  EXPECT_EQ(events_[0].text, "doing");
  EXPECT_EQ(events_[1].type, ActivityType::kCopyPath);
  EXPECT_EQ(events_[1].origin, store);
  EXPECT_EQ(events_[2].origin, "https://x/y");
  EXPECT_EQ(events_[3].path, path);
  EXPECT_EQ(events_[4].kind, LogEvent::Kind::kBuildStart);
  EXPECT_EQ(events_[4].machine, "ssh://builder");
  EXPECT_EQ(events_[5].derivation, drv);
  EXPECT_EQ(events_[6].type, ActivityType::kBuildWaiting);
  EXPECT_EQ(events_[7].kind, LogEvent::Kind::kStart);
  EXPECT_EQ(ActivityTypeName(events_[8].type), "unknown");
  EXPECT_EQ(std::get<uint64_t>(events_[8].fields.at(0)), 1u);
}

TEST_F(DaemonLogTest, ResultsNameTheirActivity) {
  const auto result = [](uint64_t type, const std::string& fields) {
    return Number(kResult) + Number(9) + Number(type) + fields;
  };
  Says(Started(108, Texts({"/nix/store/p", "s"})) + result(105, Numbers({1, 2, 3, 4})) +
       result(106, Numbers({101, 77})) + result(100, Numbers({4096})) + result(103, Texts({"/nix/store/p"})) +
       result(107, Texts({"of the hook"})) + result(108, Texts({"received 1 MiB"})) + Number(kStop) +
       Number(9) + result(105, Texts({"no", "numbers"})) + Number(kLast));
  ASSERT_TRUE(Read().ok());
  ASSERT_EQ(events_.size(), 9u);
  EXPECT_EQ(events_[1].type, ActivityType::kSubstitute);
  EXPECT_EQ(events_[1].done, 1u);
  EXPECT_EQ(events_[1].running, 3u);
  EXPECT_EQ(events_[1].failed, 4u);
  EXPECT_EQ(events_[2].kind, LogEvent::Kind::kExpected);
  EXPECT_EQ(events_[2].expected_type, ActivityType::kFileTransfer);
  EXPECT_EQ(events_[2].expected, 77u);
  EXPECT_EQ(ResultTypeName(events_[3].result), "file-linked");
  EXPECT_EQ(events_[4].path, "/nix/store/p");
  EXPECT_EQ(events_[5].kind, LogEvent::Kind::kMessage);
  EXPECT_EQ(events_[6].text, "received 1 MiB");
  EXPECT_EQ(events_[7].type, ActivityType::kSubstitute);
  EXPECT_EQ(events_[8].type, ActivityType::kUnknown);
  EXPECT_EQ(events_[8].done, 0u);
}

TEST_F(DaemonLogTest, EveryTypeHasItsName) {
  EXPECT_EQ(ActivityTypeName(ActivityType::kCopyPath), "copy-path");
  EXPECT_EQ(ActivityTypeName(ActivityType::kFetchToStore), "fetch-to-store");
  EXPECT_EQ(ResultTypeName(ResultType::kFileLinked), "file-linked");
  EXPECT_EQ(ResultTypeName(ResultType::kFetchToStore), "fetch-to-store");
  EXPECT_EQ(ActivityTypeName(ActivityType::kUnknown), "unknown");
}

TEST_F(DaemonLogTest, FieldOfUnknownTypeAndTooManyFieldsAreDataLoss) {
  Says(Started(105, Number(1) + Number(2) + Number(0)));
  EXPECT_EQ(Read().code(), absl::StatusCode::kDataLoss);
  Says(Started(105, Number(1000000)));
  EXPECT_EQ(Read().code(), absl::StatusCode::kDataLoss);
}

TEST_F(DaemonLogTest, ErrorIsAnAnswerAndTheWireGoesOn) {
  Says(Number(kError) + String("Error") + Number(0) + String("nix::Error") +
       String("\x1b[31;1mpath 'x' is not valid\x1b[0m") + Number(0) + Number(1) + Number(0) +
       String("while looking") + Number(77));
  const absl::Status status = Read();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "Nix daemon: path 'x' is not valid; while looking");
  EXPECT_EQ(in_->ReadNumber().value(), 77u);
}

TEST_F(DaemonLogTest, ErrorOfAnOldDaemonHasNoTraces) {
  Says(Number(kError) + String("old") + Number(1));
  EXPECT_EQ(Read(25).message(), "Nix daemon: old");
}

TEST_F(DaemonLogTest, UnknownMessageIsDataLoss) {
  Says(Number(1234));
  EXPECT_EQ(Read().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace hydrant::nix
