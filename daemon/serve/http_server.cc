#include "daemon/serve/http_server.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <sys/resource.h>

#include <cstdarg>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "daemon/serve/http_listen.h"
#include "daemon/serve/http_upload.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

// A body that came without "Expect: 100-continue" is on the wire already: up to this size it is read and
// dropped before an early answer, so that the client is not reset while it writes.
constexpr int64_t kDrain = 1 << 20;
// Slower bodies are cut off: bytes within one window.
constexpr int64_t kLeastBytesPerWindow = 60 << 10;
constexpr absl::Duration kRateWindow = absl::Seconds(60);
constexpr size_t kConnectionMemory = 32 << 10;

class Drop final : public BodyReceiver {
 public:
  explicit Drop(HttpResponse response) : response_(std::move(response)) {}
  void Write(std::string_view) override {}
  HttpResponse Finish() override { return std::move(response_); }

 private:
  HttpResponse response_;
};

// One request of one connection.
struct Exchange {
  explicit Exchange(std::string target) : target(std::move(target)) {}
  std::string target;
  bool seen = false, decided = false;
  std::shared_ptr<UploadStream> upload;
  absl::Time window_start = absl::InfinitePast();
  int64_t window_bytes = 0;
};

MHD_Result AddHeader(void* headers, MHD_ValueKind, const char* key, const char* value) {
  static_cast<std::vector<std::pair<std::string, std::string>>*>(headers)->emplace_back(
      key, value == nullptr ? "" : value);
  return MHD_YES;
}

HttpRequest ReadRequest(MHD_Connection* connection, const char* method) {
  HttpRequest request;
  request.method = method;
  MHD_get_connection_values(connection, MHD_HEADER_KIND, &AddHeader, &request.headers);
  const MHD_ConnectionInfo* peer = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  request.loopback = peer != nullptr && IsLoopback(peer->client_addr);
  int64_t length = 0;
  if (const auto text = request.Header("Content-Length");
      text && absl::SimpleAtoi(AbslView(*text), &length)) {
    request.content_length = length;
  }
  const bool chunked = request.Header("Transfer-Encoding").has_value();
  if (chunked) request.content_length.reset();
  request.has_body = chunked || length > 0;
  return request;
}

bool AnnouncesBody(MHD_Connection* connection) {
  return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length") != nullptr ||
         MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding") != nullptr;
}

MHD_Result Queue(MHD_Connection* connection, HttpResponse response) {
  MHD_Response* out = nullptr;
  if (response.file && response.file->length > 0) {
    out = MHD_create_response_from_fd_at_offset64(static_cast<uint64_t>(response.file->length),
                                                  response.file->fd.Release(),
                                                  static_cast<uint64_t>(response.file->offset));
  } else {
    out = MHD_create_response_from_buffer(response.body.size(), response.body.data(), MHD_RESPMEM_MUST_COPY);
  }
  if (out == nullptr) return MHD_NO;
  for (const auto& [key, value] : response.headers) MHD_add_response_header(out, key.c_str(), value.c_str());
  const MHD_Result queued = MHD_queue_response(connection, static_cast<unsigned>(response.status), out);
  MHD_destroy_response(out);
  return queued;
}

void LogLibrary(void*, const char* format, va_list arguments) {
  char text[512];
  vsnprintf(text, sizeof text, format, arguments);
  std::string_view line(text);
  while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  Log(LogLevel::kDebug, "http connection", {{"message", line}});
}

void RaiseFileLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

class HttpServer::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)), pool_(options_.upload_threads) {}
  absl::Status Start();
  void Stop(absl::Duration grace);
  int port() const { return port_; }

 private:
  static void* OnTarget(void*, const char* target, MHD_Connection*) { return new Exchange(target); }
  static MHD_Result OnRequest(void* self, MHD_Connection* connection, const char* url, const char* method,
                              const char* version, const char* data, size_t* size, void** state);
  static void OnCompleted(void* self, MHD_Connection*, void** state, MHD_RequestTerminationCode);

  HttpDecision Decide(const HttpRequest& request);
  MHD_Result Begin(Exchange& exchange, MHD_Connection* connection, const char* method);
  MHD_Result Continue(Exchange& exchange, MHD_Connection* connection, const char* data, size_t* size);
  bool TooSlow(Exchange& exchange, size_t bytes);
  bool Admit(const std::shared_ptr<UploadStream>& upload);
  void Forget(const std::shared_ptr<UploadStream>& upload);

  const Options options_;
  int port_ = 0;
  MHD_Daemon* daemon_ = nullptr;
  UploadPool pool_;
  Mutex mu_;
  CondVar fewer_;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  std::set<std::shared_ptr<UploadStream>> uploads_ ABSL_GUARDED_BY(mu_);
};

absl::Status HttpServer::Impl::Start() {
  HYDRANT_ASSIGN_OR_RETURN(UniqueFd listener, ListenOn(options_.listen));
  HYDRANT_ASSIGN_OR_RETURN(port_, PortOf(listener.get()));
  RaiseFileLimit();
  daemon_ = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, nullptr, nullptr,
      &OnRequest, this, MHD_OPTION_EXTERNAL_LOGGER, &LogLibrary, nullptr, MHD_OPTION_LISTEN_SOCKET,
      listener.get(), MHD_OPTION_THREAD_POOL_SIZE, static_cast<unsigned>(options_.threads),
      MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(options_.max_connections),
      MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(absl::ToInt64Seconds(options_.idle_timeout)),
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, MHD_OPTION_URI_LOG_CALLBACK, &OnTarget, this,
      MHD_OPTION_NOTIFY_COMPLETED, &OnCompleted, this, MHD_OPTION_END);
  if (daemon_ == nullptr)
    return absl::InternalError(absl::StrCat("start the HTTP server on ", options_.listen));
  listener.Release();
  return absl::OkStatus();
}

