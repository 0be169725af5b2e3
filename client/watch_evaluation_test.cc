#include "client/watch_evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "client/commands/verbs.h"
#include "client/progress.h"

namespace hydrant::client {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class ManualClock final : public Clock {
 public:
  absl::Time Now() const override { return now; }
  absl::Time now = absl::UnixEpoch();
};

class TestConsole final : public Console {
 public:
  void Out(std::string_view text) override { out += text; }
  void Err(std::string_view text) override { err += text; }
  const Screen& out_screen() const override { return screen; }
  const Screen& err_screen() const override { return screen; }
  Screen screen;
  std::string out, err;
};

// Answers streams as scripted, one script a call; everything else is not there.
class ScriptedClient final : public Client {
 public:
  struct WatchScript {
    std::vector<v1::WatchResponse> responses;
    absl::Status end;
  };
  struct LogScript {
    std::vector<std::pair<int64_t, std::string>> chunks;  // offset, data
    absl::Status end;
  };
  std::deque<WatchScript> watches;
  std::deque<LogScript> logs;
  std::vector<std::string> asked;

  absl::Status Watch(const v1::WatchRequest& request,
                     const std::function<void(const v1::WatchResponse&)>& take) override {
    asked.push_back(request.ShortDebugString());
    if (watches.empty()) return absl::UnavailableError("away");
    const WatchScript script = watches.front();
    watches.pop_front();
    for (const auto& response : script.responses) take(response);
    return script.end;
  }
  absl::Status ReadLog(const v1::ReadLogRequest& request,
                       const std::function<void(const v1::ReadLogResponse&)>& take) override {
    asked.push_back(request.ShortDebugString());
    const LogScript script = logs.front();
    logs.pop_front();
    for (const auto& [offset, data] : script.chunks) {
      v1::ReadLogResponse response;
      response.set_attempt(7);
      response.set_offset(offset);
      response.set_data(data);
      take(response);
    }
    return script.end;
  }

  absl::StatusOr<v1::GetFarmResponse> GetFarm(const v1::GetFarmRequest&) override { return None(); }
  absl::StatusOr<v1::ApplyMatrixResponse> ApplyMatrix(const v1::ApplyMatrixRequest&) override {
    return None();
  }
  absl::StatusOr<v1::ListMatricesResponse> ListMatrices(const v1::ListMatricesRequest&) override {
    return None();
  }
  absl::StatusOr<v1::PlanResponse> Plan(const v1::PlanRequest&) override { return None(); }
  absl::StatusOr<v1::TriggerResponse> Trigger(const v1::TriggerRequest&) override { return None(); }
  absl::StatusOr<v1::ListEvaluationsResponse> ListEvaluations(const v1::ListEvaluationsRequest&) override {
    return None();
  }
  absl::StatusOr<v1::CompareEvaluationsResponse> CompareEvaluations(
      const v1::CompareEvaluationsRequest&) override {
    return None();
  }
  absl::StatusOr<v1::GetStatusResponse> GetStatus(const v1::GetStatusRequest&) override { return None(); }
  absl::StatusOr<v1::ExplainResponse> Explain(const v1::ExplainRequest&) override { return None(); }
  absl::StatusOr<v1::CancelResponse> Cancel(const v1::CancelRequest&) override { return None(); }
  absl::StatusOr<v1::RetryResponse> Retry(const v1::RetryRequest&) override { return None(); }
  absl::StatusOr<v1::ListWorkersResponse> ListWorkers(const v1::ListWorkersRequest&) override {
    return None();
  }
  absl::StatusOr<v1::DrainWorkerResponse> DrainWorker(const v1::DrainWorkerRequest&) override {
    return None();
  }
  absl::StatusOr<v1::ListChannelsResponse> ListChannels(const v1::ListChannelsRequest&) override {
    return None();
  }

 private:
  static absl::Status None() { return absl::UnimplementedError("not scripted"); }
};

v1::WatchResponse Response(v1::EvaluationState state,
                           const std::vector<std::pair<std::string, std::string>>& changed = {},
                           int64_t id = 3) {
  v1::WatchResponse response;
  response.mutable_evaluation()->set_id(id);
  response.mutable_evaluation()->set_matrix("demo");
  response.mutable_evaluation()->set_state(state);
  for (const auto& [variant, variant_state] : changed) {
    auto& status = *response.add_changed();
    status.set_id(variant);
    status.set_state(variant_state);
    ++(*response.mutable_totals())[variant_state];
  }
  return response;
}

class WatchTest : public ::testing::Test {
 protected:
  absl::StatusOr<v1::WatchResponse> Watch(bool reached = false) {
    v1::WatchRequest request;
    request.set_matrix("demo");
    return WatchToEnd(session, request,
                      {.reached = reached,
                       .on_response = [&](const v1::WatchResponse& r) { told.push_back(r); },
                       .on_outage = [&](const absl::Status&, int failures) { outages.push_back(failures); }});
  }
  ManualClock clock;
  TestConsole console;
  std::unique_ptr<ScriptedClient> owned = std::make_unique<ScriptedClient>();
  ScriptedClient* client = owned.get();
  Session session{
      {.connect = [this]() -> absl::StatusOr<std::unique_ptr<Client>> { return std::move(owned); },
       .console = &console,
       .clock = &clock,
       .pause =
           [this](absl::Duration d) {
             clock.now += d;
             return true;
           }}};
  std::vector<v1::WatchResponse> told;
  std::vector<int> outages;
};

constexpr auto kEvaluated = v1::EVALUATION_STATE_EVALUATED;
constexpr auto kSettled = v1::EVALUATION_STATE_SETTLED;

TEST_F(WatchTest, ItEndsWithTheEvaluation) {
  client->watches = {{{Response(kEvaluated), Response(kSettled)}, absl::OkStatus()}};
  const auto end = Watch();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->evaluation().state(), kSettled);
  EXPECT_THAT(told, SizeIs(2));
}

