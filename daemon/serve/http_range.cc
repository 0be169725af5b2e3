#include "daemon/serve/http_range.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

std::optional<int64_t> Digits(std::string_view text) {
  int64_t value = 0;
  const bool digits =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || !absl::SimpleAtoi(AbslView(text), &value)) return std::nullopt;
  return value;
}

}  // namespace

ParsedRange ParseRange(std::string_view header, int64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return {};
  header.remove_prefix(kUnit.size());
  const size_t dash = header.find('-');
  if (dash == header.npos) return {};
  const auto first = Digits(header.substr(0, dash)), last = Digits(header.substr(dash + 1));
  if (first && (last || dash + 1 == header.size())) {
    if (last && *last < *first) return {};
    if (*first >= size) return {RangeKind::kUnsatisfiable, {}};
    return {RangeKind::kPart, {*first, std::min(last.value_or(size - 1), size - 1) - *first + 1}};
  }
  if (dash == 0 && last) {
    if (*last == 0 || size == 0) return {RangeKind::kUnsatisfiable, {}};
    const int64_t length = std::min(*last, size);
    return {RangeKind::kPart, {size - length, length}};
  }
  return {};
}

HttpResponse FileResponse(const HttpRequest& request, UniqueFd fd, int64_t size, std::string_view etag) {
  HttpResponse response;
  const std::string quoted = absl::StrCat("\"", AbslView(etag), "\"");
  response.headers.emplace_back("Accept-Ranges", "bytes");
  response.headers.emplace_back("ETag", quoted);
  if (request.Header("If-None-Match") == quoted) {
    response.status = 304;
    return response;
  }
  const auto header = request.Header("Range");
  const auto if_range = request.Header("If-Range");
  const ParsedRange parsed =
      header && (!if_range || if_range == quoted) ? ParseRange(*header, size) : ParsedRange();
  if (parsed.kind == RangeKind::kUnsatisfiable) {
    response.status = 416;
    response.headers.emplace_back("Content-Range", absl::StrCat("bytes */", size));
    return response;
  }
  ByteRange range{0, size};
  if (parsed.kind == RangeKind::kPart) {
    range = parsed.range;
    response.status = 206;
    response.headers.emplace_back(
        "Content-Range", absl::StrCat("bytes ", range.first, "-", range.first + range.length - 1, "/", size));
  }
  response.file = HttpResponse::FileRange{std::move(fd), range.first, range.length};
  return response;
}

}  // namespace hydrant
