// For tests: a FarmService that answers with what it was given and keeps what it was asked.
#ifndef HYDRANT_CLIENT_FAKE_FARM_H_
#define HYDRANT_CLIENT_FAKE_FARM_H_

#include <grpcpp/grpcpp.h>
#include <hydrant/v1/farm_service.grpc.pb.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/test_messages.h"
#include "lib/rpc/channel.h"

namespace hydrant::client {

// Its members are set before a call and read after it: the program under test has ended by then.
class FakeFarm final : public v1::FarmService::Service {
 public:
  FakeFarm() {
    grpc::ServerBuilder builder;
    EXPECT_TRUE(rpc::AddListener(builder, "127.0.0.1:0", {}, &port_).ok());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeFarm() override { server_->Shutdown(); }
  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

  grpc::Status error = grpc::Status::OK;  // of every call
  v1::GetFarmResponse farm;
  v1::ApplyMatrixResponse applied;
  v1::ListMatricesResponse matrices;
  v1::PlanResponse plan;
  v1::Evaluation evaluation;
  std::vector<v1::Evaluation> more;  // of the other branches
  v1::ListEvaluationsResponse evaluations;
  v1::GetStatusResponse status;
  v1::CompareEvaluationsResponse comparison;
  v1::ExplainResponse explanation;
  v1::CancelResponse cancelled;
  v1::RetryResponse retried;
  v1::ListWorkersResponse workers;
  v1::ListChannelsResponse channels;
  std::vector<v1::WatchResponse> watch;
  std::vector<std::string> log_chunks;

  std::vector<std::string> asked;  // "Trigger matrix: \"demo\"", one a call
  std::optional<std::string> token;

  using Context = grpc::ServerContext;
  grpc::Status GetFarm(Context* c, const v1::GetFarmRequest* q, v1::GetFarmResponse* r) override {
    return Answer("GetFarm", c, *q, farm, r);
  }
  grpc::Status ApplyMatrix(Context* c, const v1::ApplyMatrixRequest* q, v1::ApplyMatrixResponse* r) override {
    return Answer("ApplyMatrix", c, *q, applied, r);
  }
  grpc::Status ListMatrices(Context* c, const v1::ListMatricesRequest* q,
                            v1::ListMatricesResponse* r) override {
    return Answer("ListMatrices", c, *q, matrices, r);
  }
  grpc::Status Plan(Context* c, const v1::PlanRequest* q, v1::PlanResponse* r) override {
    return Answer("Plan", c, *q, plan, r);
  }
  grpc::Status Trigger(Context* c, const v1::TriggerRequest* q, v1::TriggerResponse* r) override {
    *r->mutable_evaluation() = evaluation;
    for (const v1::Evaluation& other : more) *r->add_more() = other;
    return Note("Trigger", c, *q);
  }
  grpc::Status ListEvaluations(Context* c, const v1::ListEvaluationsRequest* q,
                               v1::ListEvaluationsResponse* r) override {
    return Answer("ListEvaluations", c, *q, evaluations, r);
  }
  grpc::Status GetStatus(Context* c, const v1::GetStatusRequest* q, v1::GetStatusResponse* r) override {
    return Answer("GetStatus", c, *q, status, r);
  }
  grpc::Status CompareEvaluations(Context* c, const v1::CompareEvaluationsRequest* q,
                                  v1::CompareEvaluationsResponse* r) override {
    return Answer("CompareEvaluations", c, *q, comparison, r);
  }
  grpc::Status Explain(Context* c, const v1::ExplainRequest* q, v1::ExplainResponse* r) override {
    return Answer("Explain", c, *q, explanation, r);
  }
  grpc::Status Cancel(Context* c, const v1::CancelRequest* q, v1::CancelResponse* r) override {
    return Answer("Cancel", c, *q, cancelled, r);
  }
  grpc::Status Retry(Context* c, const v1::RetryRequest* q, v1::RetryResponse* r) override {
    return Answer("Retry", c, *q, retried, r);
  }
  grpc::Status ListWorkers(Context* c, const v1::ListWorkersRequest* q, v1::ListWorkersResponse* r) override {
    return Answer("ListWorkers", c, *q, workers, r);
  }
  grpc::Status DrainWorker(Context* c, const v1::DrainWorkerRequest* q, v1::DrainWorkerResponse* r) override {
    if (workers.workers_size() > 0) *r->mutable_worker() = workers.workers(0);
    return Note("DrainWorker", c, *q);
  }
  grpc::Status ListChannels(Context* c, const v1::ListChannelsRequest* q,
                            v1::ListChannelsResponse* r) override {
    return Answer("ListChannels", c, *q, channels, r);
  }
  grpc::Status Watch(Context* c, const v1::WatchRequest* q,
                     grpc::ServerWriter<v1::WatchResponse>* writer) override {
    for (const auto& response : watch) {
      if (q->evaluation() == 0 || q->evaluation() == response.evaluation().id()) writer->Write(response);
    }
    return Note("Watch", c, *q);
  }
  grpc::Status ReadLog(Context* c, const v1::ReadLogRequest* q,
                       grpc::ServerWriter<v1::ReadLogResponse>* writer) override {
    v1::ReadLogResponse response;
    response.set_attempt(7);
    for (const std::string& chunk : log_chunks) {
      response.set_offset(response.offset() + static_cast<int64_t>(response.data().size()));
      response.set_data(chunk);
      writer->Write(response);
    }
    return Note("ReadLog", c, *q);
  }

 private:
  template <typename Request>
  grpc::Status Note(const char* method, Context* context, const Request& request) {
    token = rpc::BearerToken(*context);
    const std::string fields = request.ShortDebugString();
    asked.push_back(absl::StrCat(method, fields.empty() ? "" : " ", fields));
    return error;
  }
  template <typename Request, typename Response>
  grpc::Status Answer(const char* method, Context* context, const Request& request, const Response& answer,
                      Response* response) {
    *response = answer;
    return Note(method, context, request);
  }

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FAKE_FARM_H_
