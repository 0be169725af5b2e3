// A TCP proxy in front of a server on loopback that hands on each piece of a reply some time after it came:
// distance, for a server that cannot sleep. Knows nothing of what passes.
#ifndef HYDRANT_TESTS_BENCH_PRESENCE_DELAYING_PROXY_H_
#define HYDRANT_TESTS_BENCH_PRESENCE_DELAYING_PROXY_H_

#include "absl/time/time.h"

namespace hydrant {

struct ProxyOptions {
  int listener = -1;  // a listening socket
  int target = 0;     // port on 127.0.0.1
  absl::Duration delay;
  int slow_every = 0;  // each so many pieces (0: none) takes `slow` instead of `delay`
  absl::Duration slow;
};

// Does not return but when the machine refuses its sockets.
void ServeDelayed(const ProxyOptions& options);

}  // namespace hydrant

#endif  // HYDRANT_TESTS_BENCH_PRESENCE_DELAYING_PROXY_H_
