// Follows one evaluation to its end, across restarts of hydrantd.
#ifndef HYDRANT_CLIENT_WATCH_EVALUATION_H_
#define HYDRANT_CLIENT_WATCH_EVALUATION_H_

#include <hydrant/v1/farm_service.pb.h>

#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "client/session.h"

namespace hydrant::client {

inline constexpr absl::Duration kLongestOutage = absl::Minutes(10);

struct WatchOptions {
  bool reached = false;  // the server answered already: an outage at the first call is waited for too
  // `changed` has only variants whose state differs from what was last told, also after a reconnection; all
  // at first.
  std::function<void(const v1::WatchResponse&)> on_response;
  std::function<void(const absl::Status& why, int failures)> on_outage;
};

// The last response, of an evaluation that ended. Unavailable: the server was away for longer than
// kLongestOutage, or at the first call unless it was reached before. The evaluation is the one of the first
// response from then on, whatever newer one there is.
absl::StatusOr<v1::WatchResponse> WatchToEnd(Session& session, v1::WatchRequest request,
                                             const WatchOptions& options);

// Every required variant is cached.
bool GatePassed(const v1::Evaluation& evaluation);
// How it ended, with totals.
std::string FormatEnd(const v1::WatchResponse& end, const Screen& screen);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_WATCH_EVALUATION_H_
