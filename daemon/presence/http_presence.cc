#include "daemon/presence/http_presence.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "lib/base/status_macros.h"

namespace hydrant {

// One call of Follow.
class HttpPresence::Pursuit {
 public:
  Pursuit(HttpPresence& presence, const Onward& onward)
      : caches_(presence.caches_), fetcher_(presence.fetcher_), onward_(onward), to_ask_(caches_.size()) {}

  void Run(const std::vector<std::string>& store_paths) {
    Add(store_paths);
    for (;;) {
      HearRemembered();
      AskOut();
      if (open_ == 0) return;
      for (AnswerInbox::Arrival& arrival : inbox_->Take()) Take(std::move(arrival));
    }
  }

 private:
  struct Path {
    std::string path;
    std::vector<std::optional<Answer>> answers;  // by cache
    bool settled = false;
  };

  void Add(const std::vector<std::string>& store_paths) {
    for (const std::string& path : store_paths) {
      if (!seen_.insert(path).second) continue;
      ++open_;
      paths_.push_back({.path = path, .answers = std::vector<std::optional<Answer>>(caches_.size())});
    }
  }

  // New paths, and those that come of them, as far as the caches' memories go; the rest is to be asked.
  void HearRemembered() {
    for (; next_ < paths_.size(); ++next_) {
      bool present = false;
      for (size_t cache = 0; cache < caches_.size() && !present; ++cache) {
        std::optional<Answer> answer = caches_[cache]->Recall(paths_[next_].path);
        present = answer.has_value() && answer->held == Held::kPresent;
        paths_[next_].answers[cache] = std::move(answer);
      }
      if (present) {
        for (std::optional<Answer>& answer : paths_[next_].answers) {
          if (!answer.has_value())
            answer = Answer{.held = Held::kAbsent};  // who has it is known: nobody is asked
        }
      } else {
        for (size_t cache = 0; cache < caches_.size(); ++cache) {
          if (!paths_[next_].answers[cache].has_value())
            to_ask_[cache].push_back({paths_[next_].path, next_});
        }
      }
      SettleIfClear(next_);
    }
  }

  void AskOut() {
    for (size_t cache = 0; cache < caches_.size(); ++cache) {
      if (to_ask_[cache].empty()) continue;
      caches_[cache]->Ask(to_ask_[cache], cache, inbox_, fetcher_);
      to_ask_[cache].clear();
    }
  }

  void Take(AnswerInbox::Arrival arrival) {
    paths_[arrival.question].answers[arrival.cache] = std::move(arrival.answer);
    SettleIfClear(arrival.question);
  }

  void SettleIfClear(size_t number) {
    if (paths_[number].settled) return;
    Answer sum{.held = Held::kAbsent};
    for (const std::optional<Answer>& answer : paths_[number].answers) {
      if (!answer.has_value()) return;
      if (answer->held == Held::kPresent || (answer->held == Held::kUnknown && sum.held == Held::kAbsent)) {
        sum = *answer;
      }
      if (sum.held == Held::kPresent) break;
    }
    paths_[number].settled = true;
    --open_;
    inbox_->Settle(number);
    const std::string path = paths_[number].path;  // `onward` may add, and move them
    Add(onward_(path, sum));
  }

  const std::vector<std::unique_ptr<UpstreamCache>>& caches_;
  HttpFetcher& fetcher_;
  const Onward& onward_;
  const std::shared_ptr<AnswerInbox> inbox_ = std::make_shared<AnswerInbox>();
  absl::flat_hash_set<std::string> seen_;
  std::vector<Path> paths_;
  size_t next_ = 0;                                           // the first of paths_ that is new
  size_t open_ = 0;                                           // not settled
  std::vector<std::vector<UpstreamCache::Question>> to_ask_;  // by cache
};

absl::StatusOr<std::unique_ptr<HttpPresence>> HttpPresence::Open(Options options, const Clock& clock) {
  std::vector<std::unique_ptr<UpstreamCache>> caches;
  for (const std::string& url : options.caches) {
    UpstreamCache::Options cache{.url = url,
                                 .in_flight = options.in_flight,
                                 .tries = options.tries,
                                 .breaker = options.breaker,
                                 .memory = options.memory,
                                 .observer = options.observer};
    if (const auto files = options.access.find(url); files != options.access.end()) {
      HYDRANT_ASSIGN_OR_RETURN(cache.access, OpenUpstreamAccess(files->second));
    }
    HYDRANT_ASSIGN_OR_RETURN(auto opened, UpstreamCache::Open(std::move(cache), clock));
    caches.push_back(std::move(opened));
  }
  return std::unique_ptr<HttpPresence>(new HttpPresence(std::move(caches), options.fetch));
}

std::map<std::string, Answer> HttpPresence::Ask(const std::vector<std::string>& store_paths) {
  std::map<std::string, Answer> answers;
  Follow(store_paths, [&answers](const std::string& path, const Answer& answer) {
    answers[path] = answer;
    return std::vector<std::string>();
  });
  return answers;
}

void HttpPresence::Follow(const std::vector<std::string>& store_paths, const Onward& onward) {
  Pursuit(*this, onward).Run(store_paths);
}

}  // namespace hydrant
