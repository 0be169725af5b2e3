#include "lib/nix/daemon_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "lib/nix/daemon_log.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Number(uint64_t n) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(n >> (8 * i));
  return out;
}

std::string String(std::string_view text) {
  std::string out = Number(text.size()).append(text);
  out.append((8 - text.size() % 8) % 8, '\0');
  return out;
}

// A wire whose peer is the test.
class DaemonWireTest : public testing::Test {
 protected:
  DaemonWireTest() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    UniqueFd second(dup(fds[0]));
    wire_ = std::make_unique<DaemonWire>(UniqueFd(fds[0]), std::move(second));
    peer_.Reset(fds[1]);
  }

  void Says(const std::string& bytes) {
    ASSERT_EQ(write(peer_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

  std::unique_ptr<DaemonWire> wire_;
  UniqueFd peer_;
};

TEST_F(DaemonWireTest, NumbersAndStringsComeBack) {
  wire_->PutNumber(uint64_t{1} << 63);
  wire_->PutStrings(std::set<std::string>{"", "12345678", "\xff nine!!"});
  ASSERT_TRUE(wire_->Flush().ok());
  char sent[200];
  const ssize_t n = read(peer_.get(), sent, sizeof sent);
  EXPECT_EQ(std::string(sent, n),
            Number(uint64_t{1} << 63) + Number(3) + String("") + String("12345678") + String("\xff nine!!"));
  Says(std::string(sent, n));
  EXPECT_EQ(wire_->ReadNumber().value(), uint64_t{1} << 63);
  EXPECT_THAT(wire_->ReadStrings().value(), ElementsAre("", "12345678", "\xff nine!!"));
}

TEST_F(DaemonWireTest, LengthBeyondReasonBreaksItForGood) {
  Says(Number(uint64_t{1} << 40) + String("fine"));
  EXPECT_EQ(wire_->ReadString().status().code(), absl::StatusCode::kDataLoss);
  wire_->PutNumber(1);
  EXPECT_EQ(wire_->Flush().code(), absl::StatusCode::kDataLoss);
}

TEST_F(DaemonWireTest, CountBeyondReasonIsRefused) {
  Says(Number(uint64_t{1} << 40));
  EXPECT_EQ(wire_->ReadStrings().status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(DaemonWireTest, DirtyPaddingIsRefused) {
  Says(Number(1) + "a......x");
  EXPECT_EQ(wire_->ReadString().status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(DaemonWireTest, EndOfTheStreamIsUnavailable) {
  Says("1234");
  peer_.Reset();
  EXPECT_EQ(wire_->ReadNumber().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(wire_->ReadNumber().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(DaemonWireTest, SilenceIsDeadlineExceeded) {
  wire_->set_timeout(absl::Milliseconds(1));
  EXPECT_EQ(wire_->ReadNumber().status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(DaemonWireTest, InterruptWakesTheReader) {
  std::thread other([this] { wire_->Interrupt(); });
  EXPECT_EQ(wire_->ReadNumber().status().code(), absl::StatusCode::kCancelled);
  other.join();
}

TEST_F(DaemonWireTest, FramesPassEvenWhenThePeerMustTalkFirst) {
  const std::string big(4 << 20, 'x'), log = String(std::string(1 << 20, 'l'));
  std::string received;
  std::thread peer([&] {
    for (size_t at = 0; at < log.size();) at += write(peer_.get(), log.data() + at, log.size() - at);
    char block[65536];
    while (received.size() < 8 || !received.ends_with(Number(0))) {
      received.append(block, read(peer_.get(), block, sizeof block));
    }
  });
  StringSource source(big);
  EXPECT_TRUE(wire_->SendFrames(source).ok());
  peer.join();
  EXPECT_EQ(received.substr(0, 8), Number(65536));
  EXPECT_EQ(received.size(), big.size() + 8 * (big.size() / 65536 + 1));
  EXPECT_EQ(wire_->ReadString()->size(), size_t{1} << 20);
}

TEST_F(DaemonWireTest, FailedSourceStillEndsTheFrames) {
  struct Broken final : Source {
    absl::StatusOr<size_t> Read(std::span<char>) override { return absl::DataLossError("disk"); }
  } source;
  EXPECT_EQ(wire_->SendFrames(source).message(), "disk");
  char frame[9];
  ASSERT_EQ(read(peer_.get(), frame, 9), 8);
  EXPECT_EQ(std::string(frame, 8), Number(0));
}

class DaemonLogTest : public DaemonWireTest {
 protected:
  absl::Status Read(uint64_t minor = 34) {
    return ReadDaemonLog(*wire_, minor, [this](const LogEvent& event) { events_.push_back(event); });
  }
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

TEST_F(DaemonLogTest, ErrorIsAnAnswerAndTheWireGoesOn) {
  Says(Number(kError) + String("Error") + Number(0) + String("nix::Error") +
       String("\x1b[31;1mpath 'x' is not valid\x1b[0m") + Number(0) + Number(1) + Number(0) +
       String("while looking") + Number(77));
  const absl::Status status = Read();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "Nix daemon: path 'x' is not valid; while looking");
  EXPECT_EQ(wire_->ReadNumber().value(), 77u);
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
