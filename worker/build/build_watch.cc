#include "worker/build/build_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace hydrant::worker {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(250);
// Nix watches time and silence as well and says it better: we are second.
constexpr absl::Duration kNixFirst = absl::Seconds(5);

}  // namespace

BuildWatch::BuildWatch(StoreSession& session, const AttemptLimits& limits)
    : session_(session),
      limits_(limits),
      tree_(session.client().daemon_pid()),
      started_(absl::Now()),
      heard_(started_),
      thread_([this] { Run(); }) {}

BuildWatch::~BuildWatch() {
  if (thread_.joinable()) Finish();
}

bool BuildWatch::Heard(size_t bytes) {
  MutexLock lock(mu_);
  heard_ = absl::Now();
  report_.log_bytes += static_cast<int64_t>(bytes);
  if (limits_.max_log_bytes == 0 || report_.log_bytes <= limits_.max_log_bytes) return true;
  AbortLocked(Cause::kLogLimit, absl::StrCat("the log is larger than ", limits_.max_log_bytes, " bytes"));
  return false;
}

void BuildWatch::Abort(Cause cause, std::string message) {
  MutexLock lock(mu_);
  AbortLocked(cause, std::move(message));
}

void BuildWatch::AbortLocked(Cause cause, std::string message) {
  if (report_.cause != Cause::kNone || finished_) return;
  report_.cause = cause;
  report_.message = std::move(message);
  changed_.NotifyAll();
}

void BuildWatch::Look() {
  const ProcessUse use = tree_.Sample();
  const absl::Time now = absl::Now();
  if (limits_.memory_bytes > 0 && use.memory_bytes > limits_.memory_bytes) {
    AbortLocked(Cause::kOutOfMemory, absl::StrCat("the build used ", use.memory_bytes,
                                                  " bytes of memory, its limit is ", limits_.memory_bytes));
  }
  if (limits_.max_silent > absl::ZeroDuration() && now - heard_ > limits_.max_silent + kNixFirst) {
    AbortLocked(Cause::kTimeout,
                absl::StrCat("timed out after ", absl::FormatDuration(limits_.max_silent), " of silence"));
  }
  if (limits_.timeout > absl::ZeroDuration() && now - started_ > limits_.timeout + kNixFirst) {
    AbortLocked(Cause::kTimeout, absl::StrCat("timed out after ", absl::FormatDuration(limits_.timeout)));
  }
}

void BuildWatch::Run() {
  MutexLock lock(mu_);
  while (!finished_) {
    if (!aborting_) Look();
    if (report_.cause != Cause::kNone && !aborting_) {
      aborting_ = true;
      tree_.Sample();  // who is there now must be gone after
      mu_.Unlock();
      session_.Close();
      mu_.Lock();
    }
    if (!finished_) changed_.WaitFor(mu_, kLook);
  }
}

BuildWatch::Report BuildWatch::Finish() {
  {
    MutexLock lock(mu_);
    if (!aborting_) tree_.Sample();
    finished_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
  MutexLock lock(mu_);
  if (report_.cause != Cause::kNone) {
    session_.Close();
    tree_.KillSurvivors();
  }
  report_.cpu = tree_.cpu();
  report_.max_memory_bytes = tree_.max_memory_bytes();
  return report_;
}

}  // namespace hydrant::worker
