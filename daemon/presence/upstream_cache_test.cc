// Caches that hold back, refuse, lie or fail: against a server whose replies are written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <thread>

#include "absl/strings/match.h"
#include "daemon/presence/http_presence.h"
#include "daemon/presence/test_server.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "tests/fakes/manual_clock.h"

namespace hydrant {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Path(int number) {
  return absl::StrCat("/nix/store/", std::string(28, '0'), 1000 + number, "-p");
}
std::string HashPart(int number) { return Path(number).substr(11, 32); }

// The narinfo of the path of whose hash part the head speaks.
std::string Hold(const std::string& head) {
  const std::string hash = head.substr(head.find('/') + 1, 32);
  return HttpText("200 OK", NarInfoText(absl::StrCat("/nix/store/", hash, "-p")));
}

class UpstreamCacheTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("no_proxy", "*", 1); }

  std::unique_ptr<HttpPresence> Open(HttpPresence::Options options) {
    auto opened = HttpPresence::Open(std::move(options), clock_);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }
  // How one cache's reply to every question is taken.
  Answer TakeReply(const std::string& reply) {
    TestServer server([&](const std::string&) { return reply; });
    return Open({.caches = {server.Url()}, .tries = 1})->Ask({Path(1)})[Path(1)];
  }
  std::string Secret(const std::string& name, const std::string& text) {
    EXPECT_EQ(WriteFileAtomically(dir_ / name, text, 0600), absl::OkStatus());
    return dir_ / name;
  }

  ManualClock clock_;
  TestDir dir_;
};

TEST_F(UpstreamCacheTest, TwoCallersShareAQuestionThatIsUnderWay) {
  TestGate gate;
  TestServer server([&](const std::string& head) {
    if (absl::StrContains(head, HashPart(1))) gate.Pass();
    return Hold(head);
  });
  auto presence = Open({.caches = {server.Url()}});
  Answer first, second;
  std::thread one([&] { first = presence->Ask({Path(1)})[Path(1)]; });
  server.Await(HashPart(1), 1);
  std::thread two([&] { second = presence->Ask({Path(1), Path(2)})[Path(1)]; });
  server.Await(HashPart(2), 1);  // so both of its questions were put
  gate.Open();
  one.join();
  two.join();
  EXPECT_EQ(first.held, Held::kPresent);
  EXPECT_EQ(second.held, Held::kPresent);
  EXPECT_EQ(server.Count(HashPart(1)), 1);
}

TEST_F(UpstreamCacheTest, TheSizeOfAnArchiveIsToldAndRemembered) {
  const auto with = [](const std::string& lines) {
    return absl::StrCat("StorePath: ", Path(1), "\nURL: nar/1\n", lines,
                        "NarHash: sha256:", std::string(52, '0'), "\nNarSize: 120\n");
  };
  std::string text = with("Compression: xz\nFileSize: 50\n");
  TestServer server([&](const std::string&) { return HttpText("200 OK", text); });
  const auto presence = Open({.caches = {server.Url()}});
  EXPECT_EQ(presence->Ask({Path(1)})[Path(1)].file_size, 50u);
  EXPECT_EQ(presence->Ask({Path(1)})[Path(1)].file_size, 50u);
  EXPECT_EQ(server.Heads().size(), 1u);
  EXPECT_EQ(TakeReply(HttpText("200 OK", with("Compression: none\n"))).file_size, 120u);
  EXPECT_EQ(TakeReply(HttpText("200 OK", with("Compression: xz\n"))).file_size, 0u)
      << "only its size unpacked is known";
}

TEST_F(UpstreamCacheTest, ACallerIsNotHeldUpByAnother) {
  TestGate gate;
  TestServer server([&](const std::string& head) {
    if (absl::StrContains(head, HashPart(1))) gate.Pass();
    return Hold(head);
  });
  auto presence = Open({.caches = {server.Url()}});
  std::thread slow([&] { presence->Ask({Path(1)}); });
  server.Await(HashPart(1), 1);
  EXPECT_EQ(presence->Ask({Path(2)})[Path(2)].held, Held::kPresent);
  gate.Open();
  slow.join();
}

