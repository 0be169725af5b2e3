// How an evaluation goes on, told on standard error: one line that is rewritten on a terminal, else a line at
// each change of the evaluation's state and otherwise at most one every few seconds.
#ifndef HYDRANT_CLIENT_PROGRESS_H_
#define HYDRANT_CLIENT_PROGRESS_H_

#include <hydrant/v1/farm_service.pb.h>

#include <string>

#include "absl/time/time.h"
#include "client/console.h"
#include "lib/base/clock.h"

namespace hydrant::client {

inline constexpr absl::Duration kProgressInterval = absl::Seconds(5);

// "demo #3 evaluated: 31 of 48 done: 28 cached, 2 failed, 3 building; w1: building torch-2.1"
std::string ProgressText(const v1::WatchResponse& response);

class Progress {
 public:
  Progress(Console& console, const Clock& clock) : console_(console), clock_(clock) {}
  ~Progress() { Clear(); }

  void Show(const v1::WatchResponse& response);
  // The server is away; `failures` in a row.
  void ShowOutage(const absl::Status& why, int failures);
  // Takes the rewritten line away, so that something else can be printed.
  void Clear();

 private:
  void Rewrite(const std::string& text);

  Console& console_;
  const Clock& clock_;
  bool shown_ = false;  // a rewritten line stands there
  std::string last_text_;
  absl::Time last_at_ = absl::InfinitePast();
  v1::EvaluationState last_state_ = v1::EVALUATION_STATE_UNSPECIFIED;
};

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_PROGRESS_H_
