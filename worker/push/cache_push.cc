#include "worker/push/cache_push.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/narinfo.h"
#include "worker/push/compressed_nar.h"

namespace hydrant::worker {
namespace {

absl::StatusOr<nix::NarInfo> Describe(const nix::PathInfo& path, const CompressedNar& nar) {
  HYDRANT_ASSIGN_OR_RETURN(nix::StorePath store_path, nix::StorePath::Parse(path.path));
  nix::NarInfo info{.store_path = std::move(store_path)};
  info.url = absl::StrCat("nar/", nar.hash().ToBase32(), ".nar.zst");
  info.compression = "zstd";
  info.file_hash = nar.hash();
  info.file_size = nar.size();
  info.nar_hash = path.nar_hash;
  info.nar_size = path.nar_size;
  for (const std::string& reference : path.references) {
    HYDRANT_ASSIGN_OR_RETURN(nix::StorePath parsed, nix::StorePath::Parse(reference));
    info.references.push_back(std::move(parsed));
  }
  if (!path.deriver.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(const nix::StorePath deriver, nix::StorePath::Parse(path.deriver));
    info.deriver = deriver.base_name();
  }
  info.content_address = path.content_address;
  return info;
}

absl::Status Refusal(const std::string& path, const std::string& url, const HttpReply& reply) {
  const std::string text = absl::StrCat("push ", path, ": ", hydrant::worker::Describe(url, reply));
  if (reply.code >= 500 || reply.code == 429) return absl::UnavailableError(text);
  return absl::FailedPreconditionError(text);
}

bool Accepted(const HttpReply& reply) { return reply.code >= 200 && reply.code < 300; }

}  // namespace

std::vector<std::string> CachePush::Headers(const std::string& content_type) const {
  return {absl::StrCat("Authorization: Bearer ", access_.token),
          absl::StrCat("Hydrant-Attempt: ", access_.attempt_id),
          absl::StrCat("Hydrant-Token: ", access_.lease_token), absl::StrCat("Content-Type: ", content_type)};
}

absl::StatusOr<bool> CachePush::IsThere(const std::string& path) {
  HYDRANT_ASSIGN_OR_RETURN(const nix::StorePath parsed, nix::StorePath::Parse(path));
  const HttpRequest request{
      .url = absl::StrCat(access_.staged.url, "/staged/", AbslView(parsed.hash_part()), ".narinfo"),
      .headers = {absl::StrCat("Authorization: Bearer ", access_.token)}};
  HYDRANT_ASSIGN_OR_RETURN(const HttpReply reply,
                           Retry(policy_, cancellation_, [&] { return http_.Head(request, cancellation_); }));
  if (reply.code == 200) return true;
  if (reply.code == 404) return false;
  return Refusal(path, request.url, reply);
}

absl::StatusOr<HttpReply> CachePush::PutText(const std::string& url, const std::string& text) {
  const HttpRequest request{.url = url, .headers = Headers("text/x-nix-narinfo")};
  return Retry(policy_, cancellation_, [&] {
    StringSource body(text);
    return http_.Put(request, {.source = &body, .size = text.size()}, cancellation_);
  });
}

absl::Status CachePush::PushAbsentReferences(const nix::PathInfo& info, const std::set<std::string>& wanted,
                                             bool& any) {
  any = false;
  for (const std::string& reference : info.references) {
    if (reference == info.path || visited_.contains(reference)) continue;
    HYDRANT_ASSIGN_OR_RETURN(const bool there, IsThere(reference));
    if (there) continue;
    any = true;
    HYDRANT_RETURN_IF_ERROR(PushPath(reference, wanted));
  }
  return absl::OkStatus();
}

absl::Status CachePush::Upload(const nix::PathInfo& info, const std::set<std::string>& wanted) {
  HYDRANT_ASSIGN_OR_RETURN(const CompressedNar nar, CompressedNar::Make(session_, info, spool_));
  HYDRANT_ASSIGN_OR_RETURN(const nix::NarInfo described, Describe(info, nar));
  const HttpRequest request{.url = absl::StrCat(access_.staged.url, "/", described.url),
                            .headers = Headers("application/x-nix-nar")};
  HYDRANT_ASSIGN_OR_RETURN(
      const HttpReply sent, Retry(policy_, cancellation_, [&]() -> absl::StatusOr<HttpReply> {
        HYDRANT_ASSIGN_OR_RETURN(const std::unique_ptr<Source> body, nar.Open());
        return http_.Put(request, {.source = body.get(), .size = nar.size()}, cancellation_);
      }));
  if (!Accepted(sent)) return Refusal(info.path, request.url, sent);

  const std::string url =
      absl::StrCat(access_.staged.url, "/", AbslView(described.store_path.hash_part()), ".narinfo");
  const std::string text = nix::PrintNarInfo(described);
  HYDRANT_ASSIGN_OR_RETURN(HttpReply reply, PutText(url, text));
  if (reply.code == 409) {
    bool any = false;
    HYDRANT_RETURN_IF_ERROR(PushAbsentReferences(info, wanted, any));
    if (any) {
      HYDRANT_ASSIGN_OR_RETURN(reply, PutText(url, text));
    }
  }
  if (!Accepted(reply)) return Refusal(info.path, url, reply);
  ++result_.paths;
  result_.bytes += static_cast<int64_t>(nar.size());
  return absl::OkStatus();
}

absl::Status CachePush::PushPath(const std::string& path, const std::set<std::string>& wanted) {
  if (!visited_.insert(path).second) return absl::OkStatus();
  HYDRANT_ASSIGN_OR_RETURN(const nix::PathInfo info, session_.client().QueryPathInfo(path));
  // Outputs of one derivation may refer to each other.
  for (const std::string& reference : info.references) {
    if (wanted.contains(reference)) HYDRANT_RETURN_IF_ERROR(PushPath(reference, wanted));
  }
  HYDRANT_ASSIGN_OR_RETURN(const bool there, IsThere(path));
  return there ? absl::OkStatus() : Upload(info, wanted);
}

absl::StatusOr<PushResult> CachePush::Push(const std::vector<std::string>& paths) {
  const std::set<std::string> wanted(paths.begin(), paths.end());
  for (const std::string& path : wanted) HYDRANT_RETURN_IF_ERROR(PushPath(path, wanted));
  return result_;
}

}  // namespace hydrant::worker
