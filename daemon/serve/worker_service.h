// WorkerService over gRPC: words in, coordinator call, words out. Held Synchronize calls wait here.
#ifndef HYDRANT_DAEMON_SERVE_WORKER_SERVICE_H_
#define HYDRANT_DAEMON_SERVE_WORKER_SERVICE_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "daemon/coordinator/attempt_log.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/serve/grpc_call.h"
#include "hydrant/v1/worker_service.grpc.pb.h"

namespace hydrant {

class WorkerService final : public v1::WorkerService::CallbackService {
 public:
  struct Options {
    Coordinator& coordinator;
    AttemptLog& log;
    CallGate& gate;
    StreamThreads& streams;
    v1::Farm farm;
    absl::Duration lease;
  };
  explicit WorkerService(Options options);
  ~WorkerService() override;
  // Ends held calls; later ones are refused.
  void Stop();

  grpc::ServerUnaryReactor* Synchronize(grpc::CallbackServerContext*, const v1::SynchronizeRequest*,
                                        v1::SynchronizeResponse*) override;
  grpc::ServerUnaryReactor* ReportAttempt(grpc::CallbackServerContext*, const v1::ReportAttemptRequest*,
                                          v1::ReportAttemptResponse*) override;
  grpc::ServerUnaryReactor* AppendLog(grpc::CallbackServerContext*, const v1::AppendLogRequest*,
                                      v1::AppendLogResponse*) override;
  grpc::ServerWriteReactor<v1::DerivationFile>* GetDerivations(grpc::CallbackServerContext*,
                                                               const v1::GetDerivationsRequest*) override;

 private:
  struct Held {
    grpc::ServerUnaryReactor* reactor;
    SyncRequest request;
    v1::SynchronizeResponse* response;
    absl::Time until;
  };
  void Fill(const SyncReply& reply, v1::SynchronizeResponse* response) const;
  // Answers held calls for which there is news or whose time is over.
  void HoldLoop();

  const Options options_;
  std::atomic<bool> stop_ = false;
  Mutex mu_;
  std::vector<Held> held_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_WORKER_SERVICE_H_
