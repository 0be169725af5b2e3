// One HTTP exchange, as values. Knows nothing of sockets or of the library that speaks to them.
#ifndef HYDRANT_DAEMON_SERVE_HTTP_MESSAGE_H_
#define HYDRANT_DAEMON_SERVE_HTTP_MESSAGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"

namespace hydrant {

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // decoded, begins with '/', without the query
  std::string query;   // as sent, without '?'
  std::vector<std::pair<std::string, std::string>> headers;
  bool loopback = false;                  // the peer's address is this machine's loopback
  std::optional<int64_t> content_length;  // of a body that is announced by its length
  bool has_body = false;                  // also true for a chunked body

  // The first header of that name, whatever its case.
  std::optional<std::string_view> Header(std::string_view name) const;
};

struct HttpResponse {
  struct FileRange {
    UniqueFd fd;
    int64_t offset = 0, length = 0;  // bytes
  };
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::optional<FileRange> file;  // sent instead of `body`, by the kernel

  int64_t length() const { return file ? file->length : static_cast<int64_t>(body.size()); }
};

// "text" and a line break, as text/plain.
HttpResponse TextResponse(int status, std::string_view text);

// Takes the body of one request, block by block, in one thread at a time, and may block. Destroyed without
// Finish when the client went away: then nothing must remain of it.
class BodyReceiver {
 public:
  virtual ~BodyReceiver() = default;
  // After a fault of the body or of ours the receiver keeps it and Finish tells it; the rest of the body is
  // still read.
  virtual void Write(std::string_view bytes) = 0;
  // Once, after the last byte of a complete body.
  virtual HttpResponse Finish() = 0;
};

// What the headers alone decide, before "100 Continue" is sent.
using HttpDecision = std::variant<HttpResponse, std::unique_ptr<BodyReceiver>>;

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // nullopt: not a path of this handler. Must not block: it runs in a thread that serves many connections.
  // Any thread.
  virtual std::optional<HttpDecision> Handle(const HttpRequest& request) = 0;
};

// The path of a request target as sent, percent-decoded once, and its query. InvalidArgument: bad escape,
// NUL, or not a path.
absl::StatusOr<std::pair<std::string, std::string>> SplitTarget(std::string_view target);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_HTTP_MESSAGE_H_
