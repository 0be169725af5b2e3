// Daemons that stop, lie or never end, in each state of a connection: each gives its status and blocks
// nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "lib/nix/daemon_encoding.h"
#include "lib/nix/scripted_daemon_fixture.h"

namespace hydrant::nix {
namespace {

using testing::AnyOf;

const std::string kPath = "/nix/store/0c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d-a";
constexpr absl::Duration kSoon = absl::Milliseconds(4);

// All that a daemon says in a session of one question: a greeting, some log, an answer.
std::string Answer() {
  WireWriter info;
  PutUnkeyedPathInfo(info,
                     {.path = kPath, .nar_hash = HashSha256("x"), .nar_size = 8, .references = {kPath}});
  return Number(kLogNext) + String("a message") + Number(kLogStart) + Number(1) + Number(3) + Number(109) +
         String("querying") + Number(1) + Number(1) + String(kPath) + Number(0) + Number(kLogStop) +
         Number(1) + Number(kLogLast) + Number(1) + info.bytes();
}
std::string Session(uint64_t minor) { return ScriptedDaemon::Greeting(minor) + Answer(); }

// Says as much of a session as `bytes` has, each part in its turn.
void SaySession(ScriptedDaemon& daemon, uint64_t minor, std::string_view bytes) {
  const size_t greeting = ScriptedDaemon::Greeting(minor).size();
  daemon.Say(bytes.substr(0, greeting));
  if (bytes.size() <= greeting) return;
  WireWriter features;
  if (minor >= 38) features.PutStrings(OurFeatures());
  if (daemon.Hear(32 + features.bytes().size()) && daemon.HearQuestion(kPath))
    daemon.Say(bytes.substr(greeting));
}

absl::Status Ask(const ScriptedDaemon& daemon, absl::Duration timeout) {
  auto client = DaemonClient::Connect(daemon.options(timeout));
  return client.ok() ? (*client)->QueryPathInfo(kPath).status() : client.status();
}

class SessionTest : public testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Versions, SessionTest, testing::Values(34, 38));

TEST_P(SessionTest, WholeSessionIsAnAnswer) {
  ScriptedDaemon daemon([&](ScriptedDaemon& self) { SaySession(self, GetParam(), Session(GetParam())); });
  EXPECT_TRUE(Ask(daemon, absl::Minutes(1)).ok());
}

TEST_P(SessionTest, EndAfterEachByteIsUnavailable) {
  const std::string session = Session(GetParam());
  for (size_t length = 0; length < session.size(); length += 3) {
    ScriptedDaemon daemon(
        [&](ScriptedDaemon& self) { SaySession(self, GetParam(), session.substr(0, length)); });
    EXPECT_EQ(Ask(daemon, absl::Minutes(1)).code(), absl::StatusCode::kUnavailable) << length;
  }
}

TEST_P(SessionTest, SilenceAfterEachWordIsDeadlineExceeded) {
  const std::string session = Session(GetParam());
  for (size_t length = 0; length < session.size(); length += 8) {
    ScriptedDaemon daemon([&](ScriptedDaemon& self) {
      SaySession(self, GetParam(), session.substr(0, length));
      self.Listen();
    });
    EXPECT_EQ(Ask(daemon, kSoon).code(), absl::StatusCode::kDeadlineExceeded) << length;
  }
}

TEST_P(SessionTest, EachWordReplacedByAHugeOneEndsWithAnError) {
  const std::string session = Session(GetParam());
  for (size_t at = 0; at < session.size(); at += 8) {
    ScriptedDaemon daemon([&](ScriptedDaemon& self) {
      SaySession(self, GetParam(), session.substr(0, at) + Number(~uint64_t{0}) + session.substr(at + 8));
      self.Listen();
    });
    // A number or text that may be anything is an answer; one more request would find the rest.
    EXPECT_THAT(Ask(daemon, kSoon).code(),
                AnyOf(absl::StatusCode::kOk, absl::StatusCode::kDataLoss, absl::StatusCode::kDeadlineExceeded,
                      absl::StatusCode::kFailedPrecondition))
        << at;
  }
}

TEST(HungDaemonTest, AByteNowAndThenIsNoAnswer) {
  ScriptedDaemon in_greeting([](ScriptedDaemon& self) { self.Trickle('\1'); });
  EXPECT_EQ(Ask(in_greeting, kSoon).code(), absl::StatusCode::kDeadlineExceeded);
  ScriptedDaemon in_log([](ScriptedDaemon& self) {
    if (!self.Greet() || !self.HearQuestion(kPath)) return;
    self.Say(Number(kLogNext) + Number(1 << 20));
    self.Trickle('x');
  });
  EXPECT_EQ(Ask(in_log, kSoon).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(HungDaemonTest, LogWithoutEndIsNoAnswerToAQuestion) {
  ScriptedDaemon daemon([](ScriptedDaemon& self) {
    if (!self.Greet() || !self.HearQuestion(kPath)) return;
    while (self.Say(Number(kLogNext) + String("still here"))) {
    }
  });
  EXPECT_EQ(Ask(daemon, kSoon).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(HungDaemonTest, ClientThatIsBrokenStaysSo) {
  ScriptedDaemon daemon([](ScriptedDaemon& self) { self.Greet(); });
  auto client = DaemonClient::Connect(daemon.options()).value();
  EXPECT_EQ(client->QueryPathInfo(kPath).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(client->SetOptions({}).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(client->BuildPaths({}, nullptr).code(), absl::StatusCode::kUnavailable);
}

TEST(HungDaemonTest, MoreThanTheReplyIsFoundByTheNextRequest) {
  ScriptedDaemon daemon([](ScriptedDaemon& self) {
    SaySession(self, 34, Session(34) + Number(1));
    self.Listen();
  });
  auto client = DaemonClient::Connect(daemon.options()).value();
  EXPECT_TRUE(client->QueryPathInfo(kPath).ok());
  EXPECT_EQ(client->IsValidPath(kPath).status().code(), absl::StatusCode::kDataLoss);
}

TEST(HungDaemonTest, BuildMayBeSilentUnlessItIsLimited) {
  ScriptedDaemon patient([&](ScriptedDaemon& self) {
    self.Greet();
    pollfd never{self.fd(), 0, 0};
    poll(&never, 1, 20);  // five times the reply timeout, in which a question would fail
    self.Say(Number(kLogLast) + Number(1));
    self.Listen();
  });
  auto client = DaemonClient::Connect(patient.options(kSoon));
  if (client.ok()) {
    EXPECT_TRUE((*client)->BuildPaths({DerivedPath::Opaque(kPath)}, nullptr).ok());
  }

  ScriptedDaemon limited([](ScriptedDaemon& self) {
    self.Greet();
    self.Listen();
  });
  auto options = limited.options();
  options.work_timeout = kSoon;
  EXPECT_EQ(DaemonClient::Connect(options).value()->BuildPaths({DerivedPath::Opaque(kPath)}, nullptr).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(HungDaemonTest, DaemonThatEndsWhileItBuildsIsUnavailable) {
  ScriptedDaemon daemon([](ScriptedDaemon& self) {
    self.Greet();
    self.Hear(8);
    self.Say(Number(kLogNext) + String("building"));
  });
  EXPECT_EQ(DaemonClient::Connect(daemon.options())
                .value()
                ->BuildPaths({DerivedPath::Opaque(kPath)}, nullptr)
                .code(),
            absl::StatusCode::kUnavailable);
}

TEST(HungDaemonTest, DaemonThatEndsWhileItIsUploadedToSaysWhy) {
  ScriptedDaemon daemon([](ScriptedDaemon& self) {
    self.Greet();
    self.Hear(8);
    self.Say(Number(kLogError) + String("Error") + Number(0) + String("Error") +
             String("No space left on device") + Number(0) + Number(0));
  });
  const std::string big(8 << 20, 'x');
  StringSource source(big);
  auto client = DaemonClient::Connect(daemon.options()).value();
  EXPECT_EQ(client->AddToStoreNar({.path = kPath}, source).code(), absl::StatusCode::kResourceExhausted);
}

TEST(HungDaemonTest, CloseFromAnotherThreadEndsEachWait) {
  ScriptedDaemon daemon([](ScriptedDaemon& self) {
    self.Greet();
    self.Listen();
  });
  auto client = DaemonClient::Connect(daemon.options()).value();
  std::thread closer([&] { client->Close(); });
  EXPECT_EQ(client->QueryPathInfo(kPath).status().code(), absl::StatusCode::kCancelled);
  closer.join();
}

// The header of an archive of one file of `size` bytes, which follow.
std::string FileArchiveHeader(uint64_t size) {
  std::string bytes;
  for (const char* word : {"nix-archive-1", "(", "type", "regular", "contents"}) bytes += String(word);
  return bytes + Number(size);
}

// Answers that the path is valid, then begins its archive.
void StartArchive(ScriptedDaemon& daemon, const std::string& bytes) {
  if (daemon.Greet() && daemon.HearQuestion(kPath)) daemon.Say(Number(kLogLast) + Number(1));
  if (daemon.HearQuestion(kPath)) daemon.Say(Number(kLogLast) + bytes);
}

TEST(HungDaemonTest, SlowSinkSlowsTheDaemonInsteadOfFillingMemory) {
  constexpr uint64_t kSize = 64 << 20;
  std::promise<void> sink_waits;
  std::promise<uint64_t> daemon_waits;
  ScriptedDaemon daemon([&](ScriptedDaemon& self) {
    StartArchive(self, FileArchiveHeader(kSize));
    sink_waits.get_future().wait();
    const std::string block(1 << 16, 'x');
    uint64_t sent = 0;
    for (ssize_t n = 0; n >= 0 && sent < kSize; sent += std::max<ssize_t>(n, 0))
      n = send(self.fd(), block.data(), block.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    daemon_waits.set_value(sent);
    self.Say(std::string(kSize - sent, 'x') + String(")"));
    self.Listen();
  });
  struct Slow final : Sink {
    absl::Status Write(std::string_view bytes) override {
      largest = std::max(largest, bytes.size());
      size += bytes.size();
      if (begin) std::exchange(begin, nullptr)();
      return absl::OkStatus();
    }
    std::function<void()> begin;
    size_t largest = 0, size = 0;
  } sink;
  uint64_t sent_while_blocked = 0;
  sink.begin = [&] {
    sink_waits.set_value();
    sent_while_blocked = daemon_waits.get_future().get();
  };
  auto client = DaemonClient::Connect(daemon.options()).value();
  const absl::Status read = client->NarFromPath(kPath, sink);
  if (sink.begin) sink_waits.set_value();
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_LT(sent_while_blocked, 4u << 20) << "a socket's buffer holds it";
  EXPECT_LE(sink.largest, 256u << 10);
  EXPECT_GT(sink.size, kSize);
}

TEST(HungDaemonTest, ArchiveThatTricklesOrIsGarbageEnds) {
  ScriptedDaemon trickling([&](ScriptedDaemon& self) {
    StartArchive(self, FileArchiveHeader(1 << 20));
    self.Trickle('x');
  });
  StringSink sink;
  auto options = trickling.options(absl::Milliseconds(20));
  EXPECT_EQ(DaemonClient::Connect(options).value()->NarFromPath(kPath, sink).code(),
            absl::StatusCode::kDeadlineExceeded);
  ScriptedDaemon garbage([&](ScriptedDaemon& self) {
    StartArchive(self, std::string(4096, '\x7f'));
    self.Listen();
  });
  EXPECT_EQ(DaemonClient::Connect(garbage.options()).value()->NarFromPath(kPath, sink).code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace hydrant::nix