TEST_F(UpstreamCacheTest, ALaterCacheThatHangsDoesNotHoldUpWhatAnEarlierOneHas) {
  TestGate gate;
  TestServer first(Hold), second([&](const std::string&head) {
    gate.Pass();
    return Hold(head);
  });
  auto presence = Open({.caches = {first.Url(), second.Url()}});
  EXPECT_EQ(presence->Ask({Path(1)})[Path(1)].cache, first.Url());
  gate.Open();
}

TEST_F(UpstreamCacheTest, TheEarlierCacheIsNamedThoughTheLaterAnswersFirst) {
  TestGate gate;
  TestServer second(Hold), first([&](const std::string&head) {
    gate.Pass();
    return Hold(head);
  });
  auto presence = Open({.caches = {first.Url(), second.Url()}});
  std::string named;
  std::thread caller([&] { named = presence->Ask({Path(1)})[Path(1)].cache; });
  first.Await(HashPart(1), 1);
  second.Await(HashPart(1), 1);  // both are under way before either is answered by the first
  gate.Open();
  caller.join();
  EXPECT_EQ(named, first.Url());
}

TEST_F(UpstreamCacheTest, WhatAnAnswerAddsIsAskedWhileOthersAreOpen) {
  TestGate gate;
  TestServer server([&](const std::string& head) {
    if (absl::StrContains(head, HashPart(1))) gate.Pass();
    return Hold(head);
  });
  auto presence = Open({.caches = {server.Url()}});
  std::vector<std::string> heard;
  presence->Follow({Path(1), Path(2)}, [&](const std::string& path, const Answer&) {
    heard.push_back(path);
    if (path == Path(3)) gate.Open();
    return path == Path(2) ? std::vector<std::string>{Path(3), Path(2)} : std::vector<std::string>{};
  });
  EXPECT_THAT(heard, ::testing::ElementsAre(Path(2), Path(3), Path(1)));
}

TEST_F(UpstreamCacheTest, CredentialsGoToTheirCacheAndNotAlongWithARedirect) {
  TestServer elsewhere(Hold);
  TestServer cache([&](const std::string& head) {
    const std::string target = absl::StrCat(elsewhere.Url(), head.substr(4, head.find(' ', 4) - 4));
    return HttpText("302 Found", "", absl::StrCat("Location: ", target, "\r\n"));
  });
  auto presence = Open({.caches = {cache.Url()},
                        .access = {{cache.Url(), {.credentials = Secret("credentials", "farm:hunter2\n")}}}});
  EXPECT_EQ(presence->Ask({Path(1)})[Path(1)].held, Held::kPresent);
  EXPECT_THAT(cache.Heads(), Each(HasSubstr("Authorization: Basic ZmFybTpodW50ZXIy")));
  EXPECT_THAT(elsewhere.Heads(), AllOf(::testing::SizeIs(1), Each(Not(HasSubstr("Authorization")))));
}

TEST_F(UpstreamCacheTest, ANetrcFileGivesEachHostItsOwnAndOtherCachesNone) {
  TestServer with(Hold), without(Hold);
  const std::string netrc = Secret("netrc", "machine 127.0.0.1 login farm password hunter2\n");
  auto presence = Open({.caches = {without.Url(), with.Url()}, .access = {{with.Url(), {.netrc = netrc}}}});
  presence->Ask({Path(1)});
  with.Await(HashPart(1), 1);
  EXPECT_THAT(with.Heads(), Each(HasSubstr("Authorization: Basic ZmFybTpodW50ZXIy")));
  EXPECT_THAT(without.Heads(), Each(Not(HasSubstr("Authorization"))));
}

TEST_F(UpstreamCacheTest, ARefusalNamesTheCacheAndNoSecret) {
  TestServer server([](const std::string&) { return HttpText("401 Unauthorized", "who is farm:hunter2?"); });
  auto presence = Open({.caches = {server.Url()},
                        .access = {{server.Url(), {.credentials = Secret("credentials", "farm:hunter2")}}}});
  EXPECT_THAT(presence->Ask({Path(1)})[Path(1)].why,
              AllOf(HasSubstr(server.Url()), HasSubstr("HTTP 401"), Not(HasSubstr("hunter2"))));
  EXPECT_EQ(server.Count("GET"), 1);  // asking again would not mend it
}

