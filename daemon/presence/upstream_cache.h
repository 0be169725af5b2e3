// One binary cache over HTTP that is asked for narinfos: its memory, the questions under way, its circuit
// breaker. Knows nothing of the other caches, nor of signatures: who fetches a path verifies it.
#ifndef HYDRANT_DAEMON_PRESENCE_UPSTREAM_CACHE_H_
#define HYDRANT_DAEMON_PRESENCE_UPSTREAM_CACHE_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/presence/answer_inbox.h"
#include "daemon/presence/answer_memory.h"
#include "daemon/presence/circuit_breaker.h"
#include "daemon/presence/http_fetcher.h"
#include "daemon/presence/presence.h"
#include "daemon/presence/upstream_access.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"

namespace hydrant {

// What is told when a cache is left alone (open) or asked again.
struct CacheHealth {
  std::string cache;  // its URL, as configured
  bool open = false;
  std::string why;  // of open: the last failure
};

class UpstreamCache {
 public:
  struct Options {
    std::string url;  // http or https, no user in it
    UpstreamAccess access;
    int in_flight =
        100;        // requests at a time: as many as HTTP/2 servers take on one connection (RFC 9113, 5.1.2)
    int tries = 3;  // of one request, when the network or the server failed it
    CircuitBreaker::Options breaker;
    AnswerMemory::Options memory;
    std::function<void(const CacheHealth&)> observer;  // any thread, under no lock; null: nobody
  };
  struct Question {
    std::string path;
    size_t number = 0;  // the asker's
  };

  // `fetcher` and `clock` must outlive what is asked, the cache the fetcher's thread. InvalidArgument names a
  // URL that is not http or https, or has a user or password in it (without telling them).
  static absl::StatusOr<std::unique_ptr<UpstreamCache>> Open(Options options, const Clock& clock);

  // What is remembered of the path.
  std::optional<Answer> Recall(const std::string& path) const;

  // Puts an answer for each question into `inbox`, as from cache number `number`; returns at once. A path
  // that somebody already asks for is not asked twice; one that every asker has settled meanwhile is not
  // asked and gets no answer. 404 and 410 are absent; a narinfo of that very path is present; all else (401,
  // 403, 5xx, a time-out, another path's narinfo, HTML) is unknown, is remembered by nobody and counts as a
  // failure. Any thread.
  void Ask(const std::vector<Question>& questions, size_t number, const std::shared_ptr<AnswerInbox>& inbox,
           HttpFetcher& fetcher);

  const std::string& url() const { return options_.url; }

 private:
  struct Asker {
    std::shared_ptr<AnswerInbox> inbox;
    size_t question = 0, cache = 0;
  };
  struct OpenQuestion {
    std::vector<Asker> askers;
    int tries = 0;
  };
  using Requests = std::vector<HttpFetcher::Request>;

  UpstreamCache(Options options, std::string base, const Clock& clock);
  void Add(const Question& question, Asker asker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Requests Pump(HttpFetcher& fetcher) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RefuseWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  HttpFetcher::Request Send(const std::string& path, absl::Duration delay, HttpFetcher& fetcher)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Take(const std::string& path, HttpReply reply, HttpFetcher& fetcher);
  // Whether the request goes out again, after how long.
  std::optional<absl::Duration> Retry(const HttpReply& reply, int tries) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Settle(const std::string& path, const Answer& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<CacheHealth> HealthChange() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const std::string base_;  // the URL without parameters and the last slash
  const std::shared_ptr<const UpstreamAccess> access_;
  const Clock& clock_;
  mutable Mutex mu_;
  AnswerMemory memory_ ABSL_GUARDED_BY(mu_);
  CircuitBreaker breaker_ ABSL_GUARDED_BY(mu_);
  std::string last_failure_ ABSL_GUARDED_BY(mu_);
  bool told_open_ ABSL_GUARDED_BY(mu_) = false;
  std::minstd_rand random_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, OpenQuestion> open_ ABSL_GUARDED_BY(mu_);  // by path: waiting or under way
  std::deque<std::string> waiting_ ABSL_GUARDED_BY(mu_);
  int under_way_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_UPSTREAM_CACHE_H_
