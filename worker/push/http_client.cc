#include "worker/push/http_client.h"

#include <curl/curl.h>
#include <strings.h>

#include <span>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/base/mutex.h"
#include "lib/base/status_macros.h"

namespace hydrant::worker {
namespace {

constexpr size_t kMaxBody = 64 << 10;

// "Retry-After: 3"; a date is not read.
std::optional<absl::Duration> ParseRetryAfter(std::string_view line) {
  constexpr std::string_view kName = "retry-after:";
  if (line.size() <= kName.size() || strncasecmp(line.data(), kName.data(), kName.size()) != 0)
    return std::nullopt;
  int seconds = 0;
  if (!absl::SimpleAtoi(AbslView(line.substr(kName.size())), &seconds) || seconds < 0) return std::nullopt;
  return absl::Seconds(seconds);
}

}  // namespace

// Idle handles, so that connections are kept.
class HttpClient::Pool {
 public:
  Pool() { curl_global_init(CURL_GLOBAL_DEFAULT); }
  ~Pool() {
    for (CURL* handle : idle_) curl_easy_cleanup(handle);
  }
  CURL* Take() {
    MutexLock lock(mu_);
    if (idle_.empty()) return curl_easy_init();
    CURL* handle = idle_.back();
    idle_.pop_back();
    return handle;
  }
  void Return(CURL* handle) {
    curl_easy_reset(handle);
    MutexLock lock(mu_);
    idle_.push_back(handle);
  }

 private:
  Mutex mu_;
  std::vector<CURL*> idle_ ABSL_GUARDED_BY(mu_);
};

// One request. curl calls back in Perform's thread.
class HttpClient::Call {
 public:
  Call(HttpClient& client, const HttpRequest& request, Cancellation& cancellation)
      : pool_(*client.pool_), handle_(pool_.Take()), cancellation_(cancellation), url_(request.url) {
    for (const std::string& header : request.headers) Add(header);
    Set(CURLOPT_URL, url_.c_str());
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_FOLLOWLOCATION, 1L);
    Set(CURLOPT_MAXREDIRS, 10L);
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    Set(CURLOPT_ERRORBUFFER, error_);
    Set(CURLOPT_CONNECTTIMEOUT_MS, absl::ToInt64Milliseconds(client.options_.connect_timeout));
    Set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    Set(CURLOPT_LOW_SPEED_TIME, absl::ToInt64Seconds(client.options_.stall_timeout));
    Set(CURLOPT_USERAGENT, "hydrant-worker");
    Set(CURLOPT_NOPROGRESS, 0L);
    Set(CURLOPT_XFERINFOFUNCTION, &Call::OnProgress);
    Set(CURLOPT_XFERINFODATA, this);
    Set(CURLOPT_HEADERFUNCTION, &Call::OnHeader);
    Set(CURLOPT_HEADERDATA, this);
    Set(CURLOPT_WRITEFUNCTION, &Call::OnBody);
    Set(CURLOPT_WRITEDATA, this);
  }
  ~Call() {
    pool_.Return(handle_);
    curl_slist_free_all(headers_);
  }

  void Head() { Set(CURLOPT_NOBODY, 1L); }
  void Into(Sink& sink) { sink_ = &sink; }
  void Send(HttpBody body) {
    body_ = body;
    Add("Expect: 100-continue");
    Set(CURLOPT_UPLOAD, 1L);
    Set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(body.size));
    Set(CURLOPT_READFUNCTION, &Call::OnRead);
    Set(CURLOPT_READDATA, this);
    Set(CURLOPT_EXPECT_100_TIMEOUT_MS, 10000L);
  }

  absl::StatusOr<HttpReply> Perform() {
    if (headers_ != nullptr) Set(CURLOPT_HTTPHEADER, headers_);
    const CURLcode code = curl_easy_perform(handle_);
    if (!failure_.ok()) return failure_;
    if (cancellation_.cancelled()) return absl::CancelledError(absl::StrCat("request ", url_, ": cancelled"));
    if (early_) return reply_;
    if (code != CURLE_OK) {
      return absl::UnavailableError(
          absl::StrCat("request ", url_, ": ", error_[0] != '\0' ? error_ : curl_easy_strerror(code)));
    }
    long status = 0;
    curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
    reply_.code = static_cast<int>(status);
    return std::move(reply_);
  }

 private:
  template <typename T>
  void Set(CURLoption option, T value) {
    curl_easy_setopt(handle_, option, value);
  }
  void Add(const std::string& header) { headers_ = curl_slist_append(headers_, header.c_str()); }

  static int OnProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Call*>(self)->cancellation_.cancelled() ? 1 : 0;
  }

  static size_t OnHeader(char* data, size_t, size_t size, void* self) {
    return static_cast<Call*>(self)->Header({data, size}) ? size : 0;
  }
  // False ends the transfer: a success came before the body was asked for, and curl would send it all the
  // same.
  bool Header(std::string_view line) {
    if (line.starts_with("HTTP/")) {
      const size_t blank = line.find(' ');
      if (blank != std::string_view::npos) reply_.code = atoi(line.data() + blank + 1);
    }
    if (const auto wait = ParseRetryAfter(line)) reply_.retry_after = wait;
    const bool ends = line == "\r\n" || line == "\n";
    early_ = ends && body_.source != nullptr && !asked_for_body_ && reply_.code >= 200 && reply_.code < 300;
    return !early_;
  }

  static size_t OnBody(char* data, size_t, size_t size, void* self) {
    return static_cast<Call*>(self)->Body({data, size}) ? size : 0;
  }
  bool Body(std::string_view bytes) {
    if (sink_ != nullptr && reply_.code == 200) {
      failure_ = sink_->Write(bytes);
      return failure_.ok();
    }
    reply_.body.append(bytes.substr(0, kMaxBody - std::min(kMaxBody, reply_.body.size())));
    return true;
  }

  static size_t OnRead(char* buffer, size_t, size_t size, void* self) {
    auto& call = *static_cast<Call*>(self);
    call.asked_for_body_ = true;
    const auto n = call.body_.source->Read(std::span<char>(buffer, size));
    if (!n.ok()) {
      call.failure_ = n.status();
      return CURL_READFUNC_ABORT;
    }
    return *n;
  }

  Pool& pool_;
  CURL* handle_;
  Cancellation& cancellation_;
  std::string url_;
  curl_slist* headers_ = nullptr;
  char error_[CURL_ERROR_SIZE] = "";
  HttpReply reply_;
  Sink* sink_ = nullptr;
  HttpBody body_;
  bool asked_for_body_ = false, early_ = false;
  absl::Status failure_;
};

HttpClient::HttpClient(Options options) : options_(options), pool_(std::make_unique<Pool>()) {}
HttpClient::~HttpClient() = default;

absl::StatusOr<HttpReply> HttpClient::Get(const HttpRequest& request, Cancellation& cancellation) {
  return Call(*this, request, cancellation).Perform();
}

absl::StatusOr<HttpReply> HttpClient::GetInto(const HttpRequest& request, Sink& sink,
                                              Cancellation& cancellation) {
  Call call(*this, request, cancellation);
  call.Into(sink);
  return call.Perform();
}

absl::StatusOr<HttpReply> HttpClient::Head(const HttpRequest& request, Cancellation& cancellation) {
  Call call(*this, request, cancellation);
  call.Head();
  return call.Perform();
}

absl::StatusOr<HttpReply> HttpClient::Put(const HttpRequest& request, HttpBody body,
                                          Cancellation& cancellation) {
  Call call(*this, request, cancellation);
  call.Send(body);
  return call.Perform();
}

}  // namespace hydrant::worker
