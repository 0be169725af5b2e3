#include "worker/push/narinfo_lookup.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/signing_key.h"

namespace hydrant::worker {
namespace {

constexpr int kParallel = 4;

absl::Status CheckSignature(const nix::NarInfo& info, const CacheKeys& cache) {
  const std::string text = nix::Fingerprint(info);
  for (const std::string& key_text : cache.public_keys) {
    HYDRANT_ASSIGN_OR_RETURN(const nix::PublicKey key, nix::PublicKey::Parse(key_text));
    for (const std::string& signature : info.signatures) {
      if (key.Verify(text, signature)) return absl::OkStatus();
    }
  }
  return absl::PermissionDeniedError("none of its signatures is by a key that is trusted for this cache");
}

bool IsAbsolute(const std::string& url) {
  return absl::StartsWith(url, "http://") || absl::StartsWith(url, "https://");
}

}  // namespace

absl::StatusOr<LocatedPath> NarInfoLookup::Ask(const CacheKeys& cache, bool staged,
                                               const nix::StorePath& path, Cancellation& cancellation) const {
  const std::string base = absl::StrCat(cache.url, staged ? "/staged/" : "/");
  const std::string authorization = absl::StrCat("Authorization: Bearer ", access_.token);
  HttpRequest request{.url = absl::StrCat(base, AbslView(path.hash_part()), ".narinfo")};
  if (staged) request.headers.push_back(authorization);
  HYDRANT_ASSIGN_OR_RETURN(const HttpReply reply,
                           Retry(policy_, cancellation, [&] { return http_.Get(request, cancellation); }));
  if (reply.code == 404) return absl::NotFoundError(Describe(request.url, reply));
  if (reply.code != 200) return absl::UnavailableError(Describe(request.url, reply));
  auto info = nix::ParseNarInfo(reply.body);
  if (!info.ok()) return Annotate(info.status(), request.url);
  if (info->store_path != path) {
    return absl::DataLossError(absl::StrCat(request.url, " describes ", info->store_path.path()));
  }
  HYDRANT_RETURN_IF_ERROR(Annotate(CheckSignature(*info, cache), request.url));
  LocatedPath located{.info = *std::move(info)};
  located.nar.url = IsAbsolute(located.info.url) ? located.info.url : absl::StrCat(base, located.info.url);
  if (staged && absl::StartsWith(located.nar.url, base)) located.nar.headers.push_back(authorization);
  return located;
}

absl::StatusOr<LocatedPath> NarInfoLookup::Locate(const std::string& path, Cancellation& cancellation) const {
  HYDRANT_ASSIGN_OR_RETURN(const nix::StorePath store_path, nix::StorePath::Parse(path));
  std::string told;
  absl::StatusCode code = absl::StatusCode::kNotFound;
  for (size_t i = 0; i <= access_.substituters.size(); ++i) {
    const bool staged = i == 0;
    const CacheKeys& cache = staged ? access_.staged : access_.substituters[i - 1];
    auto located = Ask(cache, staged, store_path, cancellation);
    if (located.ok() || absl::IsCancelled(located.status())) return located;
    // "Absent" is the weakest answer: an error elsewhere may hide the path.
    if (!absl::IsNotFound(located.status())) code = located.status().code();
    absl::StrAppend(&told, told.empty() ? "" : "; ", located.status().message());
  }
  return absl::Status(code, absl::StrCat("fetch ", path, ": ", told));
}

absl::StatusOr<std::vector<LocatedPath>> NarInfoLookup::LocateAll(const std::vector<std::string>& paths,
                                                                  Cancellation& cancellation) const {
  std::vector<absl::StatusOr<LocatedPath>> found(paths.size(), absl::UnknownError("not asked"));
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < paths.size(); i = next++) found[i] = Locate(paths[i], cancellation);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min<size_t>(kParallel, paths.size()); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::vector<LocatedPath> result;
  for (auto& one : found) {
    HYDRANT_RETURN_IF_ERROR(one.status());
    result.push_back(*std::move(one));
  }
  return result;
}

}  // namespace hydrant::worker
