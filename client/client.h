// What a farm is to the verbs: the FarmService without its transport. Knows no gRPC.
#ifndef HYDRANT_CLIENT_CLIENT_H_
#define HYDRANT_CLIENT_CLIENT_H_

#include <hydrant/v1/farm_service.pb.h>

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hydrant::client {

// Errors are those of farm_service.proto; Unavailable also when the server cannot be reached or the
// connection broke. One thread.
class Client {
 public:
  virtual ~Client() = default;
  virtual absl::StatusOr<v1::GetFarmResponse> GetFarm(const v1::GetFarmRequest& request) = 0;
  virtual absl::StatusOr<v1::ApplyMatrixResponse> ApplyMatrix(const v1::ApplyMatrixRequest& request) = 0;
  virtual absl::StatusOr<v1::ListMatricesResponse> ListMatrices(const v1::ListMatricesRequest& request) = 0;
  virtual absl::StatusOr<v1::PlanResponse> Plan(const v1::PlanRequest& request) = 0;
  virtual absl::StatusOr<v1::TriggerResponse> Trigger(const v1::TriggerRequest& request) = 0;
  virtual absl::StatusOr<v1::ListEvaluationsResponse> ListEvaluations(
      const v1::ListEvaluationsRequest& request) = 0;
  virtual absl::StatusOr<v1::GetStatusResponse> GetStatus(const v1::GetStatusRequest& request) = 0;
  virtual absl::StatusOr<v1::CompareEvaluationsResponse> CompareEvaluations(
      const v1::CompareEvaluationsRequest& request) = 0;
  virtual absl::StatusOr<v1::ExplainResponse> Explain(const v1::ExplainRequest& request) = 0;
  virtual absl::StatusOr<v1::CancelResponse> Cancel(const v1::CancelRequest& request) = 0;
  virtual absl::StatusOr<v1::RetryResponse> Retry(const v1::RetryRequest& request) = 0;
  virtual absl::StatusOr<v1::ListWorkersResponse> ListWorkers(const v1::ListWorkersRequest& request) = 0;
  virtual absl::StatusOr<v1::DrainWorkerResponse> DrainWorker(const v1::DrainWorkerRequest& request) = 0;
  virtual absl::StatusOr<v1::ListChannelsResponse> ListChannels(const v1::ListChannelsRequest& request) = 0;
  // Each response goes to `take` as it comes; returns how the stream ended.
  virtual absl::Status Watch(const v1::WatchRequest& request,
                             const std::function<void(const v1::WatchResponse&)>& take) = 0;
  virtual absl::Status ReadLog(const v1::ReadLogRequest& request,
                               const std::function<void(const v1::ReadLogResponse&)>& take) = 0;
};

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_CLIENT_H_
