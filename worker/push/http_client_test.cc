#include "worker/push/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/push/test_cache.h"

namespace hydrant::worker {
namespace {

using testing::HasSubstr;

class CountingSource final : public Source {
 public:
  explicit CountingSource(size_t size) : left_(size) {}
  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    ++reads;
    const size_t n = std::min(left_, buffer.size());
    std::fill_n(buffer.data(), n, 'x');
    left_ -= n;
    return n;
  }
  int reads = 0;

 private:
  size_t left_;
};

class HttpClientTest : public testing::Test {
 protected:
  TestCache cache_;
  HttpClient http_{{}};
  Cancellation cancellation_;
};

TEST_F(HttpClientTest, GetsWhatIsThereAndSaysWhatIsNot) {
  cache_.Put("/a", "bytes");
  const auto found = http_.Get({.url = cache_.url() + "/a"}, cancellation_);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->code, 200);
  EXPECT_EQ(found->body, "bytes");
  EXPECT_EQ(http_.Get({.url = cache_.url() + "/b"}, cancellation_)->code, 404);
  EXPECT_EQ(http_.Head({.url = cache_.url() + "/a"}, cancellation_)->code, 200);
}

TEST_F(HttpClientTest, PutsABodyWithItsLengthAndHeaders) {
  CountingSource body(3 << 20);
  const auto reply = http_.Put({.url = cache_.url() + "/nar/x", .headers = {"Hydrant-Attempt: 7"}},
                               {.source = &body, .size = 3 << 20}, cancellation_);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->code, 201);
  EXPECT_EQ(cache_.File("/staged/nar/x")->size(), 3u << 20);
  EXPECT_EQ(cache_.Last("PUT").headers["hydrant-attempt"], "7");
  EXPECT_EQ(cache_.Last("PUT").headers["expect"], "100-continue");
}

TEST_F(HttpClientTest, ASuccessBeforeTheBodySendsNothing) {
  cache_.Order({.method = "PUT", .part = "/nar/", .code = 201, .before_body = true});
  CountingSource body(3 << 20);
  const auto reply =
      http_.Put({.url = cache_.url() + "/nar/x"}, {.source = &body, .size = 3 << 20}, cancellation_);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->code, 201);
  EXPECT_EQ(body.reads, 0);
  // And the client is good for another.
  CountingSource again(10);
  EXPECT_EQ(http_.Put({.url = cache_.url() + "/nar/y"}, {.source = &again, .size = 10}, cancellation_)->code,
            201);
  EXPECT_EQ(cache_.File("/staged/nar/y"), std::string(10, 'x'));
}

TEST_F(HttpClientTest, ARefusalBeforeTheBodyKeepsItsText) {
  cache_.Order({.method = "PUT", .part = "/nar/", .code = 403, .before_body = true, .text = "token too old"});
  CountingSource body(3 << 20);
  const auto reply =
      http_.Put({.url = cache_.url() + "/nar/x"}, {.source = &body, .size = 3 << 20}, cancellation_);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->code, 403);
  EXPECT_EQ(reply->body, "token too old");
  EXPECT_EQ(body.reads, 0);
}

TEST_F(HttpClientTest, RetryAfterIsRead) {
  cache_.Order({.method = "GET", .part = "/a", .code = 503, .extra_header = "Retry-After: 7"});
  EXPECT_EQ(http_.Get({.url = cache_.url() + "/a"}, cancellation_)->retry_after, absl::Seconds(7));
}

TEST_F(HttpClientTest, AReplyCutShortIsNoReply) {
  cache_.Put("/a", std::string(1000, 'a'));
  cache_.Order({.method = "GET", .part = "/a", .truncate = true});
  StringSink sink;
  const auto reply = http_.GetInto({.url = cache_.url() + "/a"}, sink, cancellation_);
  EXPECT_TRUE(absl::IsUnavailable(reply.status())) << reply.status();
}

TEST_F(HttpClientTest, NobodyThereIsUnavailableAndNamed) {
  const auto reply = http_.Get({.url = "http://127.0.0.1:1/x"}, cancellation_);
  EXPECT_TRUE(absl::IsUnavailable(reply.status()));
  EXPECT_THAT(std::string(reply.status().message()), HasSubstr("http://127.0.0.1:1/x"));
}

TEST_F(HttpClientTest, ASinksErrorEndsTheCall) {
  class Full final : public Sink {
    absl::Status Write(std::string_view) override { return absl::ResourceExhaustedError("full"); }
  } sink;
  cache_.Put("/a", "bytes");
  EXPECT_EQ(http_.GetInto({.url = cache_.url() + "/a"}, sink, cancellation_).status(),
            absl::ResourceExhaustedError("full"));
}

TEST_F(HttpClientTest, CancelledDoesNotAsk) {
  cancellation_.Cancel();
  EXPECT_TRUE(absl::IsCancelled(http_.Get({.url = cache_.url() + "/a"}, cancellation_).status()));
}

}  // namespace
}  // namespace hydrant::worker
