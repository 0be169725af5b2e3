// The Nix binary cache over HTTP: reading what is published, what is staged for workers, and uploads. Knows
// nothing of matrices and gates. Rules: the protocol as Nix 2.3 to 2.35 speak it; an answer is decided from
// the headers alone, a late one to stock Nix is never a 5xx, because old clients then retry with an empty
// body.
#ifndef HYDRANT_DAEMON_SERVE_CACHE_HTTP_H_
#define HYDRANT_DAEMON_SERVE_CACHE_HTTP_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/cache/blob_store.h"
#include "daemon/cache/catalogue.h"
#include "daemon/cache/nar_intake.h"
#include "daemon/cache/publisher.h"
#include "daemon/cache/signer.h"
#include "daemon/serve/authenticator.h"
#include "daemon/serve/cache_http_route.h"
#include "daemon/serve/http_message.h"
#include "daemon/serve/upload_rights.h"

namespace hydrant {

// One answered request, for metrics.
struct CacheAccess {
  std::string_view kind;  // "narinfo", "staged_nar", "put_nar", …: a constant
  int code = 0;
  int64_t received = 0, sent = 0;  // bytes of bodies
};

struct StoredLog {
  UniqueFd fd;
  int64_t size = 0;
  bool restricted = false;       // of something private: told to readers with a token only
  std::string content_encoding;  // empty: none
};

// What is private (NarInfoTier) is 404, as what is not there, for whoever brings no token: narinfo, NAR and
// log alike. Coming from loopback is no token here, since that is where the proxy in front of a cache asks
// from.
class CacheHttp final : public HttpHandler {
 public:
  struct Options {
    Catalogue& catalogue;
    BlobStore& blobs;
    NarIntake& intake;
    Publisher& publisher;
    Signer& release;
    Signer& internal;
    Authenticator& authenticator;
    UploadRights& rights;
    // The log of a derivation, by its .drv path. NotFound. Must not block.
    std::function<absl::StatusOr<StoredLog>(const std::string& derivation)> log;
    std::function<void(const CacheAccess&)> observe;  // may be empty; any thread
    int priority = 30;
    int64_t max_nar_file = int64_t{64} << 30;  // bytes of one uploaded file
  };
  explicit CacheHttp(Options options) : options_(std::move(options)) {}

  std::optional<HttpDecision> Handle(const HttpRequest& request) override;

 private:
  HttpDecision Decide(const HttpRequest& request, const CacheRoute& route);
  HttpResponse Read(const HttpRequest& request, const CacheRoute& route, const Identity& identity,
                    Catalogue::Sees sees);
  HttpResponse ReadNarInfo(const CacheRoute& route, Catalogue::Sees sees);
  HttpResponse ReadNar(const HttpRequest& request, const CacheRoute& route, const Identity& identity,
                       Catalogue::Sees sees);
  HttpResponse ReadLog(const CacheRoute& route, Catalogue::Sees sees);
  HttpDecision Put(const HttpRequest& request, const CacheRoute& route, const Identity& identity);
  HttpDecision PutNar(const HttpRequest& request, const CacheRoute& route, bool by_worker);

  const Options options_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_CACHE_HTTP_H_
