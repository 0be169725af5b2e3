// The calls of WorkerService with a token and deadlines. Each may be repeated; none repeats itself. Any
// thread.
#ifndef HYDRANT_WORKER_LEASE_FARM_CLIENT_H_
#define HYDRANT_WORKER_LEASE_FARM_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hydrant/v1/worker_service.grpc.pb.h"
#include "lib/base/mutex.h"

namespace hydrant::worker {

class FarmClient {
 public:
  struct Options {
    std::string name;  // of the worker
    std::string token;
    absl::Duration call_timeout = absl::Seconds(10);  // beyond what a call may be held
  };
  FarmClient(std::shared_ptr<grpc::Channel> channel, Options options);

  const std::string& name() const { return options_.name; }

  absl::Status Synchronize(const v1::SynchronizeRequest& request, v1::SynchronizeResponse& response);
  // Ends a Synchronize in flight with Cancelled, or the next one.
  void WakeSynchronize();

  absl::Status Report(const v1::ReportAttemptRequest& request);
  // The new end of the kept log.
  absl::StatusOr<int64_t> AppendLog(const v1::AppendLogRequest& request);
  absl::StatusOr<std::vector<v1::DerivationFile>> GetDerivations(const v1::GetDerivationsRequest& request);

 private:
  void Prepare(grpc::ClientContext& context, absl::Duration held = absl::ZeroDuration()) const;

  const Options options_;
  const std::unique_ptr<v1::WorkerService::Stub> stub_;
  Mutex mu_;
  grpc::ClientContext* synchronizing_ ABSL_GUARDED_BY(mu_) = nullptr;
  bool wake_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_LEASE_FARM_CLIENT_H_
