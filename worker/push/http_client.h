// HTTP requests with streamed bodies. Knows nothing of Nix or of hydrantd. Any thread; a call belongs to one.
#ifndef HYDRANT_WORKER_PUSH_HTTP_CLIENT_H_
#define HYDRANT_WORKER_PUSH_HTTP_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/base/stream.h"
#include "worker/build/cancellation.h"

namespace hydrant::worker {

struct HttpReply {
  int code = 0;
  std::string body;  // at most 64 KiB; empty when it went to a sink
  std::optional<absl::Duration> retry_after;
};

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
};

struct HttpBody {
  Source* source = nullptr;
  uint64_t size = 0;  // bytes; sent as Content-Length
};

class HttpClient {
 public:
  struct Options {
    absl::Duration connect_timeout = absl::Seconds(10);
    // No byte for so long: the transfer failed. Longer than a server may need to verify an upload (Nix allows
    // 300 s).
    absl::Duration stall_timeout = absl::Seconds(330);
  };
  explicit HttpClient(Options options);
  ~HttpClient();

  // OK with any status code that the server sent. Unavailable: no or a broken connection, or a reply cut
  // short. Cancelled: `cancellation`. Redirects are followed.
  absl::StatusOr<HttpReply> Get(const HttpRequest& request, Cancellation& cancellation);
  // A body of status 200 goes to `sink` block by block, whose error ends the call with that error.
  absl::StatusOr<HttpReply> GetInto(const HttpRequest& request, Sink& sink, Cancellation& cancellation);
  absl::StatusOr<HttpReply> Head(const HttpRequest& request, Cancellation& cancellation);
  // Announces the body and sends it after "100 Continue"; a final status instead is the reply, and nothing is
  // sent.
  absl::StatusOr<HttpReply> Put(const HttpRequest& request, HttpBody body, Cancellation& cancellation);

 private:
  class Pool;
  class Call;
  Options options_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PUSH_HTTP_CLIENT_H_
