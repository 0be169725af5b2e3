#include "daemon/serve/cache_http_route.h"

#include <algorithm>

#include "lib/nix/hash.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

using Kind = CacheRoute::Kind;

bool Skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool IsNarFile(std::string_view name) {
  constexpr size_t kHash = 52;
  if (name.size() < kHash || !nix::FromBase32(name.substr(0, kHash), 32).ok()) return false;
  std::string_view rest = name.substr(kHash);
  if (!Skip(rest, ".nar")) return false;
  if (rest.empty()) return true;
  return rest.size() >= 2 && rest.size() <= 6 && rest[0] == '.' &&
         std::all_of(rest.begin() + 1, rest.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

}  // namespace

std::optional<CacheRoute> ParseCachePath(std::string_view path) {
  CacheRoute route;
  route.staged = Skip(path, "/staged/");
  if (!route.staged && !Skip(path, "/")) return std::nullopt;
  const auto found = [&route](Kind kind, std::string_view name) {
    route.kind = kind;
    route.name = std::string(name);
    return route;
  };
  if (path == "nix-cache-info") return found(Kind::kCacheInfo, "");
  if (path == "public-key") return found(Kind::kPublicKey, "");
  if (Skip(path, "nar/")) return IsNarFile(path) ? std::optional(found(Kind::kNar, path)) : std::nullopt;
  if (Skip(path, "log/")) {
    const auto derivation = nix::StorePath::FromBaseName(path);
    return derivation.ok() && derivation->is_derivation() ? std::optional(found(Kind::kLog, path))
                                                          : std::nullopt;
  }
  const std::string_view hash_part = path.substr(0, nix::kHashPartLength);
  if (!nix::IsHashPart(hash_part)) return std::nullopt;
  const std::string_view rest = path.substr(hash_part.size());
  if (rest == ".narinfo") return found(Kind::kNarInfo, hash_part);
  if (rest == ".ls") return found(Kind::kListing, hash_part);
  return std::nullopt;
}

std::string_view CacheRouteName(const CacheRoute& route) {
  switch (route.kind) {
    case Kind::kCacheInfo:
      return route.staged ? "staged_cache_info" : "cache_info";
    case Kind::kNarInfo:
      return route.staged ? "staged_narinfo" : "narinfo";
    case Kind::kNar:
      return route.staged ? "staged_nar" : "nar";
    case Kind::kListing:
      return route.staged ? "staged_listing" : "listing";
    case Kind::kLog:
      return route.staged ? "staged_log" : "log";
    case Kind::kPublicKey:
      return route.staged ? "staged_public_key" : "public_key";
  }
  return "unknown";
}

}  // namespace hydrant
