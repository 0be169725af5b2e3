#include "client/commands/named.h"
#include "client/commands/verbs.h"
#include "client/format/lists.h"

namespace hydrant::client {
namespace {

void PrintWorker(const v1::WorkerStatus& worker, Session& session) {
  session.Print({.table = [&] { return FormatWorker(worker, session.clock().Now(), session.screen()); },
                 .json = [&](JsonLayout layout) { return WorkerJson(worker, layout); }});
}

}  // namespace

absl::StatusOr<Exit> WorkerList(Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::ListWorkersResponse workers, client->ListWorkers({}));
  session.PrintTable(WorkersTable(workers), [&](JsonLayout layout) { return WorkersJson(workers, layout); });
  return Exit::kOk;
}

absl::StatusOr<Exit> WorkerShow(const NameOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::ListWorkersResponse workers, client->ListWorkers({}));
  HYDRANT_ASSIGN_OR_RETURN(const auto* const worker, FindNamed("worker", options.name, workers.workers()));
  PrintWorker(*worker, session);
  return Exit::kOk;
}

absl::StatusOr<Exit> WorkerDrain(const NameOptions& options, bool drain, Session& session) {
  v1::DrainWorkerRequest request;
  request.set_name(options.name);
  request.set_drain(drain);
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::DrainWorkerResponse response, client->DrainWorker(request));
  PrintWorker(response.worker(), session);
  return Exit::kOk;
}

}  // namespace hydrant::client
