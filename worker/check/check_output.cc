#include "worker/check/check_output.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace hydrant::worker {
namespace {

constexpr size_t kTail = 64 << 10;
constexpr int kLookMs = 100;
constexpr absl::Duration kSample = absl::Milliseconds(500);

}  // namespace

CheckOutput::CheckOutput(SandboxedProcess& process, const AttemptLimits& limits, absl::Duration grace,
                         Cancellation& cancellation)
    : process_(process),
      limits_(limits),
      grace_(grace),
      cancellation_(cancellation),
      tree_(process.pid()),
      started_(absl::Now()),
      heard_(started_),
      sampled_(started_) {}

void CheckOutput::End(Cause cause, std::string message) {
  if (cause_ != Cause::kNone) return;
  cause_ = cause;
  message_ = std::move(message);
  process_.Terminate();
  kill_at_ = absl::Now() + grace_;
}

bool CheckOutput::ReadSome(const LogCallback& log) {
  char buffer[16 << 10];
  const ssize_t n = read(process_.output_fd(), buffer, sizeof buffer);
  if (n < 0) return errno == EINTR;
  if (n == 0) return false;
  heard_ = absl::Now();
  log_bytes_ += n;
  if (limits_.max_log_bytes > 0 && log_bytes_ > limits_.max_log_bytes) {
    End(Cause::kLogLimit, absl::StrCat("the log is larger than ", limits_.max_log_bytes, " bytes"));
    return true;
  }
  const std::string_view text(buffer, static_cast<size_t>(n));
  tail_.append(text);
  if (tail_.size() > 2 * kTail) tail_.erase(0, tail_.size() - kTail);
  log(text);
  return true;
}

void CheckOutput::CheckLimits() {
  const absl::Time now = absl::Now();
  if (now >= kill_at_) process_.Kill();
  if (cancellation_.cancelled()) End(Cause::kCancelled, "the check was cancelled");
  if (limits_.timeout > absl::ZeroDuration() && now - started_ > limits_.timeout) {
    End(Cause::kTimeout, absl::StrCat("timed out after ", absl::FormatDuration(limits_.timeout)));
  }
  if (limits_.max_silent > absl::ZeroDuration() && now - heard_ > limits_.max_silent) {
    End(Cause::kTimeout,
        absl::StrCat("timed out after ", absl::FormatDuration(limits_.max_silent), " of silence"));
  }
  if (now - sampled_ < kSample) return;
  sampled_ = now;
  const int64_t memory = tree_.Sample().memory_bytes;
  if (limits_.memory_bytes > 0 && memory > limits_.memory_bytes) {
    End(Cause::kOutOfMemory,
        absl::StrCat("the check used ", memory, " bytes of memory, its limit is ", limits_.memory_bytes));
  }
}

void CheckOutput::Follow(const LogCallback& log) {
  for (bool more = true; more;) {
    struct pollfd wait = {.fd = process_.output_fd(), .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, kLookMs) > 0) more = ReadSome(log);
    CheckLimits();
  }
}

}  // namespace hydrant::worker
