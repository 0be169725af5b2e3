// Where the caches' answers wait for whoever asked. Knows nothing of caches but their number.
#ifndef HYDRANT_DAEMON_PRESENCE_ANSWER_INBOX_H_
#define HYDRANT_DAEMON_PRESENCE_ANSWER_INBOX_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "daemon/presence/presence.h"
#include "lib/base/mutex.h"

namespace hydrant {

// Any thread; calls nobody.
class AnswerInbox {
 public:
  struct Arrival {
    size_t question = 0, cache = 0;  // the asker's numbers
    Answer answer;
  };

  void Put(Arrival arrival) {
    MutexLock lock(mu_);
    arrived_.push_back(std::move(arrival));
    some_.NotifyOne();
  }
  // All that arrived; blocks until there is one.
  std::vector<Arrival> Take() {
    MutexLock lock(mu_);
    while (arrived_.empty()) some_.Wait(mu_);
    return std::exchange(arrived_, {});
  }

  // A question that is settled need not be asked of other caches any more.
  void Settle(size_t question) {
    MutexLock lock(mu_);
    if (settled_.size() <= question) settled_.resize(question + 1);
    settled_[question] = true;
  }
  bool IsSettled(size_t question) const {
    MutexLock lock(mu_);
    return question < settled_.size() && settled_[question];
  }

 private:
  mutable Mutex mu_;
  CondVar some_;
  std::vector<Arrival> arrived_ ABSL_GUARDED_BY(mu_);
  std::vector<bool> settled_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_ANSWER_INBOX_H_
