#include "daemon/presence/http_fetcher.h"

#include <curl/curl.h>

#include <map>
#include <utility>

namespace hydrant {
namespace {

constexpr int kPollMilliseconds = 1000;
constexpr long kMaxRedirects = 10;  // as Nix

struct Transfer {
  size_t number = 0;
  size_t max_bytes = 0;
  std::string body;
  char error[CURL_ERROR_SIZE] = "";
};

size_t TakeBody(char* data, size_t size, size_t count, void* to) {
  auto* transfer = static_cast<Transfer*>(to);
  const size_t bytes = size * count;
  if (transfer->body.size() + bytes > transfer->max_bytes) return 0;  // ends the transfer with an error
  transfer->body.append(data, bytes);
  return bytes;
}

CURLM* NewMulti() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  return ready == CURLE_OK ? curl_multi_init() : nullptr;
}

}  // namespace

struct HttpFetcher::State {
  explicit State(Options options) : options(std::move(options)), multi(NewMulti()) {}
  ~State() {
    for (auto& [easy, transfer] : transfers) {
      curl_multi_remove_handle(multi, easy);
      curl_easy_cleanup(easy);
    }
    if (multi != nullptr) curl_multi_cleanup(multi);
  }

  bool Start(const Request& request);
  HttpReply Finish(CURL* easy, CURLcode result);

  const Options options;
  CURLM* const multi;
  std::map<CURL*, Transfer> transfers;
};

bool HttpFetcher::State::Start(const Request& request) {
  CURL* easy = multi != nullptr ? curl_easy_init() : nullptr;
  if (easy == nullptr) return false;
  Transfer& transfer = transfers[easy];
  transfer.number = request.number;
  transfer.max_bytes = options.max_bytes;
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(easy, CURLOPT_MAXREDIRS, kMaxRedirects);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);  // rather one HTTP/2 connection than many
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "hydrantd");
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(absl::ToInt64Milliseconds(options.connect_timeout)));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(absl::ToInt64Milliseconds(options.timeout)));
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.error);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, TakeBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  if (!options.netrc_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
    curl_easy_setopt(easy, CURLOPT_NETRC_FILE, options.netrc_file.c_str());
  }
  if (curl_multi_add_handle(multi, easy) == CURLM_OK) return true;
  curl_easy_cleanup(easy);
  transfers.erase(easy);
  return false;
}

HttpReply HttpFetcher::State::Finish(CURL* easy, CURLcode result) {
  Transfer& transfer = transfers[easy];
  HttpReply reply;
  if (result == CURLE_OK) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    reply.status = static_cast<int>(status);
    reply.body = std::move(transfer.body);
  } else if (result == CURLE_WRITE_ERROR) {
    reply.error = "the reply is larger than " + std::to_string(options.max_bytes) + " bytes";
  } else {
    reply.error = transfer.error[0] != '\0' ? transfer.error : curl_easy_strerror(result);
  }
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  transfers.erase(easy);
  return reply;
}

HttpFetcher::HttpFetcher(Options options) : state_(std::make_unique<State>(std::move(options))) {}
HttpFetcher::~HttpFetcher() = default;

void HttpFetcher::Run(const std::function<std::optional<Request>()>& next,
                      const std::function<void(size_t, HttpReply)>& done) {
  for (;;) {
    while (const std::optional<Request> request = next()) {
      if (!state_->Start(*request)) done(request->number, {.error = "no HTTP request could be made"});
    }
    if (state_->transfers.empty()) return;
    int running = 0;
    curl_multi_perform(state_->multi, &running);
    bool finished = false;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(state_->multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL* const easy = message->easy_handle;
      const CURLcode result = message->data.result;
      const size_t number = state_->transfers[easy].number;
      done(number, state_->Finish(easy, result));
      finished = true;
    }
    if (!finished) curl_multi_poll(state_->multi, nullptr, 0, kPollMilliseconds, nullptr);
  }
}

}  // namespace hydrant
