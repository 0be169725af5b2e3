#include "daemon/evaluate/evaluation_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <tuple>
#include <vector>

#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr size_t kKeySize = 52;  // SHA-256 in base32

bool IsKey(const std::string& name) {
  return name.size() == kKeySize && name.find_first_not_of("0123456789abcdfghijklmnpqrsvwxyz") == std::string::npos;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EvaluationCache>> EvaluationCache::Open(Options options) {
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(options.folder, 0700));
  std::unique_ptr<EvaluationCache> cache(new EvaluationCache(std::move(options)));
  HYDRANT_RETURN_IF_ERROR(cache->ReadFolder());
  return cache;
}

absl::Status EvaluationCache::ReadFolder() {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::tuple<int64_t, int64_t, std::string, uint64_t>> found;
  for (fs::directory_iterator it(options_.folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    struct stat status;
    if (lstat(it->path().c_str(), &status) != 0) continue;
    if (!IsKey(name) || !S_ISREG(status.st_mode)) {
      RemoveTree(it->path()).IgnoreError();
      continue;
    }
    found.emplace_back(status.st_mtim.tv_sec, status.st_mtim.tv_nsec, name, static_cast<uint64_t>(status.st_size));
  }
  if (error) return ErrnoStatus(error.value(), "read folder " + options_.folder);
  std::sort(found.begin(), found.end());
  MutexLock lock(mu_);
  for (const auto& [seconds, nanoseconds, name, size] : found) Use(name, size);
  Shrink("");
  return absl::OkStatus();
}

CachedSlice EvaluationCache::Find(const std::string& key) {
  {
    MutexLock lock(mu_);
    const auto found = files_.find(key);
    if (found == files_.end()) return {};
    Use(key, found->second.bytes);
  }
  const auto bytes = ReadFile(PathOf(key));
  auto slice = bytes.ok() ? ParseCachedSlice(*bytes) : bytes.status();
  if (slice.ok()) {
    utimensat(AT_FDCWD, PathOf(key).c_str(), nullptr, 0);  // so that the next daemon knows what was used
    return *std::move(slice);
  }
  Log(LogLevel::kWarning, "remembered evaluation removed", {{"file", PathOf(key)}, {"reason", slice.status().ToString()}});
  MutexLock lock(mu_);
  Forget(key);
  return {};
}

absl::Status EvaluationCache::Save(const std::string& key, const CachedSlice& slice) {
  if (!IsKey(key)) return absl::InvalidArgumentError("remember an evaluation: '" + key + "' is no key");
  HYDRANT_ASSIGN_OR_RETURN(const std::string bytes, PrintCachedSlice(slice));
  if (bytes.size() > options_.max_bytes) return absl::OkStatus();
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(PathOf(key), bytes, 0600));
  MutexLock lock(mu_);
  Use(key, bytes.size());
  Shrink(key);
  return absl::OkStatus();
}

uint64_t EvaluationCache::bytes() const {
  MutexLock lock(mu_);
  return bytes_;
}

void EvaluationCache::Use(const std::string& key, uint64_t bytes) {
  File& file = files_[key];
  by_use_.erase({file.used, key});
  bytes_ = bytes_ - file.bytes + bytes;
  file = {.bytes = bytes, .used = ++last_use_};
  by_use_.insert({file.used, key});
}

void EvaluationCache::Forget(const std::string& key) {
  const auto file = files_.find(key);
  if (file == files_.end()) return;
  unlink(PathOf(key).c_str());
  bytes_ -= file->second.bytes;
  by_use_.erase({file->second.used, key});
  files_.erase(file);
}

// `but` has just been written, and is never too large by itself.
void EvaluationCache::Shrink(const std::string& but) {
  while (bytes_ > options_.max_bytes && !by_use_.empty() && by_use_.begin()->second != but) {
    Forget(std::string(by_use_.begin()->second));
  }
}

}  // namespace hydrant
