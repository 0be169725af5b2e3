// Whether a cache that fails is still asked. After some failures in a row it is left alone for a while
// (open); then one request, the probe, says whether it is asked again (half-open). Knows neither caches nor
// clocks.
#ifndef HYDRANT_DAEMON_PRESENCE_CIRCUIT_BREAKER_H_
#define HYDRANT_DAEMON_PRESENCE_CIRCUIT_BREAKER_H_

#include "absl/time/time.h"

namespace hydrant {

// closed -> open (failures_to_open in a row) -> half-open (the pause is over, the probe goes out)
// -> closed (it succeeded) or open again (it failed; the pause doubles, up to longest_pause).
class CircuitBreaker {
 public:
  enum class State { kClosed, kOpen, kHalfOpen };
  struct Options {
    int failures_to_open = 10;
    absl::Duration pause = absl::Seconds(30);
    absl::Duration longest_pause = absl::Minutes(10);
  };

  explicit CircuitBreaker(const Options& options) : options_(options), pause_(options.pause) {}

  // Whether one request may go out now; whoever is told yes tells how it ended. Half-open: no, the probe is
  // out.
  bool Admit(absl::Time now);
  // Whether what is asked now shall not wait for an answer: open, and the pause is not over.
  bool Refuses(absl::Time now) const { return state_ == State::kOpen && now < until_; }
  void Succeeded();
  // `at_least`: how long the server itself asked to be left alone; zero when it did not.
  void Failed(absl::Time now, absl::Duration at_least = absl::ZeroDuration());

  State state() const { return state_; }
  int failures() const { return failures_; }  // in a row

 private:
  void Open(absl::Time now, absl::Duration at_least);

  const Options options_;
  State state_ = State::kClosed;
  int failures_ = 0;
  absl::Duration pause_;  // the next one
  absl::Time until_;      // of open
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_CIRCUIT_BREAKER_H_
