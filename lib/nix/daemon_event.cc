#include "lib/nix/daemon_event.h"

#include <iterator>

namespace hydrant::nix {
namespace {

constexpr uint64_t kFirst = 100;
constexpr std::string_view kActivities[] = {
    "copy-path",       "file-transfer",  "realise",      "copy-paths",    "builds",
    "build",           "optimise-store", "verify-paths", "substitute",    "query-path-info",
    "post-build-hook", "build-waiting",  "fetch-tree",   "fetch-to-store"};
constexpr std::string_view kResults[] = {
    "file-linked", "build-log-line", "untrusted-path",      "corrupted-path", "set-phase",
    "progress",    "set-expected",   "post-build-log-line", "fetch-status",   "fetch-to-store"};

template <size_t N>
std::string_view NameIn(const std::string_view (&names)[N], uint64_t number) {
  return number >= kFirst && number - kFirst < N ? names[number - kFirst] : "unknown";
}

}  // namespace

std::string_view ActivityTypeName(ActivityType type) {
  return NameIn(kActivities, static_cast<uint64_t>(type));
}

std::string_view ResultTypeName(ResultType type) { return NameIn(kResults, static_cast<uint64_t>(type)); }

}  // namespace hydrant::nix
