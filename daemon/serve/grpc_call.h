// What every gRPC handler of ours does: who calls, may he, answer off gRPC's threads.
#ifndef HYDRANT_DAEMON_SERVE_GRPC_CALL_H_
#define HYDRANT_DAEMON_SERVE_GRPC_CALL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/serve/authenticator.h"
#include "daemon/serve/call_executor.h"
#include "lib/base/mutex.h"

namespace hydrant {

class CallGate {
 public:
  // `ready`: not OK while calls cannot be answered yet, and why.
  CallGate(Authenticator& authenticator, CallExecutor& executor, std::function<absl::Status()> ready)
      : authenticator_(authenticator), executor_(executor), ready_(std::move(ready)) {}

  // UNAUTHENTICATED or PERMISSION_DENIED when the caller lacks `needed`; UNAVAILABLE when we are not ready.
  absl::StatusOr<Identity> Admit(const grpc::ServerContextBase& context, Role needed);

  // Answers a unary call with `answer`, on a thread of the executor.
  grpc::ServerUnaryReactor* Serve(grpc::CallbackServerContext* context, Role needed, std::function<absl::Status()> answer);
  CallExecutor& executor() { return executor_; }

 private:
  Authenticator& authenticator_;
  CallExecutor& executor_;
  const std::function<absl::Status()> ready_;
};

// Threads of calls that stay open (watch, log, plan): one each, at most `most`. Ends them when destroyed.
class StreamThreads {
 public:
  explicit StreamThreads(int most) : most_(most) {}
  ~StreamThreads();
  // False when there are too many. `body` must return soon after `stopping()`.
  bool Start(std::function<void()> body);
  bool stopping() const { return stopping_; }
  void Stop() { stopping_ = true; }

 private:
  const int most_;
  std::atomic<bool> stopping_ = false;
  Mutex mu_;
  CondVar ended_;
  int running_ ABSL_GUARDED_BY(mu_) = 0;
};

// One server stream whose writer blocks: for bodies on a thread of StreamThreads. Deletes itself once done.
template <class Response>
class BlockingStream final : public grpc::ServerWriteReactor<Response> {
 public:
  // False when the client is gone.
  bool Write(const Response& response) {
    MutexLock lock(mu_);
    if (cancelled_) return false;
    writing_ = true;
    this->StartWrite(&response);
    while (writing_) written_.Wait(mu_);
    return ok_ && !cancelled_;
  }
  bool cancelled() {
    MutexLock lock(mu_);
    return cancelled_;
  }

 private:
  void OnWriteDone(bool ok) override {
    MutexLock lock(mu_);
    writing_ = false;
    ok_ = ok;
    written_.NotifyAll();
  }
  void OnCancel() override {
    MutexLock lock(mu_);
    cancelled_ = true;
  }
  void OnDone() override { delete this; }

  Mutex mu_;
  CondVar written_;
  bool writing_ ABSL_GUARDED_BY(mu_) = false, ok_ ABSL_GUARDED_BY(mu_) = true, cancelled_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_GRPC_CALL_H_
