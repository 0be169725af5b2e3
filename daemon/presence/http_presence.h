// Asks binary caches over HTTP whether they have store paths: all caches side by side, many narinfos at a
// time, remembered for a while. Knows nothing of signatures: who fetches a path verifies it.
#ifndef HYDRANT_DAEMON_PRESENCE_HTTP_PRESENCE_H_
#define HYDRANT_DAEMON_PRESENCE_HTTP_PRESENCE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/presence/http_fetcher.h"
#include "daemon/presence/presence.h"
#include "daemon/presence/upstream_cache.h"
#include "lib/base/clock.h"

namespace hydrant {

class HttpPresence final : public Presence {
 public:
  struct Options {
    std::vector<std::string> caches;  // http or https URLs, the earlier preferred; none: everything is absent
    std::map<std::string, UpstreamAccessFiles> access;  // of those that need any, by URL
    HttpFetcher::Options fetch;
    int in_flight = 100;  // requests to one cache at a time: as many as HTTP/2 servers take on one connection
                          // (RFC 9113, 5.1.2)
    int tries = 3;        // of one request, when the network or the server failed it
    CircuitBreaker::Options breaker;                   // of each cache
    AnswerMemory::Options memory;                      // of each cache
    std::function<void(const CacheHealth&)> observer;  // any thread, under no lock; null: nobody
  };

  // `clock` must outlive it, and what `observer` uses. InvalidArgument names a URL that is not http or https
  // or has a user in it; errors of OpenUpstreamAccess name the file.
  static absl::StatusOr<std::unique_ptr<HttpPresence>> Open(Options options, const Clock& clock);

  // A path is present as soon as some cache has it and those before that answered; the later ones are not
  // waited for. Callers do not wait for one another; who asks for what another already asks shares the
  // answer.
  std::map<std::string, Answer> Ask(const std::vector<std::string>& store_paths) override;
  void Follow(const std::vector<std::string>& store_paths, const Onward& onward) override;

 private:
  class Pursuit;

  HttpPresence(std::vector<std::unique_ptr<UpstreamCache>> caches, HttpFetcher::Options fetch)
      : caches_(std::move(caches)), fetcher_(fetch) {}

  const std::vector<std::unique_ptr<UpstreamCache>> caches_;
  HttpFetcher fetcher_;  // gone before the caches that its thread calls
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_HTTP_PRESENCE_H_
