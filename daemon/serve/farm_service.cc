#include "daemon/serve/farm_service.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/serve/messages.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/git_address.h"
#include "lib/matrix/uri_prefixes.h"
#include "lib/rpc/channel.h"
#include "lib/rpc/status.h"

namespace hydrant {

FarmService::Unary* FarmService::GetFarm(Context* context, const v1::GetFarmRequest*, v1::GetFarmResponse* response) {
  return options_.gate.Serve(context, Role::kReader, [this, response] {
    *response = options_.farm;
    return absl::OkStatus();
  });
}

absl::Status FarmService::MayRead(const v1::MatrixText& text, const Identity& identity, bool loopback) const {
  HYDRANT_ASSIGN_OR_RETURN(std::shared_ptr<const Declared> declared, Declare(FromMessage(text), options_.system));
  const std::string refusal = UriRefusal(declared->matrix.nixpkgs.allowed_uris, options_.allowed_uris);
  if (!refusal.empty()) return absl::PermissionDeniedError(refusal);
  std::string path = declared->matrix.source.path;
  if (path.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(const GitAddress address, ParseGitAddress(declared->matrix.source.git));
    path = address.directory;
  }
  if (path.empty()) return absl::OkStatus();
  if (options_.source_roots.empty()) {
    if (loopback && identity.role == Role::kOperator) return absl::OkStatus();
    return absl::PermissionDeniedError("[source]: this daemon has no [source] roots, so only an operator on its "
                                       "own machine may name a folder");
  }
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  for (const std::string& root : options_.source_roots) {
    const std::filesystem::path folder = std::filesystem::weakly_canonical(root, error);
    if (std::mismatch(folder.begin(), folder.end(), real.begin(), real.end()).first == folder.end()) {
      return absl::OkStatus();
    }
  }
  return absl::PermissionDeniedError(absl::StrCat("[source]: ", path, " lies under none of [source] roots: ",
                                                  absl::StrJoin(options_.source_roots, ", ")));
}

FarmService::Unary* FarmService::ApplyMatrix(Context* context, const v1::ApplyMatrixRequest* request,
                                             v1::ApplyMatrixResponse* response) {
  auto identity = options_.gate.Admit(*context, Role::kOperator);
  const Identity caller = identity.ok() ? *identity : Identity{};
  const bool loopback = rpc::FromLoopback(*context);
  return options_.gate.Serve(context, Role::kOperator, [=, this]() -> absl::Status {
    HYDRANT_RETURN_IF_ERROR(MayRead(request->text(), caller, loopback));
    HYDRANT_ASSIGN_OR_RETURN(ApplyResult result, options_.coordinator.Apply(FromMessage(request->text()), false));
    response->set_name(result.name);
    response->set_variants(result.variants);
    response->set_replaced(result.replaced);
    return absl::OkStatus();
  });
}

FarmService::Unary* FarmService::ListMatrices(Context* context, const v1::ListMatricesRequest*,
                                              v1::ListMatricesResponse* response) {
  return options_.gate.Serve(context, Role::kReader, [this, response] {
    for (const MatrixView& matrix : options_.coordinator.Matrices()) *response->add_matrices() = ToMessage(matrix);
    return absl::OkStatus();
  });
}

absl::Status FarmService::PlanTo(const v1::PlanRequest& request, v1::PlanResponse* response,
                                 const std::atomic<bool>& cancelled) {
  HYDRANT_ASSIGN_OR_RETURN(std::shared_ptr<const Declared> declared,
                           Declare(FromMessage(request.text()), options_.system));
  const std::vector<std::string> add(request.add().begin(), request.add().end());
  std::shared_ptr<const Declared> extended;
  if (!add.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(extended, Extend(*declared, add, options_.system));
  }
  const SourcePoint asked{.branch = request.branch(), .revision = request.revision()};
  HYDRANT_ASSIGN_OR_RETURN(const PlanView plan, options_.run.Plan(*declared, asked, cancelled, extended.get()));
  *response = ToMessage(plan);
  if (extended != nullptr) *response->mutable_addition()->mutable_add() = request.add();
  return absl::OkStatus();
}

namespace {

// A long unary call that knows when its client went.
class PlanCall final : public grpc::ServerUnaryReactor {
 public:
  std::atomic<bool> cancelled = false;

 private:
  void OnCancel() override { cancelled = true; }
  void OnDone() override { delete this; }
};

}  // namespace

FarmService::Unary* FarmService::Plan(Context* context, const v1::PlanRequest* request, v1::PlanResponse* response) {
  auto* call = new PlanCall();
  absl::StatusOr<Identity> identity = options_.gate.Admit(*context, Role::kSubmitter);
  if (!identity.ok()) {
    call->Finish(rpc::ToGrpc(identity.status()));
    return call;
  }
  const Identity caller = *identity;
  const bool loopback = rpc::FromLoopback(*context);
  const bool started = options_.streams.Start([=, this] {
    absl::Status status = MayRead(request->text(), caller, loopback);
    if (status.ok()) status = PlanTo(*request, response, call->cancelled);
    call->Finish(rpc::ToGrpc(status));
  });
  if (!started) call->Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "too many calls at once; try again"));
  return call;
}

FarmService::Unary* FarmService::Trigger(Context* context, const v1::TriggerRequest* request,
                                         v1::TriggerResponse* response) {
  return options_.gate.Serve(context, Role::kSubmitter, [this, request, response]() -> absl::Status {
    HYDRANT_ASSIGN_OR_RETURN(
        const std::vector<EvaluationRecord> records,
        options_.coordinator.Trigger({.matrix = request->matrix(), .only = request->only(), .priority = request->priority(),
                                      .point = {.branch = request->branch(), .revision = request->revision()}}));
    *response->mutable_evaluation() = ToMessage(records.front());
    for (size_t i = 1; i < records.size(); ++i) *response->add_more() = ToMessage(records[i]);
    return absl::OkStatus();
  });
}

