#include "daemon/serve/worker_service.h"

#include <algorithm>
#include <utility>

#include "daemon/serve/messages.h"
#include "lib/base/status_macros.h"
#include "lib/rpc/status.h"

namespace hydrant {
namespace {

constexpr absl::Duration kLongestHold = absl::Seconds(10);
constexpr size_t kLargestChunk = 256 << 10;
// Above what a matrix may ask for; the matrix's own bound is the worker's to keep.
constexpr int64_t kLongestLog = int64_t{4} << 30;

bool HasNews(const SyncReply& reply) { return !reply.assignments.empty() || !reply.revoked.empty(); }

}  // namespace

WorkerService::WorkerService(Options options) : options_(std::move(options)), thread_([this] { HoldLoop(); }) {}

WorkerService::~WorkerService() {
  Stop();
  thread_.join();
}

void WorkerService::Stop() { stop_ = true; }

void WorkerService::Fill(const SyncReply& reply, v1::SynchronizeResponse* response) const {
  for (const Assignment& assignment : reply.assignments) {
    *response->add_assignments() = ToMessage(assignment, options_.lease);
  }
  for (AttemptId attempt : reply.revoked) response->add_revoked(attempt.value);
  response->set_draining(reply.draining);
  *response->mutable_farm() = options_.farm;
}

grpc::ServerUnaryReactor* WorkerService::Synchronize(grpc::CallbackServerContext* context,
                                                     const v1::SynchronizeRequest* request,
                                                     v1::SynchronizeResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::StatusOr<Identity> identity = options_.gate.Admit(*context, Role::kWorker);
  if (!identity.ok()) {
    reactor->Finish(rpc::ToGrpc(identity.status()));
    return reactor;
  }
  const bool posted = options_.gate.executor().Post([this, reactor, request, response] {
    Held call{.reactor = reactor, .request = FromMessage(*request), .response = response,
              .until = absl::Now() + std::min(absl::Milliseconds(request->hold_ms()), kLongestHold)};
    absl::StatusOr<SyncReply> reply = options_.coordinator.Synchronize(call.request);
    if (!reply.ok()) return reactor->Finish(rpc::ToGrpc(reply.status()));
    if (HasNews(*reply) || request->hold_ms() <= 0 || stop_) {
      Fill(*reply, response);
      return reactor->Finish(grpc::Status::OK);
    }
    MutexLock lock(mu_);
    held_.push_back(std::move(call));
  });
  if (!posted) reactor->Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "too many calls at once; try again"));
  return reactor;
}

void WorkerService::HoldLoop() {
  uint64_t seen = 0;
  while (true) {
    seen = options_.coordinator.AwaitChange(seen, absl::Milliseconds(200));
    const bool stopping = stop_;
    std::vector<Held> waiting, done;
    {
      MutexLock lock(mu_);
      waiting = std::move(held_);
      held_.clear();
    }
    const absl::Time now = absl::Now();
    for (Held& call : waiting) {
      absl::StatusOr<SyncReply> reply = options_.coordinator.PendingFor(call.request);
      if (!reply.ok()) {
        call.reactor->Finish(rpc::ToGrpc(reply.status()));
      } else if (HasNews(*reply) || now >= call.until || stopping) {
        Fill(*reply, call.response);
        call.reactor->Finish(grpc::Status::OK);
      } else {
        MutexLock lock(mu_);
        held_.push_back(std::move(call));
      }
    }
    if (stopping) {
      MutexLock lock(mu_);
      if (held_.empty()) return;
    }
  }
}

grpc::ServerUnaryReactor* WorkerService::ReportAttempt(grpc::CallbackServerContext* context,
                                                       const v1::ReportAttemptRequest* request,
                                                       v1::ReportAttemptResponse*) {
  return options_.gate.Serve(context, Role::kWorker, [this, request]() -> absl::Status {
    const AttemptId attempt{request->attempt()};
    const LeaseToken token{request->token()};
    if (request->report_case() == v1::ReportAttemptRequest::kEnd) {
      HYDRANT_ASSIGN_OR_RETURN(ReportedEnd end, FromMessage(request->end()));
      return options_.coordinator.ReportEnd(attempt, token, end);
    }
    switch (request->stage()) {
      case v1::ATTEMPT_STAGE_FETCHING:
        return options_.coordinator.ReportStage(attempt, token, AttemptStage::kFetching);
      case v1::ATTEMPT_STAGE_BUILDING:
        return options_.coordinator.ReportStage(attempt, token, AttemptStage::kBuilding);
      case v1::ATTEMPT_STAGE_PUSHING:
        return options_.coordinator.ReportStage(attempt, token, AttemptStage::kPushing);
      default: return absl::InvalidArgumentError("report: expected a stage after LEASED, or an end");
    }
  });
}

grpc::ServerUnaryReactor* WorkerService::AppendLog(grpc::CallbackServerContext* context,
                                                   const v1::AppendLogRequest* request,
                                                   v1::AppendLogResponse* response) {
  return options_.gate.Serve(context, Role::kWorker, [this, request, response]() -> absl::Status {
    if (request->data().size() > kLargestChunk) return absl::InvalidArgumentError("data: at most 256 KiB at once");
    if (request->offset() < 0) return absl::InvalidArgumentError("offset: below 0");
    const AttemptId attempt{request->attempt()};
    HYDRANT_RETURN_IF_ERROR(options_.coordinator.CheckLease(attempt, {request->token()}));
    HYDRANT_ASSIGN_OR_RETURN(int64_t kept,
                             options_.log.Append(attempt, request->offset(), request->data(), kLongestLog));
    response->set_next_offset(kept);
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::DerivationFile>* WorkerService::GetDerivations(
    grpc::CallbackServerContext* context, const v1::GetDerivationsRequest* request) {
  auto* stream = new BlockingStream<v1::DerivationFile>();
  absl::Status admitted = options_.gate.Admit(*context, Role::kWorker).status();
  const bool started = admitted.ok() && options_.streams.Start([this, stream, request] {
    auto files = options_.coordinator.DerivationsOf({request->attempt()}, {request->token()},
                                                    {request->have().begin(), request->have().end()});
    if (!files.ok()) return stream->Finish(rpc::ToGrpc(files.status()));
    for (const DerivationFileView& file : *files) {
      v1::DerivationFile message;
      message.set_path(file.path);
      message.set_aterm(file.aterm);
      for (const std::string& reference : file.references) message.add_references(reference);
      if (!stream->Write(message)) break;
    }
    stream->Finish(grpc::Status::OK);
  });
  if (!started) {
    stream->Finish(rpc::ToGrpc(admitted.ok() ? absl::UnavailableError("too many streams at once; try again") : admitted));
  }
  return stream;
}

}  // namespace hydrant
