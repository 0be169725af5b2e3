#include "lib/nix/daemon_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "lib/nix/daemon_bytes_fixture.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;

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

TEST_F(DaemonWireTest, AByteNowAndThenIsNoNumber) {
  wire_->set_timeout(absl::Milliseconds(2));
  // Never silent for longer than 1 ms, and never done.
  std::thread peer([&] {
    pollfd gone{peer_.get(), 0, 0};
    while (poll(&gone, 1, 1) == 0 && send(peer_.get(), "\1", 1, MSG_NOSIGNAL) == 1) {
    }
  });
  absl::Status status;
  while (status.ok()) status = wire_->ReadNumber().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  wire_.reset();
  peer.join();
}

TEST_F(DaemonWireTest, AnswerThatNeverEndsMeetsTheDeadline) {
  wire_->set_deadline(absl::Milliseconds(5));
  std::thread peer([&] {
    const std::string block(1 << 16, '\1');
    while (send(peer_.get(), block.data(), block.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  absl::Status status;
  while (status.ok()) status = wire_->ReadNumber().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "the Nix daemon did not answer in time");
  wire_.reset();
  peer.join();
}

TEST_F(DaemonWireTest, PeerThatTakesNothingIsDeadlineExceeded) {
  wire_->set_timeout(absl::Milliseconds(1));
  const std::string big(8 << 20, 'x');
  StringSource source(big);
  EXPECT_EQ(wire_->SendFrames(source).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(DaemonWireTest, PeerThatOnlyTalksWhileItShouldListenIsDataLoss) {
  std::thread peer([&] {
    const std::string block(1 << 16, '\1');
    while (send(peer_.get(), block.data(), block.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  const std::string big(8 << 20, 'x');
  StringSource source(big);
  EXPECT_EQ(wire_->SendFrames(source).code(), absl::StatusCode::kDataLoss);
  wire_.reset();
  peer.join();
}

TEST_F(DaemonWireTest, EndOfTheProcessIsNoticedWhileAnotherHoldsItsPipe) {
  const pid_t child = fork();
  if (child == 0) pause();
  wire_->set_process(UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, child, 0))));
  Says(Number(5));
  EXPECT_EQ(wire_->ReadNumber().value(), 5u);
  kill(child, SIGKILL);
  const absl::Status status = wire_->ReadNumber().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "the Nix daemon's process ended");
  waitpid(child, nullptr, 0);
}

TEST_F(DaemonWireTest, SourceThatFailsMayBreakTheWireInstead) {
  struct Broken final : Source {
    absl::StatusOr<size_t> Read(std::span<char>) override { return absl::DataLossError("disk"); }
  } source;
  EXPECT_EQ(wire_->SendFrames(source, DaemonWire::OnFailure::kBreak).message(), "disk");
  EXPECT_EQ(wire_->Flush().message(), "disk");
  wire_.reset();
  char frame[9];
  EXPECT_EQ(read(peer_.get(), frame, 9), 0) << "the frames were not ended";
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

}  // namespace
}  // namespace hydrant::nix
