// /healthz: the process answers. /readyz: it can do its work.
#ifndef HYDRANT_DAEMON_SERVE_HTTP_HEALTH_H_
#define HYDRANT_DAEMON_SERVE_HTTP_HEALTH_H_

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "daemon/serve/http_message.h"

namespace hydrant {

class HealthHttp final : public HttpHandler {
 public:
  // `ready`: OK, or why not. Must not block. Any thread.
  explicit HealthHttp(std::function<absl::Status()> ready) : ready_(std::move(ready)) {}
  std::optional<HttpDecision> Handle(const HttpRequest& request) override;

 private:
  const std::function<absl::Status()> ready_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_HTTP_HEALTH_H_
