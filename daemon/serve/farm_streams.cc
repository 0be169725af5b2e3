// The calls of FarmService that stay open: watch and log.
#include <map>
#include <utility>

#include "daemon/serve/farm_service.h"
#include "daemon/serve/messages.h"
#include "lib/base/status_macros.h"
#include "lib/rpc/status.h"

namespace hydrant {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(200);  // at most five responses a second
constexpr size_t kChunk = 64 << 10;

}  // namespace

template <class Response>
grpc::ServerWriteReactor<Response>* FarmService::Stream(Context* context,
                                                        std::function<absl::Status(BlockingStream<Response>&)> body) {
  auto* stream = new BlockingStream<Response>();
  absl::Status admitted = options_.gate.Admit(*context, Role::kReader).status();
  if (!admitted.ok()) {
    stream->Finish(rpc::ToGrpc(admitted));
  } else if (!options_.streams.Start([stream, body = std::move(body)] { stream->Finish(rpc::ToGrpc(body(*stream))); })) {
    stream->Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "too many streams at once; try again"));
  }
  return stream;
}

absl::Status FarmService::WatchTo(BlockingStream<v1::WatchResponse>& stream, const v1::WatchRequest& request) {
  std::map<std::string, std::string> sent;  // variant id -> its last serialised status
  EvaluationId id{request.evaluation()};
  while (!stream.cancelled()) {
    const uint64_t version = options_.coordinator.Version();
    HYDRANT_ASSIGN_OR_RETURN(GridView grid, options_.coordinator.Grid(request.matrix(), id, request.branch()));
    id = grid.evaluation.id;  // stays with the one that it began with
    v1::WatchResponse response;
    *response.mutable_evaluation() = ToMessage(grid.evaluation);
    for (const GridVariant& variant : grid.variants) {
      v1::VariantStatus status = ToMessage(variant);
      std::string bytes = status.SerializeAsString();
      std::string& before = sent[status.id()];
      if (before == bytes) continue;
      before = std::move(bytes);
      *response.add_changed() = std::move(status);
    }
    for (const auto& [state, count] : grid.totals) (*response.mutable_totals())[state] = count;
    for (const RunningView& running : grid.running) *response.add_running() = ToMessage(running);
    if (!stream.Write(response)) return absl::CancelledError("the watcher went");
    if (IsFinal(grid.evaluation.state)) return absl::OkStatus();
    if (options_.streams.stopping()) return absl::UnavailableError("hydrantd is being stopped");
    // What changes within the pause is told together.
    (void)options_.coordinator.AwaitChange(version, absl::Seconds(1));
    const absl::Time until = absl::Now() + kPause;
    uint64_t last = options_.coordinator.Version();
    while (absl::Now() < until && !stream.cancelled()) last = options_.coordinator.AwaitChange(last, until - absl::Now());
  }
  return absl::CancelledError("the watcher went");
}

absl::Status FarmService::ReadLogTo(BlockingStream<v1::ReadLogResponse>& stream, const v1::ReadLogRequest& request) {
  HYDRANT_ASSIGN_OR_RETURN(AttemptRecord attempt,
                           options_.coordinator.AttemptOf(request.address(), {request.evaluation()}, request.branch()));
  const AttemptId id = attempt.lease.attempt;
  int64_t offset = request.offset();
  uint64_t seen = 0;
  while (!stream.cancelled()) {
    const bool live = options_.coordinator.IsLive(id);
    HYDRANT_ASSIGN_OR_RETURN(std::string data, options_.log.Read(id, offset, kChunk));
    if (!data.empty() || (offset == request.offset() && !live)) {
      v1::ReadLogResponse response;
      response.set_attempt(id.value);
      response.set_offset(offset);
      response.set_data(data);
      if (!stream.Write(response)) break;
      offset += static_cast<int64_t>(data.size());
      if (!data.empty()) continue;
    }
    if (!request.follow() || !live) return absl::OkStatus();
    if (options_.streams.stopping()) return absl::UnavailableError("hydrantd is being stopped");
    seen = options_.coordinator.AwaitChange(seen, kPause);
  }
  return absl::CancelledError("the reader went");
}

grpc::ServerWriteReactor<v1::WatchResponse>* FarmService::Watch(Context* context, const v1::WatchRequest* request) {
  return Stream<v1::WatchResponse>(
      context, [this, request](BlockingStream<v1::WatchResponse>& stream) { return WatchTo(stream, *request); });
}

grpc::ServerWriteReactor<v1::ReadLogResponse>* FarmService::ReadLog(Context* context, const v1::ReadLogRequest* request) {
  return Stream<v1::ReadLogResponse>(
      context, [this, request](BlockingStream<v1::ReadLogResponse>& stream) { return ReadLogTo(stream, *request); });
}

}  // namespace hydrant
