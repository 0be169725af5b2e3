// Many small GET requests at once over kept-alive connections (HTTP/2 where it is offered). Knows nothing of
// what is fetched.
#ifndef HYDRANT_DAEMON_PRESENCE_HTTP_FETCHER_H_
#define HYDRANT_DAEMON_PRESENCE_HTTP_FETCHER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace hydrant {

struct HttpReply {
  int status = 0;  // 0: there was no whole reply, and `error` says why
  std::string body, error;
};

class HttpFetcher {
 public:
  struct Options {
    absl::Duration connect_timeout = absl::Seconds(5);
    absl::Duration timeout = absl::Seconds(20);  // of a whole request
    size_t max_bytes = 1 << 20;                  // of a body; a larger one is an error
    std::string netrc_file;                      // empty: none
  };
  struct Request {
    size_t number = 0;  // the caller's
    std::string url;
  };

  explicit HttpFetcher(Options options);
  ~HttpFetcher();

  // Takes requests from `next` for as long as it gives some, again after each reply, and hands each reply to
  // `done`; returns when nothing is under way and `next` gives nothing. One thread at a time.
  void Run(const std::function<std::optional<Request>()>& next,
           const std::function<void(size_t number, HttpReply reply)>& done);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_HTTP_FETCHER_H_
