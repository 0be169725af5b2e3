// The HTTP/1.1 server: connections, phases and limits; what is answered is its handlers' business. On
// libmicrohttpd, which no other file includes. Why so: daemon/decisions/2026-12-01-http-server.md.
#ifndef HYDRANT_DAEMON_SERVE_HTTP_SERVER_H_
#define HYDRANT_DAEMON_SERVE_HTTP_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/serve/http_message.h"

namespace hydrant {

class HttpServer {
 public:
  struct Options {
    std::string listen;                  // "0.0.0.0:8580"; port 0: any free one
    std::vector<HttpHandler*> handlers;  // asked in this order; nobody: 404
    int threads = 2;                     // that serve connections and never block
    int upload_threads = 4;              // that run body receivers
    int max_connections = 4000;
    int max_uploads = 200;  // more get an early 503
    absl::Duration idle_timeout = absl::Seconds(60);
  };

  // InvalidArgument, AlreadyExists (port in use) or Internal; each names the address. Raises the soft limit
  // of open files.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options);
  ~HttpServer();  // Stop without grace

  int port() const;
  // Refuses new uploads with 503, lets those that began end within `grace`, then closes everything. Once.
  void Stop(absl::Duration grace);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_HTTP_SERVER_H_
