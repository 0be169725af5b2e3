#include "daemon/serve/http_health.h"

#include "lib/base/status_macros.h"

namespace hydrant {

std::optional<HttpDecision> HealthHttp::Handle(const HttpRequest& request) {
  if (request.path != "/healthz" && request.path != "/readyz") return std::nullopt;
  const absl::Status status = request.path == "/readyz" ? ready_() : absl::OkStatus();
  HttpResponse response =
      status.ok() ? TextResponse(200, "ok") : TextResponse(503, StdView(status.message()));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace hydrant
