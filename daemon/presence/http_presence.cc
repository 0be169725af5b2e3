#include "daemon/presence/http_presence.h"

#include <deque>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/nix/narinfo.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

constexpr int kOk = 200, kNotFound = 404, kGone = 410, kRequestTimeout = 408, kTooManyRequests = 429,
              kServerError = 500;

bool MayBeMended(const HttpReply& reply) {
  return reply.status == 0 || reply.status == kRequestTimeout || reply.status == kTooManyRequests ||
         reply.status >= kServerError;
}

// What one cache's reply says of `path`.
Answer Judge(const std::string& cache, const std::string& path, const HttpReply& reply) {
  const auto unknown = [&](const std::string& why) {
    return Answer{.held = Held::kUnknown, .why = absl::StrCat(cache, ": ", why)};
  };
  if (reply.status == kNotFound || reply.status == kGone) return {.held = Held::kAbsent};
  if (reply.status == 0) return unknown(reply.error);
  if (reply.status != kOk) return unknown(absl::StrCat("HTTP ", reply.status));
  const auto info = nix::ParseNarInfo(reply.body);
  if (!info.ok()) return unknown(absl::StrCat("not a narinfo: ", info.status().message()));
  if (info->store_path.path() != path) {
    return unknown(absl::StrCat("the narinfo is of ", info->store_path.path(), ", not of ", path));
  }
  return {.held = Held::kPresent, .cache = cache};
}

}  // namespace

// One cache asked for some paths.
class HttpPresence::Round {
 public:
  Round(const Options& options, const Clock& clock, Cache& cache)
      : options_(options), clock_(clock), cache_(cache) {}

  std::map<std::string, Answer> Ask(const std::vector<std::string>& paths, HttpFetcher& fetcher) {
    const absl::Time now = clock_.Now();
    for (const std::string& path : paths) Recall(path, now);
    fetcher.Run([this] { return Next(); },
                [this](size_t number, HttpReply reply) { Take(number, std::move(reply)); });
    for (const size_t number : waiting_) {
      answers_[questions_[number].path] = {.why =
                                               absl::StrCat(cache_.url, ": not asked, it failed ",
                                                            options_.failures_to_pause, " times in a row")};
    }
    return std::move(answers_);
  }

 private:
  struct Question {
    std::string path, url;
    int tries = 0;
  };

  void Recall(const std::string& path, absl::Time now) {
    const auto found = cache_.remembered.find(path);
    if (found != cache_.remembered.end() && found->second.until > now) {
      answers_[path] = found->second.present ? Answer{.held = Held::kPresent, .cache = cache_.url}
                                             : Answer{.held = Held::kAbsent};
      return;
    }
    if (found != cache_.remembered.end()) cache_.remembered.erase(found);
    const auto parsed = nix::StorePath::Parse(path);
    if (!parsed.ok()) {
      answers_[path] = {.why = std::string(parsed.status().message())};
      return;
    }
    questions_.push_back(
        {path, absl::StrCat(cache_.base, "/", std::string(parsed->hash_part()), ".narinfo")});
    waiting_.push_back(questions_.size() - 1);
  }

  // A cache that just failed gets one request at a time until it answers.
  std::optional<HttpFetcher::Request> Next() {
    const int most = cache_.failures > 0 ? 1 : options_.in_flight;
    if (waiting_.empty() || under_way_ >= most || cache_.paused_until > clock_.Now()) return std::nullopt;
    const size_t number = waiting_.front();
    waiting_.pop_front();
    ++under_way_;
    ++questions_[number].tries;
    return HttpFetcher::Request{number, questions_[number].url};
  }

  void Take(size_t number, HttpReply reply) {
    --under_way_;
    const Question& question = questions_[number];
    Answer answer = Judge(cache_.url, question.path, reply);
    const absl::Time now = clock_.Now();
    if (answer.held == Held::kUnknown) {
      if (++cache_.failures >= options_.failures_to_pause) cache_.paused_until = now + options_.pause;
      if (MayBeMended(reply) && question.tries < options_.tries) {
        waiting_.push_back(number);
        return;
      }
    } else {
      const bool present = answer.held == Held::kPresent;
      cache_.failures = 0;
      cache_.remembered[question.path] = {present,
                                          now + (present ? options_.present_for : options_.absent_for)};
    }
    answers_[question.path] = std::move(answer);
  }

  const Options& options_;
  const Clock& clock_;
  Cache& cache_;
  std::vector<Question> questions_;
  std::deque<size_t> waiting_;
  int under_way_ = 0;
  std::map<std::string, Answer> answers_;
};

absl::StatusOr<std::unique_ptr<HttpPresence>> HttpPresence::Open(Options options, const Clock& clock) {
  std::vector<Cache> caches;
  for (const std::string& url : options.caches) {
    if (!absl::StartsWith(url, "http://") && !absl::StartsWith(url, "https://")) {
      return absl::InvalidArgumentError(absl::StrCat(
          "substituter \"", url, "\": expected an http:// or https:// URL, such as https://cache.nixos.org"));
    }
    std::string base = url.substr(0, url.find_first_of("?#"));
    while (absl::EndsWith(base, "/")) base.pop_back();
    caches.push_back({.url = url, .base = std::move(base)});
  }
  return std::unique_ptr<HttpPresence>(new HttpPresence(std::move(options), clock, std::move(caches)));
}

HttpPresence::HttpPresence(Options options, const Clock& clock, std::vector<Cache> caches)
    : options_(std::move(options)), clock_(clock), fetcher_(options_.fetch), caches_(std::move(caches)) {}

std::map<std::string, Answer> HttpPresence::Ask(const std::vector<std::string>& store_paths) {
  MutexLock lock(mu_);
  std::map<std::string, Answer> answers;
  for (const std::string& path : store_paths) answers[path] = {.held = Held::kAbsent};
  const absl::Time now = clock_.Now();
  for (Cache& cache : caches_) {
    // What it forgot anyway need not be kept; the rest is bounded by what is asked in an hour.
    absl::erase_if(cache.remembered, [now](const auto& entry) { return entry.second.until <= now; });
    std::vector<std::string> open;
    for (const auto& [path, answer] : answers) {
      if (answer.held != Held::kPresent) open.push_back(path);
    }
    for (auto& [path, answer] : Round(options_, clock_, cache).Ask(open, fetcher_)) {
      const bool first_doubt = answer.held == Held::kUnknown && answers[path].held == Held::kAbsent;
      if (answer.held == Held::kPresent || first_doubt) answers[path] = std::move(answer);
    }
  }
  return answers;
}

}  // namespace hydrant