FarmService::Unary* FarmService::ListEvaluations(Context* context, const v1::ListEvaluationsRequest* request,
                                                 v1::ListEvaluationsResponse* response) {
  return options_.gate.Serve(context, Role::kReader, [this, request, response]() -> absl::Status {
    HYDRANT_ASSIGN_OR_RETURN(std::vector<EvaluationRecord> records,
                             options_.coordinator.Evaluations(request->matrix(), request->branch()));
    for (const EvaluationRecord& record : records) *response->add_evaluations() = ToMessage(record);
    return absl::OkStatus();
  });
}

FarmService::Unary* FarmService::GetStatus(Context* context, const v1::GetStatusRequest* request,
                                           v1::GetStatusResponse* response) {
  return options_.gate.Serve(context, Role::kReader, [this, request, response]() -> absl::Status {
    HYDRANT_ASSIGN_OR_RETURN(GridView grid, options_.coordinator.Grid(request->matrix(), {request->evaluation()},
                                                                        request->branch()));
    *response->mutable_evaluation() = ToMessage(grid.evaluation);
    for (const std::string& note : grid.notes) response->add_notes(note);
    for (const GridVariant& variant : grid.variants) *response->add_variants() = ToMessage(variant);
    for (const auto& [state, count] : grid.totals) (*response->mutable_totals())[state] = count;
    for (const RunningView& running : grid.running) *response->add_running() = ToMessage(running);
    return absl::OkStatus();
  });
}

FarmService::Unary* FarmService::CompareEvaluations(Context* context, const v1::CompareEvaluationsRequest* request,
                                                    v1::CompareEvaluationsResponse* response) {
  return options_.gate.Serve(context, Role::kReader, [this, request, response]() -> absl::Status {
    for (const auto& [field, id] : {std::pair("before", request->before()), std::pair("after", request->after())}) {
      if (id > 0) continue;
      return absl::InvalidArgumentError(absl::StrCat(field, ": ", id, " is no evaluation: they count from 1"));
    }
    HYDRANT_ASSIGN_OR_RETURN(ComparisonView view,
                             options_.comparison.Compare({request->before()}, {request->after()}));
    *response = ToMessage(view);
    return absl::OkStatus();
  });
}

FarmService::Unary* FarmService::Explain(Context* context, const v1::ExplainRequest* request,
                                         v1::ExplainResponse* response) {
  return options_.gate.Serve(context, Role::kReader, [this, request, response]() -> absl::Status {
    HYDRANT_ASSIGN_OR_RETURN(ExplainView view,
                             options_.coordinator.Explain(request->address(), {request->evaluation()}, request->branch()));
    *response = ToMessage(view);
    return absl::OkStatus();
  });
}

FarmService::Unary* FarmService::Cancel(Context* context, const v1::CancelRequest* request,
                                        v1::CancelResponse* response) {
  return options_.gate.Serve(context, Role::kSubmitter, [this, request, response]() -> absl::Status {
    HYDRANT_ASSIGN_OR_RETURN(const CancelResult result,
                             options_.coordinator.Cancel({.address = request->address(), .matrix = request->matrix(),
                                                          .evaluation = {request->evaluation()},
                                                         .branch = request->branch()}));
    response->set_cancelled(result.cancelled);
    response->set_evaluation(result.evaluation.value);
    response->set_variants(result.variants);
    return absl::OkStatus();
  });
}

FarmService::Unary* FarmService::Retry(Context* context, const v1::RetryRequest* request, v1::RetryResponse* response) {
  return options_.gate.Serve(context, Role::kSubmitter, [this, request, response]() -> absl::Status {
    if (!request->cause().empty() && !ParseCause(request->cause())) {
      return absl::InvalidArgumentError(absl::StrCat("cause: '", request->cause(), "' is no cause"));
    }
    HYDRANT_ASSIGN_OR_RETURN(RetryResult result,
                             options_.coordinator.Retry({.address = request->address(), .matrix = request->matrix(),
                                                         .evaluation = {request->evaluation()},
                                                         .branch = request->branch()},
                                                        request->cause()));
    response->set_retried(result.retried);
    response->set_evaluation(result.evaluation.value);
    return absl::OkStatus();
  });
}

FarmService::Unary* FarmService::ListWorkers(Context* context, const v1::ListWorkersRequest*,
                                             v1::ListWorkersResponse* response) {
  return options_.gate.Serve(context, Role::kReader, [this, response] {
    for (const WorkerView& worker : options_.coordinator.Workers()) *response->add_workers() = ToMessage(worker);
    return absl::OkStatus();
  });
}

FarmService::Unary* FarmService::DrainWorker(Context* context, const v1::DrainWorkerRequest* request,
                                             v1::DrainWorkerResponse* response) {
  return options_.gate.Serve(context, Role::kOperator, [this, request, response]() -> absl::Status {
    HYDRANT_RETURN_IF_ERROR(options_.coordinator.Drain(request->name(), request->drain()));
    for (const WorkerView& worker : options_.coordinator.Workers()) {
      if (worker.worker.name == request->name()) *response->mutable_worker() = ToMessage(worker);
    }
    return absl::OkStatus();
  });
}

FarmService::Unary* FarmService::ListChannels(Context* context, const v1::ListChannelsRequest*,
                                              v1::ListChannelsResponse* response) {
  return options_.gate.Serve(context, Role::kReader, [this, response] {
    for (const ChannelRecord& channel : options_.coordinator.Channels()) *response->add_channels() = ToMessage(channel);
    return absl::OkStatus();
  });
}

}  // namespace hydrant
