#include "worker/lease/attempt_reporter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "worker/lease/wire.h"

namespace hydrant::worker {
namespace {

constexpr size_t kMaxPiece = 256 << 10;

// The number in "… send from 1234": what OUT_OF_RANGE says. 0, from where everything can be sent again, when
// there is none.
int64_t ResumeOffset(std::string_view message, int64_t below) {
  const size_t end = message.find_last_of("0123456789");
  if (end == std::string_view::npos) return 0;
  const size_t before = message.find_last_not_of("0123456789", end);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  int64_t offset = 0;
  if (!absl::SimpleAtoi(AbslView(message.substr(begin, end - begin + 1)), &offset)) return 0;
  return offset < below ? offset : 0;
}

}  // namespace

absl::StatusOr<std::shared_ptr<AttemptReporter>> AttemptReporter::Open(FarmClient& client,
                                                                       const AttemptSpool& spool,
                                                                       Options options) {
  HYDRANT_ASSIGN_OR_RETURN(std::unique_ptr<SpooledLog> log, spool.OpenLog(options.attempt));
  HYDRANT_ASSIGN_OR_RETURN(const int64_t written, log->Size());
  return std::shared_ptr<AttemptReporter>(
      new AttemptReporter(client, spool, std::move(options), std::move(log), written));
}

AttemptReporter::AttemptReporter(FarmClient& client, const AttemptSpool& spool, Options options,
                                 std::unique_ptr<SpooledLog> log, int64_t log_written)
    : client_(client),
      spool_(spool),
      options_(std::move(options)),
      log_(std::move(log)),
      stage_(options_.stage),
      log_written_(log_written),
      random_(std::random_device{}()),
      thread_([this] { Run(); }) {}

AttemptReporter::~AttemptReporter() {
  {
    MutexLock lock(mu_);
    ending_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void AttemptReporter::Drop() {
  MutexLock lock(mu_);
  DropLocked();
}

void AttemptReporter::DropLocked() {
  dropped_ = true;
  changed_.NotifyAll();
}

void AttemptReporter::Abandon() {
  MutexLock lock(mu_);
  abandoned_ = true;
  changed_.NotifyAll();
}

AttemptStage AttemptReporter::stage() const {
  MutexLock lock(mu_);
  return stage_;
}

bool AttemptReporter::dropped() const {
  MutexLock lock(mu_);
  return dropped_;
}

void AttemptReporter::Enter(AttemptStage stage) {
  MutexLock lock(mu_);
  if (stage <= stage_) return;
  stage_ = stage;
  unsent_stages_.push_back(stage);
  changed_.NotifyAll();
}

void AttemptReporter::Log(std::string_view bytes) {
  if (const absl::Status kept = log_->Append(bytes); !kept.ok()) {
    hydrant::Log(LogLevel::kError, "log lost",
                 {{"attempt", options_.attempt.value}, {"error", std::string(kept.message())}});
    return;
  }
  MutexLock lock(mu_);
  log_written_ += static_cast<int64_t>(bytes.size());
  changed_.NotifyAll();
}

void AttemptReporter::Keep(const AttemptEnd& end) {
  const absl::Status kept =
      spool_.Keep({options_.attempt, options_.assignment, ToWire(end).SerializeAsString()});
  if (!kept.ok()) {
    hydrant::Log(LogLevel::kError, "end not kept on disk",
                 {{"attempt", options_.attempt.value}, {"error", std::string(kept.message())}});
  }
}

void AttemptReporter::Built(const AttemptEnd& so_far) { Keep(so_far); }

absl::Status AttemptReporter::Finish(const AttemptEnd& end) {
  // Given back: the next run of the program has nothing to say of it.
  if (end.cause != Cause::kLost && !dropped()) Keep(end);
  absl::Status verdict;
  {
    MutexLock lock(mu_);
    end_ = end;
    verdict_.reset();
    changed_.NotifyAll();
    while (!verdict_ && MayGoOn()) changed_.Wait(mu_);
    verdict = dropped_   ? absl::AbortedError("the lease is lost")
              : verdict_ ? *verdict_
                         : absl::CancelledError("the worker leaves");
    end_.reset();
  }
  if (absl::IsFailedPrecondition(verdict)) return verdict;
  hydrant::Log(LogLevel::kInfo, "attempt ended",
               {{"attempt", options_.attempt.value},
                {"outcome", end.cause == Cause::kNone ? "succeeded" : CauseName(end.cause)},
                {"heard", verdict.ok() ? "yes" : std::string(verdict.message())}});
  if (!absl::IsCancelled(verdict)) spool_.Forget(options_.attempt);
  options_.done(options_.attempt);
  return verdict;
}

absl::StatusOr<std::vector<DerivationFile>> AttemptReporter::Derivations(
    const std::vector<std::string>& have) {
  v1::GetDerivationsRequest request;
  request.set_attempt(options_.attempt.value);
  request.set_token(options_.token.value);
  for (const std::string& path : have) request.add_have(path);
  for (;;) {
    auto files = client_.GetDerivations(request);
    MutexLock lock(mu_);
    if (!files.ok() && !Settled(files.status())) {
      if (MayGoOn()) continue;
      return absl::AbortedError("the lease is lost");
    }
    HYDRANT_RETURN_IF_ERROR(files.status());
    std::vector<DerivationFile> result;
    for (v1::DerivationFile& file : *files) {
      result.push_back({.path = file.path(),
                        .aterm = std::move(*file.mutable_aterm()),
                        .references = {file.references().begin(), file.references().end()}});
    }
    return result;
  }
}

bool AttemptReporter::HasWork() const {
  return MayGoOn() &&
         (!unsent_stages_.empty() || (!log_closed_ && log_sent_ < log_written_) || (end_ && !verdict_));
}

void AttemptReporter::Run() {
  MutexLock lock(mu_);
  while (!ending_) {
    if (HasWork()) {
      SendNext();
    } else {
      changed_.Wait(mu_);
    }
  }
}

void AttemptReporter::SendNext() {
  if (!unsent_stages_.empty()) {
    SendStage();
  } else if (!log_closed_ && log_sent_ < log_written_) {
    SendLog();
  } else {
    SendEnd();
  }
}

void AttemptReporter::SendStage() {
  v1::ReportAttemptRequest request;
  request.set_name(client_.name());
  request.set_attempt(options_.attempt.value);
  request.set_token(options_.token.value);
  request.set_stage(ToWire(unsent_stages_.front()));
  mu_.Unlock();
  const absl::Status status = client_.Report(request);
  mu_.Lock();
  if (Settled(status)) unsent_stages_.pop_front();
}

void AttemptReporter::SendLog() {
  v1::AppendLogRequest request;
  request.set_attempt(options_.attempt.value);
  request.set_token(options_.token.value);
  request.set_offset(log_sent_);
  mu_.Unlock();
  auto bytes = log_->Read(request.offset(), kMaxPiece);
  absl::StatusOr<int64_t> next = 0;
  if (bytes.ok()) {
    request.set_data(*std::move(bytes));
    next = client_.AppendLog(request);
  } else {
    next = bytes.status();
  }
  mu_.Lock();
  if (absl::IsResourceExhausted(next.status())) {
    log_closed_ = true;
    Stop(StopReason::kLogLimit);
  } else if (absl::IsOutOfRange(next.status())) {
    const int64_t from = ResumeOffset(StdView(next.status().message()), log_sent_);
    if (from == log_sent_) Pause(options_.backoff.Delay(++failures_, random_));
    log_sent_ = from;
  } else if (Settled(next.status())) {
    if (next.ok()) {
      log_sent_ = std::max(*next, log_sent_);
    } else {
      log_closed_ = true;  // refused for good: the end is worth more than the log
    }
    // Lines come one by one; they travel together.
    if (!end_ && log_written_ - log_sent_ < static_cast<int64_t>(kMaxPiece)) {
      const absl::Time until = absl::Now() + options_.log_pause;
      while (!end_ && !ending_ && MayGoOn() && unsent_stages_.empty() && absl::Now() < until) {
        changed_.WaitFor(mu_, until - absl::Now());
      }
    }
  }
}

void AttemptReporter::SendEnd() {
  v1::ReportAttemptRequest request;
  request.set_name(client_.name());
  request.set_attempt(options_.attempt.value);
  request.set_token(options_.token.value);
  *request.mutable_end() = ToWire(*end_);
  mu_.Unlock();
  const absl::Status status = client_.Report(request);
  mu_.Lock();
  if (!Settled(status)) return;
  if (!status.ok() && !absl::IsFailedPrecondition(status)) {
    hydrant::Log(LogLevel::kError, "end refused",
                 {{"attempt", options_.attempt.value}, {"error", std::string(status.message())}});
    verdict_ = absl::AbortedError(status.message());
  } else {
    verdict_ = status;
  }
  changed_.NotifyAll();
}

bool AttemptReporter::Settled(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
      failures_ = 0;
      return true;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAborted:
      DropLocked();
      Stop(StopReason::kRevoked);
      return false;
    default:  // away, or it does not know us for the moment
      if (++failures_ == 1) {
        hydrant::Log(LogLevel::kWarning, "hydrantd does not answer",
                     {{"attempt", options_.attempt.value}, {"error", status.ToString()}});
      }
      Pause(options_.backoff.Delay(failures_, random_));
      return false;
  }
}

void AttemptReporter::Pause(absl::Duration duration) {
  const absl::Time until = absl::Now() + duration;
  while (!ending_ && MayGoOn() && absl::Now() < until) changed_.WaitFor(mu_, until - absl::Now());
}

void AttemptReporter::Stop(StopReason reason) {
  mu_.Unlock();
  options_.stop(options_.attempt, reason);
  mu_.Lock();
}

}  // namespace hydrant::worker
