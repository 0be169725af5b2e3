#include "daemon/cache/local_blob_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

absl::StatusOr<std::vector<std::string>> EntriesOf(const std::string& folder) {
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return ErrnoStatus(errno, absl::StrCat("read folder ", folder));
  std::vector<std::string> names;
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] != '.') names.push_back(entry->d_name);
  }
  closedir(dir);
  return names;
}

absl::Status SyncFolder(const std::string& folder) {
  UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || fsync(fd.get()) != 0) return ErrnoStatus(errno, absl::StrCat("sync folder ", folder));
  return absl::OkStatus();
}

}  // namespace

// A file in incoming/, locked while it is written so that nobody takes it for a leftover.
class LocalUpload final : public BlobStore::Upload {
 public:
  LocalUpload(LocalBlobStore& store, std::string path, UniqueFd fd)
      : store_(store), path_(std::move(path)), fd_(std::move(fd)) {}
  ~LocalUpload() override { unlink(path_.c_str()); }

  absl::Status Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = write(fd_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoStatus(errno, absl::StrCat("write ", path_));
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return absl::OkStatus();
  }

  absl::Status Commit(const BlobName& name) override {
    // What was reserved beyond the end goes back; then the bytes, then the name, each durable before the next
    // step.
    const off_t end = lseek(fd_.get(), 0, SEEK_CUR);
    if (end < 0 || ftruncate(fd_.get(), end) != 0 || fchmod(fd_.get(), 0444) != 0 ||
        fdatasync(fd_.get()) != 0) {
      return ErrnoStatus(errno, absl::StrCat("sync ", path_));
    }
    const std::string folder = store_.Folder(name), path = store_.Path(name);
    if (mkdir(folder.c_str(), 0755) == 0) {
      HYDRANT_RETURN_IF_ERROR(SyncFolder(store_.Nars()));
    } else if (errno != EEXIST) {
      return ErrnoStatus(errno, absl::StrCat("make folder ", folder));
    }
    if (link(path_.c_str(), path.c_str()) != 0 && errno != EEXIST)
      return ErrnoStatus(errno, absl::StrCat("link ", path));
    return SyncFolder(folder);
  }

 private:
  LocalBlobStore& store_;
  const std::string path_;
  UniqueFd fd_;
};

absl::StatusOr<std::unique_ptr<LocalBlobStore>> LocalBlobStore::Open(Options options) {
  std::unique_ptr<LocalBlobStore> store(new LocalBlobStore(std::move(options)));
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(store->Incoming(), 0755));
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(store->Nars(), 0755));
  HYDRANT_RETURN_IF_ERROR(store->RemoveLeftovers());
  return store;
}

absl::Status LocalBlobStore::RemoveLeftovers() {
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<std::string> names, EntriesOf(Incoming()));
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(Incoming(), "/", name);
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid() || flock(fd.get(), LOCK_EX | LOCK_NB) != 0) continue;  // somebody writes it
    if (unlink(path.c_str()) != 0) return ErrnoStatus(errno, absl::StrCat("remove ", path));
    Log(LogLevel::kInfo, "unfinished upload removed", {{"file", name}});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BlobStore::Upload>> LocalBlobStore::Begin(int64_t expected_size) {
  struct statvfs disk;
  if (statvfs(Incoming().c_str(), &disk) != 0)
    return ErrnoStatus(errno, absl::StrCat("look at ", Incoming()));
  const auto free = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  if (expected_size + options_.reserve > free) {
    return absl::ResourceExhaustedError(absl::StrCat("no space for ", expected_size, " bytes in the cache: ",
                                                     std::max(free - options_.reserve, int64_t{0}),
                                                     " bytes are free beside the reserve"));
  }
  const std::string path = absl::StrCat(Incoming(), "/", getpid(), "-", next_++);
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("create ", path));
  flock(fd.get(), LOCK_EX | LOCK_NB);
  const int file = fd.get();
  auto upload = std::make_unique<LocalUpload>(*this, path, std::move(fd));
  // Where the file system cannot reserve, the check above has to do.
  if (expected_size > 0 && fallocate(file, FALLOC_FL_KEEP_SIZE, 0, expected_size) != 0 &&
      errno != EOPNOTSUPP) {
    return ErrnoStatus(errno, absl::StrCat("reserve ", expected_size, " bytes for ", path));
  }
  return upload;
}

absl::StatusOr<BlobStore::Blob> LocalBlobStore::Open(const BlobName& name) {
  Blob blob;
  blob.fd = UniqueFd(open(Path(name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info;
  if (!blob.fd.valid() || fstat(blob.fd.get(), &info) != 0)
    return ErrnoStatus(errno, absl::StrCat("open ", Path(name)));
  posix_fadvise(blob.fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  blob.size = info.st_size;
  return blob;
}

bool LocalBlobStore::Has(const BlobName& name) { return access(Path(name).c_str(), F_OK) == 0; }

absl::StatusOr<std::vector<BlobName>> LocalBlobStore::List() {
  std::vector<BlobName> blobs;
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<std::string> folders, EntriesOf(Nars()));
  for (const std::string& folder : folders) {
    HYDRANT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                             EntriesOf(absl::StrCat(Nars(), "/", folder)));
    for (const std::string& name : names) {
      if (absl::StatusOr<BlobName> blob = BlobName::Parse(name); blob.ok()) blobs.push_back(*std::move(blob));
    }
  }
  std::sort(blobs.begin(), blobs.end());
  return blobs;
}

absl::Status LocalBlobStore::Delete(const BlobName& name) {
  if (unlink(Path(name).c_str()) == 0) return SyncFolder(Folder(name));
  return errno == ENOENT ? absl::OkStatus() : ErrnoStatus(errno, absl::StrCat("remove ", Path(name)));
}

}  // namespace hydrant
