#include "worker/lease/farm_client.h"

#include <utility>

#include "lib/base/status_macros.h"
#include "lib/rpc/channel.h"
#include "lib/rpc/status.h"

namespace hydrant::worker {

FarmClient::FarmClient(std::shared_ptr<grpc::Channel> channel, Options options)
    : options_(std::move(options)), stub_(v1::WorkerService::NewStub(std::move(channel))) {}

void FarmClient::Prepare(grpc::ClientContext& context, absl::Duration held) const {
  rpc::Authorise(context, options_.token);
  context.set_deadline(absl::ToChronoTime(absl::Now() + held + options_.call_timeout));
}

absl::Status FarmClient::Synchronize(const v1::SynchronizeRequest& request,
                                     v1::SynchronizeResponse& response) {
  grpc::ClientContext context;
  Prepare(context, absl::Milliseconds(request.hold_ms()));
  {
    MutexLock lock(mu_);
    if (std::exchange(wake_, false)) return absl::CancelledError("woken");
    synchronizing_ = &context;
  }
  const grpc::Status status = stub_->Synchronize(&context, request, &response);
  MutexLock lock(mu_);
  synchronizing_ = nullptr;
  wake_ = false;
  return rpc::FromGrpc(status);
}

void FarmClient::WakeSynchronize() {
  MutexLock lock(mu_);
  wake_ = true;
  if (synchronizing_ != nullptr) synchronizing_->TryCancel();
}

absl::Status FarmClient::Report(const v1::ReportAttemptRequest& request) {
  grpc::ClientContext context;
  Prepare(context);
  v1::ReportAttemptResponse response;
  return rpc::FromGrpc(stub_->ReportAttempt(&context, request, &response));
}

absl::StatusOr<int64_t> FarmClient::AppendLog(const v1::AppendLogRequest& request) {
  grpc::ClientContext context;
  Prepare(context);
  v1::AppendLogResponse response;
  HYDRANT_RETURN_IF_ERROR(rpc::FromGrpc(stub_->AppendLog(&context, request, &response)));
  return response.next_offset();
}

absl::StatusOr<std::vector<v1::DerivationFile>> FarmClient::GetDerivations(
    const v1::GetDerivationsRequest& request) {
  grpc::ClientContext context;
  Prepare(context, absl::Minutes(2));
  const auto reader = stub_->GetDerivations(&context, request);
  std::vector<v1::DerivationFile> files;
  v1::DerivationFile file;
  while (reader->Read(&file)) files.push_back(std::move(file));
  HYDRANT_RETURN_IF_ERROR(rpc::FromGrpc(reader->Finish()));
  return files;
}

}  // namespace hydrant::worker