TEST_F(WatchTest, ARestartOfHydrantdIsWaitedForAndTheSameEvaluationFollowed) {
  client->watches = {{{Response(kEvaluated)}, absl::UnavailableError("gone")},
                     {{}, absl::UnavailableError("not there yet")},
                     {{Response(kSettled)}, absl::OkStatus()}};
  EXPECT_TRUE(Watch().ok());
  EXPECT_THAT(outages, ElementsAre(1, 2));
  EXPECT_THAT(client->asked, ElementsAre("matrix: \"demo\"", "matrix: \"demo\" evaluation: 3",
                                         "matrix: \"demo\" evaluation: 3"));
}

TEST_F(WatchTest, AfterARestartNothingIsToldTwice) {
  client->watches = {
      {{Response(kEvaluated, {{"a", "cached"}, {"b", "building"}})}, absl::UnavailableError("gone")},
      {{Response(kSettled, {{"a", "cached"}, {"b", "failed"}})}, absl::OkStatus()}};
  ASSERT_TRUE(Watch().ok());
  ASSERT_THAT(told, SizeIs(2));
  ASSERT_EQ(told[1].changed_size(), 1);
  EXPECT_EQ(told[1].changed(0).id(), "b");
}

TEST_F(WatchTest, AServerThatWasNeverReachedIsNotWaitedFor) {
  EXPECT_EQ(Watch().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(clock.now, absl::UnixEpoch());
}

TEST_F(WatchTest, AServerThatStaysAwayIsGivenUpAfterTenMinutes) {
  EXPECT_EQ(Watch(/*reached=*/true).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(clock.now, absl::UnixEpoch() + absl::Minutes(10));
}

TEST_F(WatchTest, AnotherErrorEndsIt) {
  client->watches = {{{Response(kEvaluated)}, absl::NotFoundError("no evaluation 3")}};
  EXPECT_EQ(Watch().status(), absl::NotFoundError("no evaluation 3"));
}

TEST_F(WatchTest, AStreamThatEndsBeforeTheEvaluationIsOpenedAgain) {
  client->watches = {{{Response(kEvaluated)}, absl::OkStatus()}, {{Response(kSettled)}, absl::OkStatus()}};
  EXPECT_TRUE(Watch().ok());
}

TEST_F(WatchTest, AFollowedLogGoesOnWhereItBroke) {
  client->logs = {{{{0, "one\n"}}, absl::UnavailableError("gone")}, {{{4, "two\n"}}, absl::OkStatus()}};
  ASSERT_TRUE(ShowLog({.address = "a@x", .follow = true}, session).ok());
  EXPECT_EQ(console.out, "one\ntwo\n");
  EXPECT_THAT(client->asked,
              ElementsAre("address: \"a@x\" follow: true", "address: \"a7\" follow: true offset: 4"));
}

TEST_F(WatchTest, ALogInJsonIsOneDocumentHoweverItCame) {
  client->logs = {{{{0, "one\n"}, {4, "\xff\n"}}, absl::OkStatus()}};
  Session json({.connect = [this]() -> absl::StatusOr<std::unique_ptr<Client>> { return std::move(owned); },
                .console = &console,
                .clock = &clock,
                .form = OutputForm::kJson});
  ASSERT_TRUE(ShowLog({.address = "a7"}, json).ok());
  EXPECT_THAT(console.out, testing::AllOf(testing::HasSubstr("\"attempt\": 7"), testing::HasSubstr("one\\n")));
}

TEST_F(WatchTest, OnATerminalALogHasOnlyColours) {
  console.screen.terminal = true;
  client->logs = {{{{0, "\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2J\n"}}, absl::OkStatus()}};
  ASSERT_TRUE(ShowLog({.address = "a7"}, session).ok());
  EXPECT_EQ(console.out, "\x1b[31mred\x1b[0m\n");
}

TEST_F(WatchTest, PlainProgressIsALineAStateAndAtMostOneEveryFewSeconds) {
  Progress progress(console, clock);
  progress.Show(Response(kEvaluated, {{"a", "building"}}));
  progress.Show(Response(kEvaluated, {{"a", "testing"}}));
  clock.now += kProgressInterval;
  progress.Show(Response(kEvaluated, {{"a", "cached"}}));
  progress.Show(Response(kSettled, {{"a", "cached"}}));
  EXPECT_EQ(console.err,
            "demo #3 evaluated: 0 of 1 done: 1 building\n"
            "demo #3 evaluated: 1 of 1 done: 1 cached\n"
            "demo #3 settled: 1 of 1 done: 1 cached\n");
}

TEST_F(WatchTest, OnATerminalProgressIsOneLineThatGoesAtTheEnd) {
  console.screen = {.terminal = true, .width = 24};
  {
    Progress progress(console, clock);
    progress.Show(Response(kEvaluated, {{"a", "building"}}));
    progress.Show(Response(kSettled));
  }
  EXPECT_EQ(console.err, "\r\x1b[Kdemo #3 evaluated: 0 o…\r\x1b[Kdemo #3 settled\r\x1b[K");
}

TEST_F(WatchTest, ProgressNamesWhatRuns) {
  v1::WatchResponse response = Response(kEvaluated, {{"a", "building"}});
  auto& running = *response.add_running();
  running.set_worker("w1");
  running.set_what("a-1.0");
  running.set_stage(v1::ATTEMPT_STAGE_BUILDING);
  EXPECT_EQ(ProgressText(response), "demo #3 evaluated: 0 of 1 done: 1 building; w1 building a-1.0");
}

}  // namespace
}  // namespace hydrant::client
