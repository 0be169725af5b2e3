// Asks binary caches over HTTP whether they have store paths: their narinfos, many at a time, remembered for
// a while. Knows nothing of signatures: who fetches a path verifies it.
#ifndef HYDRANT_DAEMON_PRESENCE_HTTP_PRESENCE_H_
#define HYDRANT_DAEMON_PRESENCE_HTTP_PRESENCE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/presence/http_fetcher.h"
#include "daemon/presence/presence.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"

namespace hydrant {

class HttpPresence final : public Presence {
 public:
  struct Options {
    std::vector<std::string> caches;  // http or https URLs, asked in this order; none: everything is absent
    HttpFetcher::Options fetch;
    int in_flight = 64;          // requests to one cache at a time
    int tries = 3;               // of one request, when the network or the server failed it
    int failures_to_pause = 10;  // in a row, after which the cache is not asked for `pause`
    absl::Duration pause = absl::Seconds(30);
    absl::Duration present_for = absl::Hours(1);
    absl::Duration absent_for = absl::Seconds(60);
  };

  // `clock` must outlive it. InvalidArgument names a URL that is not http or https.
  static absl::StatusOr<std::unique_ptr<HttpPresence>> Open(Options options, const Clock& clock);

  // 404 and 410 are absent; a narinfo of that very path is present; all else (401, 403, 5xx, a time-out,
  // another path's narinfo, HTML) is unknown, is remembered by nobody and counts as a failure. Calls are
  // served one after the other.
  std::map<std::string, Answer> Ask(const std::vector<std::string>& store_paths) override;

 private:
  struct Memory {
    bool present = false;
    absl::Time until;
  };
  struct Cache {
    std::string url;   // as configured
    std::string base;  // without parameters and the last slash
    int failures = 0;  // in a row
    absl::Time paused_until = absl::InfinitePast();
    absl::flat_hash_map<std::string, Memory> remembered;  // by store path
  };
  class Round;

  HttpPresence(Options options, const Clock& clock, std::vector<Cache> caches);

  const Options options_;
  const Clock& clock_;
  Mutex mu_;  // held while caches are asked
  HttpFetcher fetcher_ ABSL_GUARDED_BY(mu_);
  std::vector<Cache> caches_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_HTTP_PRESENCE_H_
