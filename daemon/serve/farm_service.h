// FarmService over gRPC: words in, coordinator call, words out.
#ifndef HYDRANT_DAEMON_SERVE_FARM_SERVICE_H_
#define HYDRANT_DAEMON_SERVE_FARM_SERVICE_H_

#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "daemon/coordinator/attempt_log.h"
#include "daemon/coordinator/comparison.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/evaluation_run.h"
#include "daemon/serve/grpc_call.h"
#include "hydrant/v1/farm_service.grpc.pb.h"

namespace hydrant {

class FarmService final : public v1::FarmService::CallbackService {
 public:
  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;
  struct Options {
    Coordinator& coordinator;
    EvaluationRun& run;
    Comparison& comparison;
    AttemptLog& log;
    CallGate& gate;
    StreamThreads& streams;
    v1::GetFarmResponse farm;
    std::vector<std::string> source_roots;  // folders that a matrix's path must lie under
    std::vector<std::string> allowed_uris;  // prefixes of addresses that a matrix may ask for
    std::string system;                     // stands in for an undeclared axis
  };
  explicit FarmService(Options options) : options_(std::move(options)) {}

  Unary* GetFarm(Context*, const v1::GetFarmRequest*, v1::GetFarmResponse*) override;
  Unary* ApplyMatrix(Context*, const v1::ApplyMatrixRequest*, v1::ApplyMatrixResponse*) override;
  Unary* ListMatrices(Context*, const v1::ListMatricesRequest*, v1::ListMatricesResponse*) override;
  Unary* Plan(Context*, const v1::PlanRequest*, v1::PlanResponse*) override;
  Unary* Trigger(Context*, const v1::TriggerRequest*, v1::TriggerResponse*) override;
  Unary* ListEvaluations(Context*, const v1::ListEvaluationsRequest*, v1::ListEvaluationsResponse*) override;
  Unary* GetStatus(Context*, const v1::GetStatusRequest*, v1::GetStatusResponse*) override;
  grpc::ServerWriteReactor<v1::WatchResponse>* Watch(Context*, const v1::WatchRequest*) override;
  grpc::ServerWriteReactor<v1::ReadLogResponse>* ReadLog(Context*, const v1::ReadLogRequest*) override;
  Unary* CompareEvaluations(Context*, const v1::CompareEvaluationsRequest*,
                            v1::CompareEvaluationsResponse*) override;
  Unary* Explain(Context*, const v1::ExplainRequest*, v1::ExplainResponse*) override;
  Unary* Cancel(Context*, const v1::CancelRequest*, v1::CancelResponse*) override;
  Unary* Retry(Context*, const v1::RetryRequest*, v1::RetryResponse*) override;
  Unary* ListWorkers(Context*, const v1::ListWorkersRequest*, v1::ListWorkersResponse*) override;
  Unary* DrainWorker(Context*, const v1::DrainWorkerRequest*, v1::DrainWorkerResponse*) override;
  Unary* ListChannels(Context*, const v1::ListChannelsRequest*, v1::ListChannelsResponse*) override;

 private:
  // PermissionDenied unless the text's path lies under a root of ours (without roots: an operator on loopback).
  absl::Status MayRead(const v1::MatrixText& text, const Identity& identity, bool loopback) const;
  absl::Status WatchTo(BlockingStream<v1::WatchResponse>& stream, const v1::WatchRequest& request);
  absl::Status ReadLogTo(BlockingStream<v1::ReadLogResponse>& stream, const v1::ReadLogRequest& request);
  absl::Status PlanTo(const v1::PlanRequest& request, v1::PlanResponse* response, const std::atomic<bool>& cancelled);
  template <class Response>
  grpc::ServerWriteReactor<Response>* Stream(Context* context, std::function<absl::Status(BlockingStream<Response>&)> body);

  const Options options_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_FARM_SERVICE_H_
