#include "worker/lease/attempt_spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant::worker {
namespace {

constexpr std::string_view kAssignment = ".assignment", kEnd = ".end", kLog = ".log";

}  // namespace

absl::StatusOr<std::unique_ptr<SpooledLog>> SpooledLog::Open(const std::string& file) {
  UniqueFd fd(open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, "open " + file);
  return std::unique_ptr<SpooledLog>(new SpooledLog(std::move(fd), file));
}

absl::Status SpooledLog::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "write " + file_);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> SpooledLog::Read(int64_t offset, size_t most) const {
  std::string bytes(most, '\0');
  ssize_t n;
  do {
    n = pread(fd_.get(), bytes.data(), most, offset);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return ErrnoStatus(errno, "read " + file_);
  bytes.resize(static_cast<size_t>(n));
  return bytes;
}

absl::StatusOr<int64_t> SpooledLog::Size() const {
  struct stat found;
  if (fstat(fd_.get(), &found) != 0) return ErrnoStatus(errno, "stat " + file_);
  return static_cast<int64_t>(found.st_size);
}

absl::StatusOr<std::unique_ptr<AttemptSpool>> AttemptSpool::Open(std::string folder) {
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(folder, 0700));
  auto spool = std::unique_ptr<AttemptSpool>(new AttemptSpool(std::move(folder)));
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<AttemptId> done, spool->WithSuffix(kEnd));
  for (const std::string_view suffix : {kAssignment, kLog}) {
    HYDRANT_ASSIGN_OR_RETURN(const std::vector<AttemptId> begun, spool->WithSuffix(suffix));
    for (const AttemptId attempt : begun) {
      if (std::find(done.begin(), done.end(), attempt) == done.end()) spool->Forget(attempt);
    }
  }
  return spool;
}

std::string AttemptSpool::File(AttemptId attempt, std::string_view suffix) const {
  return absl::StrCat(folder_, "/a", attempt.value, AbslView(suffix));
}

absl::StatusOr<std::vector<AttemptId>> AttemptSpool::WithSuffix(std::string_view suffix) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(folder_.c_str()), &closedir);
  if (!folder) return ErrnoStatus(errno, "open " + folder_);
  std::vector<AttemptId> attempts;
  while (const dirent* entry = readdir(folder.get())) {
    std::string_view name = entry->d_name;
    AttemptId attempt;
    if (!name.starts_with('a') || !name.ends_with(suffix)) continue;
    name = name.substr(1, name.size() - 1 - suffix.size());
    if (absl::SimpleAtoi(AbslView(name), &attempt.value)) attempts.push_back(attempt);
  }
  std::sort(attempts.begin(), attempts.end());
  return attempts;
}

absl::StatusOr<std::vector<AttemptSpool::Kept>> AttemptSpool::Load() const {
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<AttemptId> done, WithSuffix(kEnd));
  std::vector<Kept> result;
  for (const AttemptId attempt : done) {
    HYDRANT_ASSIGN_OR_RETURN(std::string end, ReadFile(File(attempt, kEnd)));
    HYDRANT_ASSIGN_OR_RETURN(std::string assignment, ReadFile(File(attempt, kAssignment)));
    result.push_back({attempt, std::move(assignment), std::move(end)});
  }
  return result;
}

absl::StatusOr<std::unique_ptr<SpooledLog>> AttemptSpool::OpenLog(AttemptId attempt) const {
  return SpooledLog::Open(File(attempt, kLog));
}

absl::Status AttemptSpool::Keep(const Kept& kept) const {
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(File(kept.attempt, kAssignment), kept.assignment, 0600));
  return WriteFileAtomically(File(kept.attempt, kEnd), kept.end, 0600);  // last: it says that all is there
}

void AttemptSpool::Forget(AttemptId attempt) const {
  for (const std::string_view suffix : {kEnd, kAssignment, kLog}) unlink(File(attempt, suffix).c_str());
}

}  // namespace hydrant::worker
