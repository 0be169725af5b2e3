// A Presence without caches: what is upstream is said by the test.
#ifndef HYDRANT_TESTS_FAKES_FAKE_PRESENCE_H_
#define HYDRANT_TESTS_FAKES_FAKE_PRESENCE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "daemon/presence/presence.h"
#include "lib/base/mutex.h"

namespace hydrant {

class FakePresence final : public Presence {
 public:
  static constexpr char kCache[] = "https://upstream.example";

  // `file_size`: bytes to fetch; 0: it does not say.
  void Hold(const std::string& store_path, uint64_t file_size = 0) {
    Say(store_path, {.held = Held::kPresent, .cache = kCache, .file_size = file_size});
  }
  void Hide(const std::string& store_path) {
    Say(store_path, {.held = Held::kUnknown, .why = "it does not answer"});
  }

  // How often a path was asked for.
  int Asked(const std::string& store_path) {
    MutexLock lock(mu_);
    return asked_[store_path];
  }

  std::map<std::string, Answer> Ask(const std::vector<std::string>& store_paths) override {
    std::map<std::string, Answer> answers;
    for (const std::string& path : store_paths) answers[path] = AnswerFor(path);
    return answers;
  }
  void Follow(const std::vector<std::string>& store_paths, const Onward& onward) override {
    absl::flat_hash_set<std::string> seen;
    std::vector<std::string> open = store_paths;
    while (!open.empty()) {
      const std::string path = std::move(open.back());
      open.pop_back();
      if (!seen.insert(path).second) continue;
      for (std::string& next : onward(path, AnswerFor(path))) open.push_back(std::move(next));
    }
  }

 private:
  Answer AnswerFor(const std::string& path) {
    MutexLock lock(mu_);
    ++asked_[path];
    const auto found = answers_.find(path);
    return found != answers_.end() ? found->second : Answer{.held = Held::kAbsent};
  }
  void Say(const std::string& store_path, Answer answer) {
    MutexLock lock(mu_);
    answers_[store_path] = std::move(answer);
  }

  Mutex mu_;
  absl::flat_hash_map<std::string, Answer> answers_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int> asked_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_TESTS_FAKES_FAKE_PRESENCE_H_
