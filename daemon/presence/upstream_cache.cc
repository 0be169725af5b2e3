#include "daemon/presence/upstream_cache.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/base/backoff.h"
#include "lib/nix/narinfo.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

constexpr int kOk = 200, kNotFound = 404, kGone = 410, kRequestTimeout = 408, kTooManyRequests = 429,
              kServerError = 500;
constexpr Backoff kBackoff = {.first = absl::Milliseconds(100), .most = absl::Seconds(5)};

bool MayBeMended(const HttpReply& reply) {
  return reply.status == 0 || reply.status == kRequestTimeout || reply.status == kTooManyRequests ||
         reply.status >= kServerError;
}

// Bytes to fetch; 0: it does not say.
uint64_t FileSizeOf(const nix::NarInfo& info) {
  return info.file_size == 0 && info.compression == "none" ? info.nar_size : info.file_size;
}

// What the cache's reply says of `path`.
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
  return {.held = Held::kPresent, .cache = cache, .file_size = FileSizeOf(*info)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<UpstreamCache>> UpstreamCache::Open(Options options, const Clock& clock) {
  const std::string& url = options.url;
  const size_t scheme = url.find("://");
  const std::string authority =
      scheme == std::string::npos ? ""
                                  : url.substr(scheme + 3, url.find_first_of("/?#", scheme + 3) - scheme - 3);
  if (const size_t at = authority.rfind('@'); at != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("substituter ", url.substr(0, scheme + 3), "…",
                                                   authority.substr(at),
                                                   ": a user or password does not belong into a URL; name a "
                                                   "file of user:password in [[upstream.cache]]"));
  }
  if ((!absl::StartsWith(url, "http://") && !absl::StartsWith(url, "https://")) || authority.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "substituter \"", url, "\": expected an http:// or https:// URL, such as https://cache.nixos.org"));
  }
  std::string base = url.substr(0, url.find_first_of("?#"));
  while (absl::EndsWith(base, "/")) base.pop_back();
  return std::unique_ptr<UpstreamCache>(new UpstreamCache(std::move(options), std::move(base), clock));
}

UpstreamCache::UpstreamCache(Options options, std::string base, const Clock& clock)
    : options_(std::move(options)),
      base_(std::move(base)),
      access_(std::make_shared<const UpstreamAccess>(options_.access)),
      clock_(clock),
      memory_(options_.memory),
      breaker_(options_.breaker) {}

std::optional<Answer> UpstreamCache::Recall(const std::string& path) const {
  MutexLock lock(mu_);
  const std::optional<AnswerMemory::Known> known = memory_.Recall(path, clock_.Now());
  if (!known.has_value()) return std::nullopt;
  if (!known->present) return Answer{.held = Held::kAbsent};
  return Answer{.held = Held::kPresent, .cache = options_.url, .file_size = known->file_size};
}

void UpstreamCache::Ask(const std::vector<Question>& questions, size_t number,
                        const std::shared_ptr<AnswerInbox>& inbox, HttpFetcher& fetcher) {
  Requests requests;
  {
    MutexLock lock(mu_);
    for (const Question& question : questions) Add(question, {inbox, question.number, number});
    requests = Pump(fetcher);
  }
  fetcher.Fetch(std::move(requests));
}

void UpstreamCache::Add(const Question& question, Asker asker) {
  const auto parsed = nix::StorePath::Parse(question.path);
  if (!parsed.ok()) {
    asker.inbox->Put({asker.question, asker.cache, {.why = std::string(parsed.status().message())}});
    return;
  }
  auto [at, is_new] = open_.try_emplace(question.path);
  at->second.askers.push_back(std::move(asker));
  if (is_new) waiting_.push_back(question.path);
}

UpstreamCache::Requests UpstreamCache::Pump(HttpFetcher& fetcher) {
  Requests requests;
  const absl::Time now = clock_.Now();
  if (breaker_.Refuses(now)) RefuseWaiting();
  while (!waiting_.empty() && under_way_ < options_.in_flight) {
    const auto question = open_.find(waiting_.front());
    const bool wanted =
        std::any_of(question->second.askers.begin(), question->second.askers.end(),
                    [](const Asker& asker) { return !asker.inbox->IsSettled(asker.question); });
    if (!wanted) {
      open_.erase(question);
      waiting_.pop_front();
      continue;
    }
    if (!breaker_.Admit(now)) break;  // the probe is out; its answer goes on from here
    waiting_.pop_front();
    ++under_way_;
    requests.push_back(Send(question->first, absl::ZeroDuration(), fetcher));
  }
  return requests;
}

void UpstreamCache::RefuseWaiting() {
  const Answer answer{.why = absl::StrCat(options_.url, ": not asked, it failed ", breaker_.failures(),
                                          " times in a row; last: ", last_failure_)};
  for (const std::string& path : std::exchange(waiting_, {})) Settle(path, answer);
}

HttpFetcher::Request UpstreamCache::Send(const std::string& path, absl::Duration delay,
                                         HttpFetcher& fetcher) {
  ++open_.find(path)->second.tries;
  const auto parsed = nix::StorePath::Parse(path);
  return {.url = absl::StrCat(base_, "/", std::string(parsed->hash_part()), ".narinfo"),
          .access = access_,
          .delay = delay,
          .done = [this, path, &fetcher](HttpReply reply) { Take(path, std::move(reply), fetcher); }};
}

void UpstreamCache::Take(const std::string& path, HttpReply reply, HttpFetcher& fetcher) {
  const Answer answer = Judge(options_.url, path, reply);
  Requests requests;
  std::optional<CacheHealth> change;
  {
    MutexLock lock(mu_);
    const absl::Time now = clock_.Now();
    std::optional<absl::Duration> again;
    if (answer.held == Held::kUnknown) {
      last_failure_ = answer.why.substr(options_.url.size() + 2);
      breaker_.Failed(now, reply.retry_after);
      again = Retry(reply, open_.find(path)->second.tries);
    } else {
      breaker_.Succeeded();
      memory_.Remember(path, {answer.held == Held::kPresent, answer.file_size}, now);
    }
    if (again.has_value()) {
      requests.push_back(Send(path, *again, fetcher));
    } else {
      --under_way_;
      Settle(path, answer);
    }
    for (HttpFetcher::Request& request : Pump(fetcher)) requests.push_back(std::move(request));
    change = HealthChange();
  }
  fetcher.Fetch(std::move(requests));
  if (change.has_value() && options_.observer != nullptr) options_.observer(*change);
}

std::optional<absl::Duration> UpstreamCache::Retry(const HttpReply& reply, int tries) {
  if (!MayBeMended(reply) || tries >= options_.tries) return std::nullopt;
  if (breaker_.state() != CircuitBreaker::State::kClosed) return std::nullopt;
  // A server that wants a longer pause than that gets it by being failed.
  return std::max(kBackoff.Delay(tries, random_), std::min(reply.retry_after, kBackoff.most));
}

void UpstreamCache::Settle(const std::string& path, const Answer& answer) {
  const auto question = open_.find(path);
  for (const Asker& asker : question->second.askers) asker.inbox->Put({asker.question, asker.cache, answer});
  open_.erase(question);
}

std::optional<CacheHealth> UpstreamCache::HealthChange() {
  const bool open = breaker_.state() != CircuitBreaker::State::kClosed;
  if (open == told_open_) return std::nullopt;
  told_open_ = open;
  return CacheHealth{.cache = options_.url, .open = open, .why = open ? last_failure_ : ""};
}

}  // namespace hydrant
