// For tests: hydrantd's side of the conversation, in memory, on a real port. It loses answers, restarts and
// refuses when told.
#ifndef HYDRANT_WORKER_LEASE_FAKE_HYDRANTD_H_
#define HYDRANT_WORKER_LEASE_FAKE_HYDRANTD_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hydrant/v1/worker_service.grpc.pb.h"
#include "lib/base/mutex.h"

namespace hydrant::worker {

class FakeHydrantd final : public v1::WorkerService::Service {
 public:
  FakeHydrantd() { Start(); }
  ~FakeHydrantd() override { StopServer(); }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // What is remembered survives, as in a database.
  void StopServer() {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }
  void Start() {
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port_), grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    if (!server_) abort();
  }

  void Assign(v1::Assignment assignment) {
    MutexLock lock(mu_);
    assigned_[assignment.attempt()] = std::move(assignment);
    changed_.NotifyAll();
  }
  void Revoke(int64_t attempt) {
    MutexLock lock(mu_);
    assigned_.erase(attempt);
    revoked_.insert(attempt);
    changed_.NotifyAll();
  }
  // The next answers of these calls are lost, or are this one.
  void LoseAnswers(const std::string& call, int times) {
    AnswerWith(call, times, {grpc::StatusCode::UNAVAILABLE, "lost"}, true);
  }
  void AnswerWith(const std::string& call, int times, grpc::Status status, bool done_first = false) {
    MutexLock lock(mu_);
    answers_[call] = {times, std::move(status), done_first};
  }
  void SetFarm(v1::Farm farm) {
    MutexLock lock(mu_);
    farm_ = std::move(farm);
  }
  void AddDerivation(v1::DerivationFile file) {
    MutexLock lock(mu_);
    derivations_.push_back(std::move(file));
  }

  // Blocks until it is true of the state.
  struct State {
    std::vector<v1::SynchronizeRequest> synchronized;
    std::map<int64_t, std::vector<v1::AttemptStage>> stages;
    std::map<int64_t, std::vector<v1::AttemptEnd>> ends;
    std::map<int64_t, std::string> logs;
  };
  State WaitUntil(const std::function<bool(const State&)>& condition) {
    MutexLock lock(mu_);
    while (!condition(state_)) {
      if (!changed_.WaitFor(mu_, absl::Seconds(60)) && !condition(state_)) {
        std::fprintf(stderr, "waited in vain\n");
        abort();
      }
    }
    return state_;
  }
  State state() {
    return WaitUntil([](const State&) { return true; });
  }

  grpc::Status Synchronize(grpc::ServerContext* context, const v1::SynchronizeRequest* request,
                           v1::SynchronizeResponse* response) override {
    MutexLock lock(mu_);
    bool after = false;
    if (const auto status = Ordered("Synchronize", after); !status.ok() && !after) return status;
    state_.synchronized.push_back(*request);
    changed_.NotifyAll();
    *response->mutable_farm() = farm_;
    std::set<int64_t> held;
    for (const auto& one : request->held()) held.insert(one.attempt());
    const absl::Time until = absl::Now() + absl::Milliseconds(request->hold_ms());
    for (;;) {
      for (const auto& [attempt, assignment] : assigned_) {
        if (!held.contains(attempt) && !state_.ends.contains(attempt) && !request->draining()) {
          *response->add_assignments() = assignment;
        }
      }
      for (const int64_t attempt : revoked_) {
        if (held.contains(attempt)) response->add_revoked(attempt);
      }
      if (response->assignments_size() > 0 || response->revoked_size() > 0 || context->IsCancelled() ||
          absl::Now() >= until) {
        return after ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "lost") : grpc::Status::OK;
      }
      changed_.WaitFor(mu_, std::min(until - absl::Now(), absl::Milliseconds(50)));
    }
  }

  grpc::Status ReportAttempt(grpc::ServerContext*, const v1::ReportAttemptRequest* request,
                             v1::ReportAttemptResponse*) override {
    MutexLock lock(mu_);
    bool after = false;
    const grpc::Status ordered = Ordered(request->has_end() ? "End" : "Stage", after);
    if (!ordered.ok() && !after) return ordered;
    if (revoked_.contains(request->attempt())) return {grpc::StatusCode::ABORTED, "the lease is not yours"};
    if (request->has_end()) {
      state_.ends[request->attempt()].push_back(request->end());
    } else {
      state_.stages[request->attempt()].push_back(request->stage());
    }
    changed_.NotifyAll();
    return ordered;
  }

  grpc::Status AppendLog(grpc::ServerContext*, const v1::AppendLogRequest* request,
                         v1::AppendLogResponse* response) override {
    MutexLock lock(mu_);
    bool after = false;
    const grpc::Status ordered = Ordered("Log", after);
    if (!ordered.ok() && !after) return ordered;
    std::string& log = state_.logs[request->attempt()];
    if (request->offset() > static_cast<int64_t>(log.size())) {
      return {grpc::StatusCode::OUT_OF_RANGE, "there is a gap: send from " + std::to_string(log.size())};
    }
    const size_t known = log.size() - static_cast<size_t>(request->offset());
    if (known < request->data().size()) log += request->data().substr(known);
    response->set_next_offset(static_cast<int64_t>(log.size()));
    changed_.NotifyAll();
    return ordered;
  }

  grpc::Status GetDerivations(grpc::ServerContext*, const v1::GetDerivationsRequest*,
                              grpc::ServerWriter<v1::DerivationFile>* writer) override {
    MutexLock lock(mu_);
    bool after = false;
    if (const auto status = Ordered("Derivations", after); !status.ok()) return status;
    for (const auto& file : derivations_) writer->Write(file);
    return grpc::Status::OK;
  }

 private:
  struct Answer {
    int times = 0;
    grpc::Status status;
    bool done_first = false;
  };
  grpc::Status Ordered(const std::string& call, bool& after) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    Answer& answer = answers_[call];
    if (answer.times == 0) return grpc::Status::OK;
    --answer.times;
    after = answer.done_first;
    return answer.status;
  }

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  Mutex mu_;
  CondVar changed_;
  State state_ ABSL_GUARDED_BY(mu_);
  v1::Farm farm_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, v1::Assignment> assigned_ ABSL_GUARDED_BY(mu_);
  std::set<int64_t> revoked_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Answer> answers_ ABSL_GUARDED_BY(mu_);
  std::vector<v1::DerivationFile> derivations_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_LEASE_FAKE_HYDRANTD_H_
