#include "worker/push/cache_fetch.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "worker/push/nar_download.h"

namespace hydrant::worker {
namespace {

constexpr size_t kParallel = 4;

using Missing = std::map<std::string, LocatedPath>;  // by path

// Level by level: what is missing of the paths, of their references, and so on.
absl::StatusOr<Missing> FindMissing(const NarInfoLookup& lookup, nix::DaemonClient& store,
                                    const std::vector<std::string>& paths, Cancellation& cancellation) {
  Missing missing;
  std::set<std::string> seen, level(paths.begin(), paths.end());
  while (!level.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(const std::set<std::string> valid, store.QueryValidPaths(level));
    std::vector<std::string> wanted;
    for (const std::string& path : level) {
      seen.insert(path);
      if (!valid.contains(path)) wanted.push_back(path);
    }
    HYDRANT_ASSIGN_OR_RETURN(std::vector<LocatedPath> located, lookup.LocateAll(wanted, cancellation));
    level.clear();
    for (LocatedPath& path : located) {
      for (const nix::StorePath& reference : path.info.references) {
        if (!seen.contains(reference.path())) level.insert(reference.path());
      }
      const std::string name = path.info.store_path.path();
      missing.emplace(name, std::move(path));
    }
  }
  return missing;
}

std::vector<const LocatedPath*> ReferencesFirst(const Missing& missing) {
  std::vector<const LocatedPath*> order;
  std::set<std::string> done;
  const std::function<void(const LocatedPath&)> visit = [&](const LocatedPath& path) {
    if (!done.insert(path.info.store_path.path()).second) return;
    for (const nix::StorePath& reference : path.info.references) {
      const auto it = missing.find(reference.path());
      if (it != missing.end()) visit(it->second);
    }
    order.push_back(&path);
  };
  for (const auto& [name, path] : missing) visit(path);
  return order;
}

nix::PathInfo ToPathInfo(const nix::NarInfo& info) {
  nix::PathInfo result{.path = info.store_path.path()};
  if (!info.deriver.empty()) result.deriver = absl::StrCat(AbslView(nix::kStoreDir), "/", info.deriver);
  result.nar_hash = info.nar_hash;
  result.nar_size = info.nar_size;
  for (const nix::StorePath& reference : info.references) result.references.insert(reference.path());
  result.signatures = info.signatures;
  result.content_address = info.content_address;
  return result;
}

absl::Status AddOne(nix::DaemonClient& store, const LocatedPath& path, NarDownload& download) {
  HYDRANT_ASSIGN_OR_RETURN(const bool valid, store.IsValidPath(path.info.store_path.path()));
  if (valid) return absl::OkStatus();  // another attempt was faster
  const absl::Status added = store.AddToStoreNar(ToPathInfo(path.info), download.source());
  if (added.ok()) return added;
  HYDRANT_RETURN_IF_ERROR(download.status());  // the first cause, when there is one
  return Annotate(added,
                  absl::StrCat("add ", path.info.store_path.path(), " from ", path.nar.url, " to the store"));
}

}  // namespace

absl::Status FetchClosure(HttpClient& http, StoreSession& session, const CacheAccess& access,
                          const RetryPolicy& policy, const std::vector<std::string>& paths,
                          Cancellation& cancellation) {
  nix::DaemonClient& store = session.client();
  for (const std::string& path : paths) HYDRANT_RETURN_IF_ERROR(store.AddTempRoot(path));
  const NarInfoLookup lookup(http, access, policy);
  HYDRANT_ASSIGN_OR_RETURN(const Missing missing, FindMissing(lookup, store, paths, cancellation));
  const std::vector<const LocatedPath*> order = ReferencesFirst(missing);

  Cancellation stop;  // also when one of them fails
  Cancellation::Hook outer(cancellation, [&stop] { stop.Cancel(); });
  std::deque<std::unique_ptr<NarDownload>> ahead;
  size_t begun = 0;
  absl::Status status;
  for (const LocatedPath* path : order) {
    while (begun < order.size() && ahead.size() < kParallel) {
      ahead.push_back(std::make_unique<NarDownload>(http, *order[begun++], policy, stop));
    }
    status = AddOne(store, *path, *ahead.front());
    if (!status.ok()) break;
    ahead.pop_front();
  }
  if (!status.ok()) stop.Cancel();
  ahead.clear();
  return cancellation.cancelled() ? absl::CancelledError("fetching was cancelled") : status;
}

}  // namespace hydrant::worker
