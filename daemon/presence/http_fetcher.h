// Many small GET requests at once over kept-alive connections (HTTP/2 where it is offered), on a thread of
// its own. Knows nothing of what is fetched.
#ifndef HYDRANT_DAEMON_PRESENCE_HTTP_FETCHER_H_
#define HYDRANT_DAEMON_PRESENCE_HTTP_FETCHER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/presence/upstream_access.h"

namespace hydrant {

struct HttpReply {
  int status = 0;  // 0: there was no whole reply, and `error` says why
  std::string body, error;
  absl::Duration retry_after;  // as the server asked; zero when it did not
};

class HttpFetcher {
 public:
  struct Options {
    absl::Duration connect_timeout = absl::Seconds(5);
    absl::Duration timeout = absl::Seconds(20);  // of a whole request
    size_t max_bytes = 1 << 20;                  // of a body, decoded; a larger one is an error
    size_t max_header_bytes = 64 << 10;          // of all headers of a request; more is an error
    int connections = 64;                        // to one server at a time
    int streams = 256;                           // of one HTTP/2 connection
  };
  struct Request {
    std::string url;  // http or https; a redirect from https leads to https alone
    std::shared_ptr<const UpstreamAccess> access;  // null: nobody, and the system's authorities
    absl::Duration delay;                          // before it is sent
    std::function<void(HttpReply)> done;  // called once, on the fetcher's thread, which it must not hold up
  };

  explicit HttpFetcher(Options options);
  // What is under way is dropped: its `done` is not called.
  ~HttpFetcher();
  HttpFetcher(const HttpFetcher&) = delete;
  HttpFetcher& operator=(const HttpFetcher&) = delete;

  // Returns at once. Any thread, `done` too.
  void Fetch(std::vector<Request> requests);

 private:
  class Engine;
  const std::unique_ptr<Engine> engine_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_HTTP_FETCHER_H_
