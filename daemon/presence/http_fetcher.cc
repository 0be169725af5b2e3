#include "daemon/presence/http_fetcher.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "lib/base/mutex.h"

namespace hydrant {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 1000;
constexpr long kMaxRedirects = 10;  // as Nix

long Milliseconds(absl::Duration duration) { return static_cast<long>(absl::ToInt64Milliseconds(duration)); }

// One request on its way. Stays where it is while curl has it.
struct Transfer {
  HttpFetcher::Request request;
  size_t max_bytes = 0, max_header_bytes = 0, header_bytes = 0;
  bool too_large = false;
  std::string body;
  char error[CURL_ERROR_SIZE] = "";
};

size_t TakeBody(char* data, size_t size, size_t count, void* to) {
  auto* transfer = static_cast<Transfer*>(to);
  const size_t bytes = size * count;
  transfer->too_large = transfer->body.size() + bytes > transfer->max_bytes;
  if (transfer->too_large) return 0;  // ends the transfer with an error
  transfer->body.append(data, bytes);
  return bytes;
}

size_t CountHeader(char*, size_t size, size_t count, void* to) {
  auto* transfer = static_cast<Transfer*>(to);
  transfer->header_bytes += size * count;
  transfer->too_large = transfer->header_bytes > transfer->max_header_bytes;
  return transfer->too_large ? 0 : size * count;
}

CURLM* NewMulti() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  return ready == CURLE_OK ? curl_multi_init() : nullptr;
}

void SetAccess(CURL* easy, const UpstreamAccess& access) {
  if (!access.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, access.ca_file.c_str());
  if (!access.netrc_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
    curl_easy_setopt(easy, CURLOPT_NETRC_FILE, access.netrc_file.c_str());
  }
  if (access.user.empty()) return;
  curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
  curl_easy_setopt(easy, CURLOPT_USERNAME, access.user.c_str());
  curl_easy_setopt(easy, CURLOPT_PASSWORD, access.password.c_str());
}

}  // namespace

class HttpFetcher::Engine {
 public:
  explicit Engine(Options options) : options_(options), multi_(NewMulti()) {
    if (multi_ == nullptr) return;
    curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(options_.connections));
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(2 * options_.connections));
    curl_multi_setopt(multi_, CURLMOPT_MAX_CONCURRENT_STREAMS, static_cast<long>(options_.streams));
    thread_ = std::thread([this] { Loop(); });
  }
  ~Engine() {
    if (multi_ == nullptr) return;
    {
      MutexLock lock(mu_);
      stop_ = true;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
    for (auto& [easy, transfer] : transfers_) {
      curl_multi_remove_handle(multi_, easy);
      curl_easy_cleanup(easy);
    }
    for (CURL* easy : idle_) curl_easy_cleanup(easy);
    curl_multi_cleanup(multi_);
  }

  void Take(std::vector<Request> requests) {
    if (requests.empty()) return;
    if (multi_ == nullptr) {
      for (Request& request : requests) request.done({.error = "no HTTP request can be made here"});
      return;
    }
    bool first = false;
    {
      MutexLock lock(mu_);
      first = inbox_.empty();
      for (Request& request : requests) inbox_.push_back(std::move(request));
    }
    if (first) curl_multi_wakeup(multi_);
  }

 private:
  // Everything below but inbox_ and stop_ is the thread's own.
  void Loop() {
    while (TakeInbox()) {
      StartDue();
      int running = 0;
      curl_multi_perform(multi_, &running);
      if (!FinishSome()) curl_multi_poll(multi_, nullptr, 0, Pause(), nullptr);
    }
  }

  bool TakeInbox() {
    std::vector<Request> taken;
    {
      MutexLock lock(mu_);
      if (stop_) return false;
      taken.swap(inbox_);
    }
    const Steady::time_point now = Steady::now();
    for (Request& request : taken) {
      if (request.delay <= absl::ZeroDuration()) {
        Start(std::move(request));
      } else {
        delayed_.emplace(now + absl::ToChronoNanoseconds(request.delay), std::move(request));
      }
    }
    return true;
  }

  void StartDue() {
    while (!delayed_.empty() && delayed_.begin()->first <= Steady::now()) {
      Start(std::move(delayed_.extract(delayed_.begin()).mapped()));
    }
  }

  int Pause() const {
    if (delayed_.empty()) return kPollMilliseconds;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(delayed_.begin()->first - Steady::now());
    return static_cast<int>(std::clamp<int64_t>(wait.count(), 0, kPollMilliseconds));
  }

  void Start(Request request);
  bool FinishSome();
  HttpReply ReplyOf(CURL* easy, CURLcode result, Transfer& transfer) const;

  const Options options_;
  CURLM* const multi_;
  std::thread thread_;
  std::map<CURL*, std::unique_ptr<Transfer>> transfers_;
  std::vector<CURL*> idle_;
  std::multimap<Steady::time_point, Request> delayed_;
  Mutex mu_;
  std::vector<Request> inbox_ ABSL_GUARDED_BY(mu_);
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
};

