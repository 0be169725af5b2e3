#include "daemon/cache/catalogue.h"

#include <set>
#include <utility>

#include "lib/base/status_macros.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

std::string_view HashPartOf(std::string_view path) {
  const size_t start = nix::kStoreDir.size() + 1;
  return path.size() < start ? std::string_view() : path.substr(start, nix::kHashPartLength);
}

}  // namespace

void Catalogue::Load(std::vector<NarInfoRecord> records) {
  MutexLock lock(mu_);
  by_hash_part_.clear();
  by_file_.clear();
  made_in_private_.clear();
  totals_ = {};
  for (NarInfoRecord& record : records) PutLocked(std::move(record));
}

void Catalogue::Put(std::vector<NarInfoRecord> records) {
  MutexLock lock(mu_);
  for (NarInfoRecord& record : records) PutLocked(std::move(record));
}

std::shared_ptr<const NarInfoRecord> Catalogue::Find(std::string_view hash_part) const {
  MutexLock lock(mu_);
  const auto found = by_hash_part_.find(AbslView(hash_part));
  return found == by_hash_part_.end() ? nullptr : found->second;
}

std::shared_ptr<const NarInfoRecord> Catalogue::FindPath(std::string_view store_path) const {
  std::shared_ptr<const NarInfoRecord> record = Find(HashPartOf(store_path));
  return record != nullptr && record->path == store_path ? record : nullptr;
}

bool Catalogue::Shows(const NarInfoRecord& record, Sees sees) {
  if (record.state == NarInfoState::kStaged) return sees == Sees::kStaged;
  return record.state == NarInfoState::kPublished &&
         (record.tier == NarInfoTier::kPublic || sees != Sees::kPublic);
}

bool Catalogue::MadeInPrivate(std::string_view deriver) const {
  MutexLock lock(mu_);
  return made_in_private_.contains(AbslView(deriver));
}

bool Catalogue::Refers(std::string_view file_hash, Sees sees) const {
  MutexLock lock(mu_);
  const auto found = by_file_.find(AbslView(file_hash));
  if (found == by_file_.end()) return false;
  for (const std::string& hash_part : found->second) {
    if (Shows(*by_hash_part_.at(hash_part), sees)) return true;
  }
  return false;
}

std::vector<std::string> Catalogue::ReferencesElsewhere() const {
  std::set<std::string> elsewhere;
  MutexLock lock(mu_);
  for (const auto& [hash_part, record] : by_hash_part_) {
    if (record->state != NarInfoState::kStaged) continue;
    for (const std::string& reference : record->references) {
      if (!by_hash_part_.contains(AbslView(HashPartOf(reference)))) elsewhere.insert(reference);
    }
  }
  return {elsewhere.begin(), elsewhere.end()};
}

Catalogue::Totals Catalogue::totals() const {
  MutexLock lock(mu_);
  return totals_;
}

void Catalogue::Count(const NarInfoRecord& record, int sign) {
  const bool published = record.state == NarInfoState::kPublished;
  (published ? totals_.published_paths : totals_.staged_paths) += sign;
  (published ? totals_.published_bytes : totals_.staged_bytes) += sign * record.file_size;
  if (!published || record.tier == NarInfoTier::kPublic || record.deriver.empty()) return;
  if ((made_in_private_[record.deriver] += sign) == 0) made_in_private_.erase(record.deriver);
}

void Catalogue::PutLocked(NarInfoRecord record) {
  const std::string hash_part(HashPartOf(record.path));
  if (const auto found = by_hash_part_.find(hash_part); found != by_hash_part_.end()) {
    Count(*found->second, -1);
    std::vector<std::string>& sharers = by_file_[found->second->file_hash];
    std::erase(sharers, hash_part);
    if (sharers.empty()) by_file_.erase(found->second->file_hash);
    by_hash_part_.erase(found);
  }
  if (record.state == NarInfoState::kRetired) return;
  Count(record, 1);
  by_file_[record.file_hash].push_back(hash_part);
  by_hash_part_[hash_part] = std::make_shared<const NarInfoRecord>(std::move(record));
}

}  // namespace hydrant
