// worker, worker_gpu.
#include <map>

#include "daemon/record/postgres_changes.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

using Texts = std::vector<std::string>;

void WriteWorker(const WorkerRecord& worker, RowWriter& row) {
  const WorkerOffer& offer = worker.offer;
  row.Text(worker.name)
      .List(Texts(offer.systems.begin(), offer.systems.end()))
      .List(Texts(offer.features.begin(), offer.features.end()))
      .Int(offer.cores)
      .Int(offer.memory_bytes)
      .Int(offer.slots)
      .Text(offer.version)
      .Text(offer.nix_version)
      .Bool(worker.drained_by_operator)
      .Bool(worker.revoked)
      .Time(worker.seen_at);
}

std::set<std::string> SetOf(const Texts& texts) { return {texts.begin(), texts.end()}; }

WorkerRecord ReadWorker(RowReader& row) {
  WorkerRecord worker;
  worker.name = row.Text();
  worker.offer.systems = SetOf(row.List());
  worker.offer.features = SetOf(row.List());
  worker.offer.cores = static_cast<int>(row.Int());
  worker.offer.memory_bytes = row.Int();
  worker.offer.slots = static_cast<int>(row.Int());
  worker.offer.version = row.Text();
  worker.offer.nix_version = row.Text();
  worker.drained_by_operator = row.Bool();
  worker.revoked = row.Bool();
  worker.seen_at = row.Time();
  return worker;
}

void WriteGpu(const OfferedGpu& gpu, RowWriter& row) {
  row.Text(gpu.uuid)
      .Text(gpu.name)
      .Text(gpu.architecture)
      .Int(gpu.memory_bytes)
      .Text(gpu.driver)
      .Bool(gpu.simulated);
}

struct GpuRow {
  std::string worker;
  OfferedGpu gpu;
};

GpuRow ReadGpu(RowReader& row) {
  GpuRow result;
  result.worker = row.Text();
  result.gpu.uuid = row.Text();
  result.gpu.name = row.Text();
  result.gpu.architecture = row.Text();
  result.gpu.memory_bytes = row.Int();
  result.gpu.driver = row.Text();
  result.gpu.simulated = row.Bool();
  return result;
}

}  // namespace

absl::Status Apply(PostgresSession& session, const SaveWorker& change) {
  const WorkerRecord& worker = change.worker;
  Parameters row;
  WriteWorker(worker, row);
  HYDRANT_RETURN_IF_ERROR(ExecuteGuarded(session, "save_worker", row, worker.name, "is revoked for good"));
  Parameters key;
  key.Text(worker.name);
  HYDRANT_RETURN_IF_ERROR(session.Execute("drop_worker_gpus", key).status());
  if (worker.offer.gpus.empty()) return absl::OkStatus();
  Columns columns(6);
  for (const OfferedGpu& gpu : worker.offer.gpus) WriteGpu(gpu, columns);
  columns.MoveTo(key);
  return session.Execute("save_worker_gpus", key).status();
}

absl::Status LoadWorkers(PostgresSession& session, Recorded& recorded) {
  HYDRANT_ASSIGN_OR_RETURN(recorded.workers, LoadRows(session, "load_workers", {}, &ReadWorker));
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<GpuRow> gpus,
                           LoadRows(session, "load_worker_gpus", {}, &ReadGpu));
  std::map<std::string, WorkerRecord*> by_name;
  for (WorkerRecord& worker : recorded.workers) by_name[worker.name] = &worker;
  for (const GpuRow& row : gpus) by_name[row.worker]->offer.gpus.push_back(row.gpu);
  return absl::OkStatus();
}

}  // namespace hydrant
