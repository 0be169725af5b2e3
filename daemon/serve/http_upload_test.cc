#include "daemon/serve/http_upload.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

// What a receiver saw, and a gate that holds it back.
struct Seen {
  Mutex mu;
  CondVar changed;
  bool open ABSL_GUARDED_BY(mu) = true;
  bool writing ABSL_GUARDED_BY(mu) = false;
  bool destroyed ABSL_GUARDED_BY(mu) = false;
  std::string bytes ABSL_GUARDED_BY(mu);
  int suspended ABSL_GUARDED_BY(mu) = 0, resumed ABSL_GUARDED_BY(mu) = 0;

  void Open(bool value) {
    MutexLock lock(mu);
    open = value;
    changed.NotifyAll();
  }
  void AwaitResumed(int count) {
    MutexLock lock(mu);
    while (resumed < count) changed.Wait(mu);
  }
  void AwaitWriting() {
    MutexLock lock(mu);
    while (!writing) changed.Wait(mu);
  }
  void AwaitDestroyed() {
    MutexLock lock(mu);
    while (!destroyed) changed.Wait(mu);
  }
};

class Recorder final : public BodyReceiver {
 public:
  explicit Recorder(Seen& seen) : seen_(seen) {}
  ~Recorder() override {
    MutexLock lock(seen_.mu);
    seen_.destroyed = true;
    seen_.changed.NotifyAll();
  }
  void Write(std::string_view bytes) override {
    MutexLock lock(seen_.mu);
    seen_.writing = true;
    seen_.changed.NotifyAll();
    while (!seen_.open) seen_.changed.Wait(seen_.mu);
    seen_.bytes += bytes;
  }
  HttpResponse Finish() override { return TextResponse(201, "done"); }

 private:
  Seen& seen_;
};

class UploadStreamTest : public testing::Test {
 protected:
  std::shared_ptr<UploadStream> Start() {
    return std::make_shared<UploadStream>(
        pool_, std::make_unique<Recorder>(seen_),
        [this] {
          MutexLock lock(seen_.mu);
          ++seen_.suspended;
        },
        [this] {
          MutexLock lock(seen_.mu);
          ++seen_.resumed;
          seen_.changed.NotifyAll();
        });
  }
  int suspended() {
    MutexLock lock(seen_.mu);
    return seen_.suspended;
  }
  Seen seen_;
  UploadPool pool_{2};
};

TEST_F(UploadStreamTest, BytesArriveInOrderAndTheAnswerComesBack) {
  auto stream = Start();
  std::string sent;
  for (int i = 0; i < 1000; ++i) {
    const std::string part = std::to_string(i) + ",";
    ASSERT_EQ(stream->Feed(part), part.size());
    sent += part;
  }
  ASSERT_FALSE(stream->End().has_value());
  seen_.AwaitResumed(1);
  EXPECT_EQ(stream->End()->status, 201);
  MutexLock lock(seen_.mu);
  EXPECT_EQ(seen_.bytes, sent);
}

TEST_F(UploadStreamTest, ASlowReceiverHoldsTheConnectionBackAndMemoryIsBounded) {
  seen_.Open(false);
  auto stream = Start();
  const std::string much(2 * UploadStream::kRing, 'x');
  const size_t taken = stream->Feed(much);
  EXPECT_EQ(taken, UploadStream::kRing);
  EXPECT_EQ(suspended(), 1);
  seen_.Open(true);
  seen_.AwaitResumed(1);
  EXPECT_GT(stream->Feed(much.substr(taken)), 0u);
}

TEST_F(UploadStreamTest, ACancelledUploadDestroysItsReceiverWithoutFinish) {
  auto stream = Start();
  stream->Feed("half");
  stream->Cancel();
  seen_.AwaitDestroyed();
  EXPECT_TRUE(stream->cancelled());
  EXPECT_FALSE(stream->End().has_value());
  EXPECT_EQ(suspended(), 0);
}

TEST_F(UploadStreamTest, CancellingWhileTheReceiverWorksWaitsForNobody) {
  seen_.Open(false);
  auto stream = Start();
  stream->Feed("half");
  seen_.AwaitWriting();
  ASSERT_FALSE(stream->End().has_value());
  stream->Cancel();
  seen_.AwaitResumed(1);
  seen_.Open(true);
  seen_.AwaitDestroyed();
}

TEST_F(UploadStreamTest, UploadsShareThePool) {
  std::vector<std::shared_ptr<UploadStream>> streams;
  for (int i = 0; i < 20; ++i) streams.push_back(Start());
  for (auto& stream : streams) stream->Feed("x");
  for (auto& stream : streams) stream->End();
  seen_.AwaitResumed(20);
  for (auto& stream : streams) EXPECT_EQ(stream->End()->status, 201);
}

}  // namespace
}  // namespace hydrant
