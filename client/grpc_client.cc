#include "client/grpc_client.h"

#include <hydrant/v1/farm_service.grpc.pb.h>

#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/rpc/channel.h"
#include "lib/rpc/status.h"

namespace hydrant::client {
namespace {

using Stub = v1::FarmService::StubInterface;

// Whatever hydrantd does within it, but for a plan and the streams, which take as long as their work.
constexpr std::chrono::seconds kAnswer{120};

class GrpcClient final : public Client {
 public:
  GrpcClient(ServerSettings settings, std::shared_ptr<grpc::Channel> channel)
      : settings_(std::move(settings)),
        channel_(std::move(channel)),
        stub_(v1::FarmService::NewStub(channel_)) {}

  absl::StatusOr<v1::GetFarmResponse> GetFarm(const v1::GetFarmRequest& request) override {
    return Call(&Stub::GetFarm, request);
  }
  absl::StatusOr<v1::ApplyMatrixResponse> ApplyMatrix(const v1::ApplyMatrixRequest& request) override {
    return Call(&Stub::ApplyMatrix, request);
  }
  absl::StatusOr<v1::ListMatricesResponse> ListMatrices(const v1::ListMatricesRequest& request) override {
    return Call(&Stub::ListMatrices, request);
  }
  absl::StatusOr<v1::PlanResponse> Plan(const v1::PlanRequest& request) override {
    return Call(&Stub::Plan, request, /*bounded=*/false);
  }
  absl::StatusOr<v1::TriggerResponse> Trigger(const v1::TriggerRequest& request) override {
    return Call(&Stub::Trigger, request);
  }
  absl::StatusOr<v1::ListEvaluationsResponse> ListEvaluations(
      const v1::ListEvaluationsRequest& request) override {
    return Call(&Stub::ListEvaluations, request);
  }
  absl::StatusOr<v1::GetStatusResponse> GetStatus(const v1::GetStatusRequest& request) override {
    return Call(&Stub::GetStatus, request);
  }
  absl::StatusOr<v1::CompareEvaluationsResponse> CompareEvaluations(
      const v1::CompareEvaluationsRequest& request) override {
    return Call(&Stub::CompareEvaluations, request);
  }
  absl::StatusOr<v1::ExplainResponse> Explain(const v1::ExplainRequest& request) override {
    return Call(&Stub::Explain, request);
  }
  absl::StatusOr<v1::CancelResponse> Cancel(const v1::CancelRequest& request) override {
    return Call(&Stub::Cancel, request);
  }
  absl::StatusOr<v1::RetryResponse> Retry(const v1::RetryRequest& request) override {
    return Call(&Stub::Retry, request);
  }
  absl::StatusOr<v1::ListWorkersResponse> ListWorkers(const v1::ListWorkersRequest& request) override {
    return Call(&Stub::ListWorkers, request);
  }
  absl::StatusOr<v1::DrainWorkerResponse> DrainWorker(const v1::DrainWorkerRequest& request) override {
    return Call(&Stub::DrainWorker, request);
  }
  absl::StatusOr<v1::ListChannelsResponse> ListChannels(const v1::ListChannelsRequest& request) override {
    return Call(&Stub::ListChannels, request);
  }
  absl::Status Watch(const v1::WatchRequest& request,
                     const std::function<void(const v1::WatchResponse&)>& take) override {
    grpc::ClientContext context;
    rpc::Authorise(context, settings_.token);
    return Drain<v1::WatchResponse>(stub_->Watch(&context, request), take);
  }
  absl::Status ReadLog(const v1::ReadLogRequest& request,
                       const std::function<void(const v1::ReadLogResponse&)>& take) override {
    grpc::ClientContext context;
    rpc::Authorise(context, settings_.token);
    return Drain<v1::ReadLogResponse>(stub_->ReadLog(&context, request), take);
  }

 private:
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request, bool bounded = true) {
    grpc::ClientContext context;
    rpc::Authorise(context, settings_.token);
    if (bounded) context.set_deadline(std::chrono::system_clock::now() + kAnswer);
    Response response;
    HYDRANT_RETURN_IF_ERROR(Explained((*stub_.*method)(&context, request, &response)));
    return response;
  }

  template <typename Response, typename Reader>
  absl::Status Drain(Reader reader, const std::function<void(const Response&)>& take) {
    for (Response response; reader->Read(&response);) take(response);
    const grpc::Status status = reader->Finish();
    // We cancel nothing ourselves: a server that ends in the middle of a stream says so, or the transport
    // does.
    const bool broken = status.error_code() == grpc::StatusCode::CANCELLED ||
                        (status.error_code() == grpc::StatusCode::UNKNOWN &&
                         absl::StrContains(status.error_message(), "Stream removed"));
    return broken ? absl::UnavailableError(absl::StrCat("hydrantd at ", settings_.server, " ended the call"))
                  : Explained(status);
  }

  // An UNAVAILABLE of the transport names the address and what it tried.
  absl::Status Explained(const grpc::Status& status) {
    absl::Status ours = rpc::FromGrpc(status);
    const bool answered = channel_->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY;
    if (!absl::IsUnavailable(ours) || answered) return ours;
    constexpr std::string_view kDetail = "last error: UNKNOWN: ";
    std::string detail(ours.message());
    if (const size_t at = detail.find(kDetail); at != std::string::npos)
      detail = detail.substr(at + kDetail.size());
    return absl::UnavailableError(
        absl::StrCat("cannot reach hydrantd at ", settings_.server, ": ", detail,
                     " (the address comes from --server, HYDRANT_SERVER or the user's "
                     "config.toml, else it is ",
                     kDefaultServer, ")"));
  }

  const ServerSettings settings_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Stub> stub_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> MakeGrpcClient(const ServerSettings& settings) {
  HYDRANT_ASSIGN_OR_RETURN(
      auto channel,
      rpc::MakeChannel({.address = settings.server,
                        .tls = {.cert = settings.tls_cert, .key = settings.tls_key, .ca = settings.tls_ca}}));
  return std::make_unique<GrpcClient>(settings, std::move(channel));
}

}  // namespace hydrant::client
