#include "worker/push/cache_access.h"

#include <gtest/gtest.h>

namespace hydrant::worker {
namespace {

const RetryPolicy kFast{.backoff = {.first = absl::Milliseconds(1), .most = absl::Milliseconds(2)}};

// Answers in turn, then 200.
struct Server {
  std::vector<absl::StatusOr<HttpReply>> answers;
  size_t asked = 0;
  absl::StatusOr<HttpReply> operator()() {
    const size_t i = asked++;
    if (i < answers.size()) return answers[i];
    return HttpReply{.code = 200};
  }
};

TEST(Retry, GoesOnAfterServerErrorsAndLostConnections) {
  Server server{{HttpReply{.code = 500}, absl::UnavailableError("reset"), HttpReply{.code = 503},
                 HttpReply{.code = 429}}};
  Cancellation cancellation;
  EXPECT_EQ(Retry(kFast, cancellation, std::ref(server))->code, 200);
  EXPECT_EQ(server.asked, 5u);
}

TEST(Retry, TakesARefusalAtItsWord) {
  for (const int code : {400, 401, 403, 404, 409, 413, 422}) {
    Server server{{HttpReply{.code = code}}};
    Cancellation cancellation;
    EXPECT_EQ(Retry(kFast, cancellation, std::ref(server))->code, code);
    EXPECT_EQ(server.asked, 1u);
  }
}

TEST(Retry, GivesUpWithTheLastAnswer) {
  Server server{std::vector<absl::StatusOr<HttpReply>>(100000, HttpReply{.code = 502})};
  Cancellation cancellation;
  RetryPolicy policy = kFast;
  policy.give_up_after = absl::Milliseconds(20);
  EXPECT_EQ(Retry(policy, cancellation, std::ref(server))->code, 502);
}

TEST(Retry, DoesNotWaitLongerThanItMay) {
  Server server{{HttpReply{.code = 503, .retry_after = absl::Hours(1)}}};
  Cancellation cancellation;
  EXPECT_EQ(Retry(kFast, cancellation, std::ref(server))->code, 503);
  EXPECT_EQ(server.asked, 1u);
}

TEST(Retry, EndsWhenCancelled) {
  Server server{{HttpReply{.code = 500}}};
  Cancellation cancellation;
  cancellation.Cancel();
  EXPECT_TRUE(absl::IsCancelled(Retry(kFast, cancellation, std::ref(server)).status()));
}

TEST(Describe, NamesAddressCodeAndText) {
  EXPECT_EQ(Describe("http://c/x", {.code = 409, .body = "contradicts\n"}),
            "http://c/x answered 409: contradicts");
  EXPECT_EQ(Describe("http://c/x", {.code = 500}), "http://c/x answered 500");
}

}  // namespace
}  // namespace hydrant::worker
