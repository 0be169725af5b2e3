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
  return name.size() == kKeySize &&
         name.find_first_not_of("0123456789abcdfghijklmnpqrsvwxyz") == std::string::npos;
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
    found.emplace_back(status.st_mtim.tv_sec, status.st_mtim.tv_nsec, name,
                       static_cast<uint64_t>(status.st_size));
  }
  if (error) return ErrnoStatus(error.value(), "read folder " + options_.folder);
  std::sort(found.begin(), found.end());
  MutexLock lock(mu_);
  for (const auto& [seconds, nanoseconds, name, size] : found) Use(name, size);
  Shrink("");
  return absl::OkStatus();
}

CachedSlice EvaluationCache::Find(const std::string& key) {
  return Read(key, &ParseCachedSlice).value_or(CachedSlice());
}

absl::Status EvaluationCache::Save(const std::string& key, const CachedSlice& slice) {
  return Write(key, PrintCachedSlice(slice));
}

std::optional<DerivedList> EvaluationCache::FindList(const std::string& key) {
  return Read(key, &ParseCachedList);
}

absl::Status EvaluationCache::SaveList(const std::string& key, const DerivedList& list) {
  return Write(key, PrintCachedList(list));
}

template <typename Content>
std::optional<Content> EvaluationCache::Read(const std::string& key,
                                             absl::StatusOr<Content> (*parse)(std::string_view)) {
  {
    MutexLock lock(mu_);
    const auto found = files_.find(key);
    if (found == files_.end()) return std::nullopt;
    Use(key, found->second.bytes);
  }
  const auto bytes = ReadFile(PathOf(key));
  auto content = bytes.ok() ? parse(*bytes) : bytes.status();
  if (content.ok()) {
    utimensat(AT_FDCWD, PathOf(key).c_str(), nullptr, 0);  // so that the next daemon knows what was used
    return *std::move(content);
  }
  Log(LogLevel::kWarning, "remembered evaluation removed",
      {{"file", PathOf(key)}, {"reason", content.status().ToString()}});
  MutexLock lock(mu_);
  Forget(key);
  return std::nullopt;
}

absl::Status EvaluationCache::Write(const std::string& key, const absl::StatusOr<std::string>& bytes) {
  if (!IsKey(key)) return absl::InvalidArgumentError("remember an evaluation: '" + key + "' is no key");
  HYDRANT_RETURN_IF_ERROR(bytes.status());
  if (bytes->size() > options_.max_bytes) return absl::OkStatus();
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(PathOf(key), *bytes, 0600));
  MutexLock lock(mu_);
  Use(key, bytes->size());
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
