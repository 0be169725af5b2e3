#include "worker/push/cache_access.h"

#include <algorithm>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "lib/base/status_macros.h"

namespace hydrant::worker {
namespace {

bool MayRepeat(const absl::StatusOr<HttpReply>& reply) {
  if (!reply.ok()) return absl::IsUnavailable(reply.status());
  return reply->code >= 500 || reply->code == 408 || reply->code == 425 || reply->code == 429;
}

}  // namespace

absl::StatusOr<HttpReply> Retry(const RetryPolicy& policy, Cancellation& cancellation,
                                const std::function<absl::StatusOr<HttpReply>()>& request) {
  std::mt19937_64 random(std::random_device{}());
  const absl::Time until = absl::Now() + policy.give_up_after;
  for (int failures = 1;; ++failures) {
    absl::StatusOr<HttpReply> reply = request();
    if (!MayRepeat(reply)) return reply;
    absl::Duration wait = policy.backoff.Delay(failures, random);
    if (reply.ok() && reply->retry_after) wait = std::max(wait, *reply->retry_after);
    if (absl::Now() + wait > until) return reply;
    if (!cancellation.WaitFor(wait)) return absl::CancelledError("cancelled while waiting to try again");
  }
}

std::string Describe(const std::string& url, const HttpReply& reply) {
  const auto text = absl::StripAsciiWhitespace(reply.body);
  return absl::StrCat(url, " answered ", reply.code, text.empty() ? "" : ": ", text.substr(0, 1000));
}

}  // namespace hydrant::worker
