// For tests: the cache's HTTP side over a TestCache, asked without a socket.
#ifndef HYDRANT_DAEMON_SERVE_TEST_CACHE_HTTP_H_
#define HYDRANT_DAEMON_SERVE_TEST_CACHE_HTTP_H_

#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/cache/test_cache.h"
#include "daemon/serve/authenticator.h"
#include "daemon/serve/cache_http.h"
#include "daemon/serve/tokens_file.h"
#include "lib/base/file.h"

namespace hydrant {

// Attempt 7 with token 3 may upload `outputs`; older tokens of it are fenced, other attempts unknown.
class OneLease final : public UploadRights {
 public:
  absl::Status MayUpload(AttemptId attempt, LeaseToken token, std::string_view store_path) override {
    if (attempt.value != 7) return absl::PermissionDeniedError("no live lease of that attempt");
    if (token.value != 3) return absl::AbortedError("the lease's token is not current");
    if (store_path.empty() || outputs.contains(std::string(store_path))) return absl::OkStatus();
    return absl::PermissionDeniedError(
        absl::StrCat(std::string(store_path), " is no output of the leased step"));
  }
  std::set<std::string> outputs;
};

struct Reply {
  bool early = false;  // decided from the headers
  int status = 0;
  std::map<std::string, std::string> headers;
  std::string body;
};

struct TestCacheHttp {
  static constexpr std::string_view kOperator = "operator-token", kWorker = "worker-token",
                                    kReader = "reader-token";

  TestCacheHttp() {
    (void)AddToken(cache.dir / "tokens", "op", Role::kOperator, kOperator);
    (void)AddToken(cache.dir / "tokens", "w1", Role::kWorker, kWorker);
    (void)AddToken(cache.dir / "tokens", "rd", Role::kReader, kReader);
    authenticator = *Authenticator::Open(cache.dir / "tokens");
    http = std::make_unique<CacheHttp>(
        CacheHttp::Options{.catalogue = cache.catalogue,
                           .blobs = *cache.blobs,
                           .intake = cache.intake,
                           .publisher = cache.publisher,
                           .release = *cache.release,
                           .internal = *cache.internal,
                           .authenticator = *authenticator,
                           .rights = rights,
                           .log = [this](const std::string& derivation) { return Log(derivation); },
                           .observe = [this](const CacheAccess& access) { Observe(access); },
                           .max_nar_file = 32 << 20});
  }

  absl::StatusOr<StoredLog> Log(const std::string& derivation) {
    if (!logs.contains(derivation)) return absl::NotFoundError("no log");
    (void)WriteFileAtomically(cache.dir / "log", logs.at(derivation));
    return StoredLog{UniqueFd(open((cache.dir / "log").c_str(), O_RDONLY | O_CLOEXEC)),
                     static_cast<int64_t>(logs.at(derivation).size()), restricted_logs, ""};
  }
  void Observe(const CacheAccess& access) {
    MutexLock lock(mu);
    seen.push_back(absl::StrCat(std::string(access.kind), " ", access.code));
  }

  using Headers = std::vector<std::pair<std::string, std::string>>;
  Reply Ask(const std::string& method, const std::string& path, std::string_view token = "",
            Headers headers = {}, const std::string& body = "") {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.headers = std::move(headers);
    if (!token.empty())
      request.headers.emplace_back("Authorization", absl::StrCat("Bearer ", std::string(token)));
    if (method == "PUT") request.content_length = static_cast<int64_t>(body.size());
    std::optional<HttpDecision> decision = http->Handle(request);
    if (!decision) return {true, 404, {}, "no path of the cache"};
    if (auto* response = std::get_if<HttpResponse>(&*decision)) return ReplyOf(std::move(*response), true);
    auto& receiver = std::get<std::unique_ptr<BodyReceiver>>(*decision);
    receiver->Write(body);
    return ReplyOf(receiver->Finish(), false);
  }
  Reply Put(const std::string& path, const std::string& body, std::string_view token = kOperator,
            Headers headers = {}) {
    return Ask("PUT", path, token, std::move(headers), body);
  }
  // Both PUTs of a package; the last answer.
  Reply Upload(const Package& package, std::string_view token = kOperator, const Headers& headers = {}) {
    const Reply nar = Put("/" + package.info.url, package.file, token, headers);
    return nar.status == 201
               ? Put(absl::StrCat("/", package.hash_part(), ".narinfo"), package.narinfo(), token, headers)
               : nar;
  }

  static Reply ReplyOf(HttpResponse response, bool early) {
    Reply reply{early, response.status, {}, response.body};
    for (auto& [key, value] : response.headers) reply.headers[key] = value;
    if (response.file) {
      reply.body.resize(static_cast<size_t>(response.file->length));
      (void)pread(response.file->fd.get(), reply.body.data(), reply.body.size(), response.file->offset);
    }
    return reply;
  }

  static Headers Lease(int attempt = 7, int token = 3) {
    return {{"Hydrant-Attempt", std::to_string(attempt)}, {"Hydrant-Token", std::to_string(token)}};
  }

  TestCache cache;
  OneLease rights;
  std::map<std::string, std::string> logs;
  bool restricted_logs = false;
  Mutex mu;
  std::vector<std::string> seen ABSL_GUARDED_BY(mu);
  std::unique_ptr<Authenticator> authenticator;
  std::unique_ptr<CacheHttp> http;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_TEST_CACHE_HTTP_H_
