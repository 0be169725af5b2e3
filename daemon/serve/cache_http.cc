#include "daemon/serve/cache_http.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/serve/cache_http_upload.h"
#include "daemon/serve/http_range.h"
#include "daemon/serve/http_token.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "lib/nix/narinfo.h"

namespace hydrant {
namespace {

using Kind = CacheRoute::Kind;

HttpResponse Absent() {
  HttpResponse response = TextResponse(404, "not here");
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

HttpResponse Text(std::string_view type, std::string body, std::string_view caching) {
  HttpResponse response;
  response.headers.emplace_back("Content-Type", std::string(type));
  if (!caching.empty()) response.headers.emplace_back("Cache-Control", std::string(caching));
  response.body = std::move(body);
  return response;
}

// `open`: for anybody, so that a proxy may keep it for others too.
HttpResponse Caching(HttpResponse response, bool open, std::string_view how) {
  response.headers.emplace_back("Cache-Control",
                                absl::StrCat(open ? "public, " : "private, ", AbslView(how)));
  if (!open) response.headers.emplace_back("Vary", "Authorization");
  return response;
}

bool MayReadStaged(const Identity& identity) {
  return identity.role == Role::kWorker || identity.role == Role::kOperator;
}

std::string_view PutName(const CacheRoute& route) {
  if (route.kind == Kind::kNar) return "put_nar";
  return route.kind == Kind::kNarInfo ? "put_narinfo" : "put_other";
}

// Counts a body and tells what became of it.
class Observed final : public BodyReceiver {
 public:
  Observed(std::unique_ptr<BodyReceiver> inner, std::string_view kind,
           std::function<void(const CacheAccess&)> observe)
      : inner_(std::move(inner)), kind_(kind), observe_(std::move(observe)) {}
  void Write(std::string_view bytes) override {
    received_ += static_cast<int64_t>(bytes.size());
    inner_->Write(bytes);
  }
  HttpResponse Finish() override {
    HttpResponse response = inner_->Finish();
    observe_({kind_, response.status, received_, response.length()});
    return response;
  }

 private:
  std::unique_ptr<BodyReceiver> inner_;
  const std::string_view kind_;
  const std::function<void(const CacheAccess&)> observe_;
  int64_t received_ = 0;
};

}  // namespace

std::optional<HttpDecision> CacheHttp::Handle(const HttpRequest& request) {
  const std::optional<CacheRoute> route = ParseCachePath(request.path);
  if (!route) return std::nullopt;
  HttpDecision decision = Decide(request, *route);
  if (!options_.observe) return decision;
  const std::string_view kind = request.method == "PUT" ? PutName(*route) : CacheRouteName(*route);
  if (auto* response = std::get_if<HttpResponse>(&decision)) {
    options_.observe({kind, response->status, 0, request.method == "HEAD" ? 0 : response->length()});
    return decision;
  }
  return std::make_unique<Observed>(std::get<std::unique_ptr<BodyReceiver>>(std::move(decision)), kind,
                                    options_.observe);
}

HttpDecision CacheHttp::Decide(const HttpRequest& request, const CacheRoute& route) {
  const std::optional<std::string> token = TokenOf(request);
  const absl::StatusOr<Identity> identity = options_.authenticator.Identify(token, request.loopback);
  if (!identity.ok()) return AskForToken(StdView(identity.status().message()));
  const bool put = request.method == "PUT";
  if (!put && request.method != "GET" && request.method != "HEAD") {
    HttpResponse response = TextResponse(405, "GET, HEAD and PUT are known here");
    response.headers.emplace_back("Allow", "GET, HEAD, PUT");
    return response;
  }
  if ((put || route.staged) && !token) return AskForToken("this needs a token");
  if (route.staged && !MayReadStaged(*identity)) {
    return TextResponse(403, absl::StrCat("what is staged is for workers; ", identity->name, " is none"));
  }
  if (put) return Put(request, route, *identity);
  Catalogue::Sees sees = Catalogue::Sees::kPublic;
  if (token && identity->role != Role::kNone) sees = Catalogue::Sees::kPublished;
  if (route.staged) sees = Catalogue::Sees::kStaged;
  return Read(request, route, *identity, sees);
}

HttpResponse CacheHttp::Read(const HttpRequest& request, const CacheRoute& route, const Identity& identity,
                             Catalogue::Sees sees) {
  switch (route.kind) {
    case Kind::kCacheInfo:
      return Text("text/x-nix-cache-info",
                  absl::StrCat("StoreDir: ", AbslView(nix::kStoreDir),
                               "\nWantMassQuery: 1\nPriority: ", options_.priority, "\n"),
                  route.staged ? "private, no-store" : "max-age=3600");
    case Kind::kNarInfo:
      return ReadNarInfo(route, sees);
    case Kind::kNar:
      return ReadNar(request, route, identity, sees);
    case Kind::kLog:
      return ReadLog(route, sees);
    case Kind::kPublicKey:
      return Text("text/plain; charset=utf-8",
                  (route.staged ? options_.internal : options_.release).PublicKey() + "\n", "no-store");
    case Kind::kListing:
      return Absent();
  }
  return Absent();
}

HttpResponse CacheHttp::ReadNarInfo(const CacheRoute& route, Catalogue::Sees sees) {
  const auto record = options_.catalogue.Find(route.name);
  if (record == nullptr || !Catalogue::Shows(*record, sees)) return Absent();
  nix::NarInfo info = NarInfoOf(*record);
  if (!route.staged) {
    return Caching(Text("text/x-nix-narinfo", nix::PrintNarInfo(info), ""),
                   record->tier == NarInfoTier::kPublic, "max-age=3600");
  }
  absl::StatusOr<std::string> signature = options_.internal.Sign(nix::Fingerprint(info));
  if (!signature.ok()) return TextResponse(503, StdView(signature.status().message()));
  info.signatures = {*std::move(signature)};
  return Text("text/x-nix-narinfo", nix::PrintNarInfo(info), "private, no-store");
}

HttpResponse CacheHttp::ReadNar(const HttpRequest& request, const CacheRoute& route, const Identity& identity,
                                Catalogue::Sees sees) {
  const absl::StatusOr<BlobName> name = BlobName::Parse(route.name);
  if (!name.ok()) return Absent();
  // Knowing a file's hash is no right to it; who may upload asks with HEAD whether it is here.
  const bool uploader = request.method == "HEAD" && MayReadStaged(identity);
  if (!uploader && !options_.catalogue.Refers(name->file_hash, sees)) return Absent();
  absl::StatusOr<BlobStore::Blob> blob = options_.blobs.Open(*name);
  if (absl::IsNotFound(blob.status())) {
    if (!uploader) Log(LogLevel::kError, "a blob is missing", {{"blob", route.name}});
    return Absent();
  }
  if (!blob.ok()) return TextResponse(503, StdView(blob.status().message()));
  HttpResponse response = FileResponse(request, std::move(blob->fd), blob->size, name->file_hash);
  response.headers.emplace_back("Content-Type", "application/x-nix-nar");
  const bool open = options_.catalogue.Refers(name->file_hash, Catalogue::Sees::kPublic);
  return Caching(std::move(response), open && !route.staged, "max-age=31536000, immutable");
}

HttpResponse CacheHttp::ReadLog(const CacheRoute& route, Catalogue::Sees sees) {
  const bool made_in_private = options_.catalogue.MadeInPrivate(route.name);
  if (made_in_private && sees == Catalogue::Sees::kPublic) return Absent();
  absl::StatusOr<StoredLog> log = options_.log(absl::StrCat(AbslView(nix::kStoreDir), "/", route.name));
  if (!log.ok())
    return absl::IsNotFound(log.status()) ? Absent() : TextResponse(503, StdView(log.status().message()));
  if (log->restricted && sees == Catalogue::Sees::kPublic) return Absent();
  HttpResponse response = Text("text/plain; charset=utf-8", "", "no-store");
  if (!log->content_encoding.empty())
    response.headers.emplace_back("Content-Encoding", log->content_encoding);
  response.file = HttpResponse::FileRange{std::move(log->fd), 0, log->size};
  return response;
}

HttpDecision CacheHttp::Put(const HttpRequest& request, const CacheRoute& route, const Identity& identity) {
  const bool by_worker = identity.role == Role::kWorker;
  if (!by_worker && identity.role != Role::kOperator) {
    return TextResponse(403, absl::StrCat("uploads need a token of an operator or a worker; ", identity.name,
                                          " is a ", AbslView(RoleName(identity.role))));
  }
  if (route.staged || route.kind == Kind::kListing || route.kind == Kind::kLog ||
      route.kind == Kind::kPublicKey) {
    HttpResponse response = TextResponse(405, "this is not taken from uploads: leave it out");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  std::optional<UploadLease> lease;
  if (by_worker) {
    absl::StatusOr<UploadLease> named = LeaseOf(request);
    if (!named.ok()) return UploadFault(named.status(), /*late=*/false, by_worker);
    lease = *named;
    if (const absl::Status may = options_.rights.MayUpload(lease->attempt, lease->token, ""); !may.ok()) {
      return UploadFault(may, /*late=*/false, by_worker);
    }
  }
  if (!request.content_length) return TextResponse(411, "an upload says its Content-Length");
  if (route.kind == Kind::kNar) return PutNar(request, route, by_worker);
  if (*request.content_length > (1 << 20)) return TextResponse(413, "the body is larger than 1 MiB");
  if (route.kind == Kind::kCacheInfo) return ReceiveCacheInfo();
  return ReceiveNarInfo({options_.publisher, options_.rights, route.name,
                         std::string(request.Header("Content-Encoding").value_or("")), lease});
}

HttpDecision CacheHttp::PutNar(const HttpRequest& request, const CacheRoute& route, bool by_worker) {
  const absl::StatusOr<BlobName> name = BlobName::Parse(route.name);
  if (!name.ok()) return UploadFault(name.status(), /*late=*/false, by_worker);
  if (*request.content_length > options_.max_nar_file) {
    return TextResponse(413, absl::StrCat("the file is larger than ", options_.max_nar_file, " bytes"));
  }
  if (options_.blobs.Has(*name)) return TextResponse(201, "it is here already");
  absl::StatusOr<std::unique_ptr<NarIntake::Upload>> upload =
      options_.intake.Begin(*name, *request.content_length);
  if (!upload.ok()) return UploadFault(upload.status(), /*late=*/false, by_worker);
  return ReceiveNar(*std::move(upload), by_worker);
}

}  // namespace hydrant
