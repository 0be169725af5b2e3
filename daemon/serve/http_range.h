// The Range header, as far as caches need it: one range of bytes.
#ifndef HYDRANT_DAEMON_SERVE_HTTP_RANGE_H_
#define HYDRANT_DAEMON_SERVE_HTTP_RANGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/serve/http_message.h"

namespace hydrant {

struct ByteRange {
  int64_t first = 0, length = 0;
};

enum class RangeKind { kWhole, kPart, kUnsatisfiable };
struct ParsedRange {
  RangeKind kind = RangeKind::kWhole;
  ByteRange range;
};

// Of a file of `size` bytes. What is not one well-formed range of bytes (several, another unit) means the
// whole, as RFC 9110 has it.
ParsedRange ParseRange(std::string_view header, int64_t size);

// 200, 206, 304 or 416 for a file that never changes under `etag` (without quotes).
HttpResponse FileResponse(const HttpRequest& request, UniqueFd fd, int64_t size, std::string_view etag);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_HTTP_RANGE_H_
