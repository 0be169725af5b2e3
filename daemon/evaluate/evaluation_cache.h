// Outcomes of earlier evaluations, a file a slice or a derived package list, in a folder of bounded size.
// What no longer can be read is not there. Knows nothing of what a key stands for nor of whether a derivation
// still exists.
#ifndef HYDRANT_DAEMON_EVALUATE_EVALUATION_CACHE_H_
#define HYDRANT_DAEMON_EVALUATE_EVALUATION_CACHE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/evaluate/evaluator.h"
#include "lib/base/mutex.h"

namespace hydrant {

struct CachedName {
  std::string package;       // attribute path as declared
  bool environment = false;  // asked for with a Python environment
  friend auto operator<=>(const CachedName&, const CachedName&) = default;
};

// Outcome::variant is 0: a place in one matrix means nothing in another.
using CachedSlice = std::map<CachedName, Outcome>;

// One slice as a file's bytes: magic, version, SHA-256 of the rest, JSON lines in zstd. DataLoss says what is
// wrong.
absl::StatusOr<std::string> PrintCachedSlice(const CachedSlice& slice);
absl::StatusOr<CachedSlice> ParseCachedSlice(std::string_view bytes);

// A derived package list likewise. DerivedList::unknown is not written: such a list is not remembered.
absl::StatusOr<std::string> PrintCachedList(const DerivedList& list);
absl::StatusOr<DerivedList> ParseCachedList(std::string_view bytes);

class EvaluationCache {
 public:
  struct Options {
    std::string folder;                // its own alone
    uint64_t max_bytes = 512'000'000;  // of all files; those used least recently go first
  };
  // Makes the folder; files that no Save can have written are removed.
  static absl::StatusOr<std::unique_ptr<EvaluationCache>> Open(Options options);

  // Empty when there is none. `key`: a plain file name. Any thread.
  CachedSlice Find(const std::string& key);
  // Replaces what is there under the key. Any thread, a key one at a time.
  absl::Status Save(const std::string& key, const CachedSlice& slice);
  // The same for a derived list, which is there or not.
  std::optional<DerivedList> FindList(const std::string& key);
  absl::Status SaveList(const std::string& key, const DerivedList& list);

  uint64_t bytes() const;

 private:
  struct File {
    uint64_t bytes = 0;
    uint64_t used = 0;  // a number that grows
  };
  explicit EvaluationCache(Options options) : options_(std::move(options)) {}
  absl::Status ReadFolder();
  template <typename Content>
  std::optional<Content> Read(const std::string& key, absl::StatusOr<Content> (*parse)(std::string_view));
  absl::Status Write(const std::string& key, const absl::StatusOr<std::string>& bytes);
  std::string PathOf(const std::string& key) const { return options_.folder + "/" + key; }
  void Use(const std::string& key, uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forget(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Shrink(const std::string& but) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  mutable Mutex mu_;
  std::map<std::string, File> files_ ABSL_GUARDED_BY(mu_);
  std::set<std::pair<uint64_t, std::string>> by_use_ ABSL_GUARDED_BY(mu_);  // File::used, key
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t last_use_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_EVALUATION_CACHE_H_