void HttpFetcher::Engine::Start(Request request) {
  CURL* easy = nullptr;
  if (idle_.empty()) {
    easy = curl_easy_init();
  } else {
    easy = idle_.back();
    idle_.pop_back();
  }
  if (easy == nullptr) return request.done({.error = "no HTTP request could be made"});
  auto owned = std::make_unique<Transfer>();
  Transfer& transfer = *owned;
  transfer.request = std::move(request);
  transfer.max_bytes = options_.max_bytes;
  transfer.max_header_bytes = options_.max_header_bytes;
  const bool secure = absl::StartsWithIgnoreCase(transfer.request.url, "https:");
  curl_easy_setopt(easy, CURLOPT_URL, transfer.request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(easy, CURLOPT_MAXREDIRS, kMaxRedirects);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Rather one HTTP/2 connection than many. Without TLS there is none, and curl would wait for the first
  // reply.
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, secure ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "hydrantd");
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, Milliseconds(options_.connect_timeout));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, Milliseconds(options_.timeout));
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.error);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, TakeBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, CountHeader);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
  if (transfer.request.access != nullptr) SetAccess(easy, *transfer.request.access);
  if (curl_multi_add_handle(multi_, easy) == CURLM_OK) {
    transfers_[easy] = std::move(owned);
    return;
  }
  curl_easy_cleanup(easy);
  transfer.request.done({.error = "no HTTP request could be made"});
}

bool HttpFetcher::Engine::FinishSome() {
  bool finished = false;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode result = message->data.result;
    const std::unique_ptr<Transfer> transfer = std::move(transfers_.extract(easy).mapped());
    HttpReply reply = ReplyOf(easy, result, *transfer);
    curl_multi_remove_handle(multi_, easy);
    curl_easy_reset(easy);
    idle_.push_back(easy);
    transfer->request.done(std::move(reply));
    finished = true;
  }
  return finished;
}

HttpReply HttpFetcher::Engine::ReplyOf(CURL* easy, CURLcode result, Transfer& transfer) const {
  HttpReply reply;
  if (transfer.too_large) {
    reply.error = transfer.header_bytes > options_.max_header_bytes
                      ? "its headers are larger than " + std::to_string(options_.max_header_bytes) + " bytes"
                      : "the reply is larger than " + std::to_string(options_.max_bytes) + " bytes";
  } else if (result != CURLE_OK) {
    reply.error = transfer.error[0] != '\0' ? transfer.error : curl_easy_strerror(result);
  } else {
    long status = 0;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after);
    reply.status = static_cast<int>(status);
    reply.body = std::move(transfer.body);
    reply.retry_after = absl::Seconds(retry_after);
  }
  return reply;
}

HttpFetcher::HttpFetcher(Options options) : engine_(std::make_unique<Engine>(options)) {}
HttpFetcher::~HttpFetcher() = default;

void HttpFetcher::Fetch(std::vector<Request> requests) { engine_->Take(std::move(requests)); }

}  // namespace hydrant