void HttpServer::Impl::Stop(absl::Duration grace) {
  if (daemon_ == nullptr) return;
  std::vector<std::shared_ptr<UploadStream>> left;
  {
    const absl::Time deadline = absl::Now() + grace;
    MutexLock lock(mu_);
    draining_ = true;
    while (!uploads_.empty() && absl::Now() < deadline) fewer_.WaitFor(mu_, deadline - absl::Now());
    left.assign(uploads_.begin(), uploads_.end());
  }
  for (const auto& upload : left) upload->Cancel();  // resumes its connection, which then closes
  pool_.Stop();
  MHD_stop_daemon(daemon_);
  daemon_ = nullptr;
}

HttpDecision HttpServer::Impl::Decide(const HttpRequest& request) {
  for (HttpHandler* handler : options_.handlers) {
    if (std::optional<HttpDecision> decision = handler->Handle(request)) return *std::move(decision);
  }
  HttpResponse absent = TextResponse(404, "there is nothing at this path");
  absent.headers.emplace_back("Cache-Control", "no-store");
  return absent;
}

MHD_Result HttpServer::Impl::Begin(Exchange& exchange, MHD_Connection* connection, const char* method) {
  exchange.decided = true;
  HttpRequest request = ReadRequest(connection, method);
  HttpDecision decision = HttpResponse();
  if (auto split = SplitTarget(exchange.target); split.ok()) {
    std::tie(request.path, request.query) = *std::move(split);
    decision = Decide(request);
  } else {
    decision = TextResponse(400, StdView(split.status().message()));
  }
  std::unique_ptr<BodyReceiver> receiver;
  if (auto* response = std::get_if<HttpResponse>(&decision)) {
    const bool expects = request.Header("Expect").has_value();
    const bool drain =
        request.has_body && !expects && request.content_length && *request.content_length <= kDrain;
    if (!drain) return Queue(connection, std::move(*response));
    receiver = std::make_unique<Drop>(std::move(*response));
  } else {
    receiver = std::move(std::get<std::unique_ptr<BodyReceiver>>(decision));
  }
  auto upload = std::make_shared<UploadStream>(
      pool_, std::move(receiver), [connection] { MHD_suspend_connection(connection); },
      [connection] { MHD_resume_connection(connection); });
  if (!Admit(upload)) {
    HttpResponse busy = TextResponse(503, "too many uploads at once, or the server is stopping: try again");
    busy.headers.emplace_back("Retry-After", "2");
    return Queue(connection, std::move(busy));
  }
  exchange.upload = std::move(upload);
  exchange.window_start = absl::Now();
  return MHD_YES;
}

MHD_Result HttpServer::Impl::Continue(Exchange& exchange, MHD_Connection* connection, const char* data,
                                      size_t* size) {
  if (exchange.upload == nullptr || exchange.upload->cancelled()) return MHD_NO;
  if (*size > 0) {
    const size_t taken = exchange.upload->Feed({data, *size});
    *size -= taken;
    return TooSlow(exchange, taken) ? MHD_NO : MHD_YES;
  }
  std::optional<HttpResponse> response = exchange.upload->End();
  return response ? Queue(connection, *std::move(response)) : MHD_YES;
}

bool HttpServer::Impl::TooSlow(Exchange& exchange, size_t bytes) {
  exchange.window_bytes += static_cast<int64_t>(bytes);
  const absl::Time now = absl::Now();
  if (now - exchange.window_start < kRateWindow) return false;
  const bool slow = exchange.window_bytes < kLeastBytesPerWindow;
  exchange.window_start = now;
  exchange.window_bytes = 0;
  return slow;
}

bool HttpServer::Impl::Admit(const std::shared_ptr<UploadStream>& upload) {
  MutexLock lock(mu_);
  if (draining_ || uploads_.size() >= static_cast<size_t>(options_.max_uploads)) return false;
  uploads_.insert(upload);
  return true;
}

void HttpServer::Impl::Forget(const std::shared_ptr<UploadStream>& upload) {
  MutexLock lock(mu_);
  uploads_.erase(upload);
  if (uploads_.empty()) fewer_.NotifyAll();
}

MHD_Result HttpServer::Impl::OnRequest(void* self, MHD_Connection* connection, const char*,
                                       const char* method, const char*, const char* data, size_t* size,
                                       void** state) {
  auto& exchange = *static_cast<Exchange*>(*state);
  auto& impl = *static_cast<Impl*>(self);
  // An answer to the first call, which has headers only, closes the connection: without a body the second
  // call is in time.
  if (!std::exchange(exchange.seen, true) && !AnnouncesBody(connection)) return MHD_YES;
  if (!exchange.decided) return impl.Begin(exchange, connection, method);
  return impl.Continue(exchange, connection, data, size);
}

void HttpServer::Impl::OnCompleted(void* self, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
  std::unique_ptr<Exchange> exchange(static_cast<Exchange*>(std::exchange(*state, nullptr)));
  if (exchange == nullptr || exchange->upload == nullptr) return;
  exchange->upload->Cancel();
  static_cast<Impl*>(self)->Forget(exchange->upload);
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  HYDRANT_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { impl_->Stop(absl::ZeroDuration()); }
int HttpServer::port() const { return impl_->port(); }
void HttpServer::Stop(absl::Duration grace) { impl_->Stop(grace); }

}  // namespace hydrant