TEST_F(UpstreamCacheTest, ASecretInAUrlIsRefusedAndNotTold) {
  const auto opened = HttpPresence::Open({.caches = {"https://farm:hunter2@cache.example/x"}}, clock_);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(opened.status().message()),
              AllOf(HasSubstr("@cache.example"), Not(HasSubstr("hunter2"))));
}

TEST_F(UpstreamCacheTest, WhatIsNoReplyIsUnknownWithItsReason) {
  const std::string endless = absl::StrCat("HTTP/1.1 200 OK\r\n", [] {
    std::string lines;
    for (int i = 0; i < 4000; ++i) absl::StrAppend(&lines, "X-", i, ": ", std::string(50, 'x'), "\r\n");
    return lines;
  }());
  for (const auto& [reply, why] :
       {std::pair{std::string("SSH-2.0-OpenSSH_9.2\r\n"), "HTTP/0.9"},
        {HttpText("200 OK", std::string(2 << 20, 'x')), "larger than 1048576 bytes"},
        {endless, "headers are larger than 65536 bytes"},
        {HttpText("200 OK", "\n"), "not a narinfo"},
        {HttpText("200 OK", ""), "not a narinfo"},
        {HttpText("403 Forbidden"), "HTTP 403"},
        {std::string(), "Empty reply"}}) {
    const Answer answer = TakeReply(reply);
    EXPECT_EQ(answer.held, Held::kUnknown) << why;
    EXPECT_THAT(answer.why, HasSubstr(why));
  }
}

TEST_F(UpstreamCacheTest, AHostWithoutAddressIsUnknown) {
  const Answer answer =
      Open({.caches = {"http://no-such-host.invalid"}, .tries = 1})->Ask({Path(1)})[Path(1)];
  EXPECT_EQ(answer.held, Held::kUnknown);
  EXPECT_THAT(answer.why, HasSubstr("no-such-host.invalid"));
}

TEST_F(UpstreamCacheTest, AFailingCacheGetsOneProbeAPauseAndItsStateIsToldOnce) {
  std::atomic<bool> broken = true;
  TestServer server([&](const std::string& head) { return broken ? HttpText("500 Oh") : Hold(head); });
  Mutex mu;
  std::vector<CacheHealth> told;
  std::vector<std::string> paths;
  for (int i = 0; i < 20; ++i) paths.push_back(Path(i));
  auto presence = Open({.caches = {server.Url()},
                        .in_flight = 1,
                        .tries = 1,
                        .breaker = {.failures_to_open = 4, .pause = absl::Seconds(30)},
                        .observer = [&](const CacheHealth& health) {
                          MutexLock lock(mu);
                          told.push_back(health);
                        }});
  EXPECT_THAT(presence->Ask(paths)[Path(19)].why, AllOf(HasSubstr("failed 4 times"), HasSubstr("HTTP 500")));
  EXPECT_EQ(server.Count("GET"), 4);
  presence->Ask(paths);
  EXPECT_EQ(server.Count("GET"), 4);
  clock_.Advance(absl::Seconds(30));
  presence->Ask(paths);
  EXPECT_EQ(server.Count("GET"), 5);
  clock_.Advance(absl::Seconds(60));
  broken = false;
  for (const auto& [path, answer] : presence->Ask(paths))
    EXPECT_EQ(answer.held, Held::kPresent) << answer.why;
  presence.reset();  // the last word of its thread
  MutexLock lock(mu);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_TRUE(told[0].open);
  EXPECT_EQ(told[0].why, "HTTP 500");
  EXPECT_FALSE(told[1].open);
}

TEST_F(UpstreamCacheTest, AServerThatFailedOnceIsAskedAgain) {
  std::atomic<int> asked = 0;
  TestServer server([&](const std::string& head) { return ++asked < 3 ? HttpText("503 Busy") : Hold(head); });
  EXPECT_EQ(Open({.caches = {server.Url()}})->Ask({Path(1)})[Path(1)].held, Held::kPresent);
}

}  // namespace
}  // namespace hydrant
