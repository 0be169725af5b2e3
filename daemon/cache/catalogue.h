// What our cache holds, in memory, by hash part: answers without a query. Filled from the record at start;
// changed only after the record was.
#ifndef HYDRANT_DAEMON_CACHE_CATALOGUE_H_
#define HYDRANT_DAEMON_CACHE_CATALOGUE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "daemon/record/records.h"
#include "lib/base/mutex.h"

namespace hydrant {

class Catalogue {
 public:
  // Replaces everything.
  void Load(std::vector<NarInfoRecord> records);
  // Null when there is none. The value never changes once given out. Any thread.
  std::shared_ptr<const NarInfoRecord> Find(std::string_view hash_part) const;
  std::shared_ptr<const NarInfoRecord> FindPath(std::string_view store_path) const;
  void Put(std::vector<NarInfoRecord>
               records);  // inserts or replaces (a retired one: removes), all at once for readers
  // How much a reader may see.
  enum class Sees {
    kPublic,     // what is published for anybody
    kPublished,  // all that is published
    kStaged,     // what is staged too
  };
  static bool Shows(const NarInfoRecord& record, Sees sees);
  // True when a path that may be seen lies in that file.
  bool Refers(std::string_view file_hash, Sees sees) const;
  // True when a published output of the derivation (base name of its .drv) is not for anybody.
  bool MadeInPrivate(std::string_view deriver) const;
  // Store paths that staged paths refer to and that are not here.
  std::vector<std::string> ReferencesElsewhere() const;
  struct Totals {
    int64_t staged_paths = 0, published_paths = 0, staged_bytes = 0, published_bytes = 0;
  };
  Totals totals() const;

 private:
  void PutLocked(NarInfoRecord record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Count(const NarInfoRecord& record, int sign) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  mutable Mutex mu_;
  Totals totals_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::shared_ptr<const NarInfoRecord>> by_hash_part_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::vector<std::string>> by_file_
      ABSL_GUARDED_BY(mu_);  // file hash -> hash parts
  absl::flat_hash_map<std::string, int> made_in_private_
      ABSL_GUARDED_BY(mu_);  // deriver -> how many of its outputs
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CACHE_CATALOGUE_H_
