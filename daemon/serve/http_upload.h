// A body on its way from a connection to its receiver: a bounded ring between the connection's thread, which
// never waits, and a pool of threads that may. Knows no HTTP and no library.
#ifndef HYDRANT_DAEMON_SERVE_HTTP_UPLOAD_H_
#define HYDRANT_DAEMON_SERVE_HTTP_UPLOAD_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "daemon/serve/http_message.h"
#include "lib/base/mutex.h"

namespace hydrant {

class UploadStream;

// The threads that run receivers. An upload is run by one of them at a time, and gives way to the others
// after 4 MiB.
class UploadPool {
 public:
  explicit UploadPool(int threads);
  ~UploadPool();  // Stop
  void Schedule(std::shared_ptr<UploadStream> stream);
  // Drops what is scheduled and returns when no receiver runs any more.
  void Stop();

 private:
  void Work();
  Mutex mu_;
  CondVar changed_;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<std::shared_ptr<UploadStream>> ready_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;
};

class UploadStream : public std::enable_shared_from_this<UploadStream> {
 public:
  static constexpr size_t kRing = 512 << 10;  // bytes held between the two threads

  // `suspend` is called by the connection's thread when it has to wait, `resume` once for each of those, by
  // the pool.
  UploadStream(UploadPool& pool, std::unique_ptr<BodyReceiver> receiver, std::function<void()> suspend,
               std::function<void()> resume)
      : pool_(pool),
        suspend_(std::move(suspend)),
        resume_(std::move(resume)),
        receiver_(std::move(receiver)) {}

  // How many of `bytes` were taken; suspended when not all.
  size_t Feed(std::string_view bytes);
  // After the last byte: the response, or nullopt and suspended until it is there.
  std::optional<HttpResponse> End();
  // The connection is gone or must go: the receiver is destroyed without Finish. Resumes a suspended
  // connection.
  void Cancel();
  bool cancelled() const;

  // For the pool: runs the receiver until there is nothing to do (false) or others are due (true).
  bool Run();

 private:
  static constexpr size_t kTurn = 4 << 20;

  void ScheduleLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  UploadPool& pool_;
  const std::function<void()> suspend_, resume_;
  mutable Mutex mu_;
  std::unique_ptr<BodyReceiver> receiver_;  // of the running thread; else guarded by mu_
  std::deque<std::string> blocks_ ABSL_GUARDED_BY(mu_);
  size_t held_ ABSL_GUARDED_BY(mu_) = 0;       // bytes in blocks_ and in the block that is being written
  bool running_ ABSL_GUARDED_BY(mu_) = false;  // scheduled, or in Run
  bool waiting_ ABSL_GUARDED_BY(mu_) = false;  // the connection is suspended
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<HttpResponse> response_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_HTTP_UPLOAD_H_
