// Which thing of the binary cache a path means. Shapes are matched exactly; nothing else is a path of the
// cache.
#ifndef HYDRANT_DAEMON_SERVE_CACHE_HTTP_ROUTE_H_
#define HYDRANT_DAEMON_SERVE_CACHE_HTTP_ROUTE_H_

#include <optional>
#include <string>
#include <string_view>

namespace hydrant {

struct CacheRoute {
  enum class Kind { kCacheInfo, kNarInfo, kNar, kListing, kLog, kPublicKey };
  Kind kind = Kind::kCacheInfo;
  bool staged = false;  // under /staged/
  std::string
      name;  // of kNarInfo and kListing the hash part, of kNar the file name, of kLog the .drv's base name
};

// A file name of kNar has the shape HASH.nar[.EXTENSION]; whether the codec is one of ours is left to
// BlobName.
std::optional<CacheRoute> ParseCachePath(std::string_view path);

// The word for it in metrics: "cache_info", "narinfo", "nar", …, with "staged_" in front.
std::string_view CacheRouteName(const CacheRoute& route);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_CACHE_HTTP_ROUTE_H_
