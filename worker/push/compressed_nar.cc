#include "worker/push/compressed_nar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/fd_stream.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/compression.h"
#include "lib/nix/nar.h"

namespace hydrant::worker {
namespace {

// A source that owns its descriptor.
class FileSource final : public Source {
 public:
  FileSource(UniqueFd fd, std::string path) : fd_(std::move(fd)), source_(fd_.get(), std::move(path)) {}
  absl::StatusOr<size_t> Read(std::span<char> buffer) override { return source_.Read(buffer); }

 private:
  UniqueFd fd_;
  FdSource source_;
};

class Both final : public Sink {
 public:
  Both(Sink& first, Sink& second) : first_(first), second_(second) {}
  absl::Status Write(std::string_view bytes) override {
    HYDRANT_RETURN_IF_ERROR(first_.Write(bytes));
    return second_.Write(bytes);
  }

 private:
  Sink &first_, &second_;
};

absl::Status Dump(StoreSession& session, const std::string& path, Sink& sink) {
  const std::string real = session.RealPath(path);
  struct stat found;
  if (lstat(real.c_str(), &found) == 0) return nix::DumpPath(real, sink);
  return session.client().NarFromPath(path, sink);
}

}  // namespace

absl::StatusOr<CompressedNar> CompressedNar::Make(StoreSession& session, const nix::PathInfo& info,
                                                  const std::string& folder) {
  std::string name = folder + "/push-XXXXXX";
  UniqueFd fd(mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "make " + name);
  CompressedNar result(name);
  FdSink file(fd.get(), result.file_);
  nix::Sha256 file_hash, nar_hash;
  Both out(file_hash, file);
  HYDRANT_ASSIGN_OR_RETURN(const std::unique_ptr<nix::FinishingSink> compressor, nix::ZstdCompressor(out));
  Both in(nar_hash, *compressor);
  HYDRANT_RETURN_IF_ERROR(Dump(session, info.path, in));
  HYDRANT_RETURN_IF_ERROR(compressor->Finish());
  const nix::Sha256Digest found = nar_hash.Finish();
  if (found != info.nar_hash || nar_hash.size() != info.nar_size) {
    return absl::DataLossError(absl::StrCat(info.path, " is damaged in the worker's store: its archive has ",
                                            found.ToNixString(), ", ", nar_hash.size(),
                                            " bytes; the store recorded ", info.nar_hash.ToNixString(), ", ",
                                            info.nar_size, " bytes"));
  }
  result.size_ = file_hash.size();
  result.hash_ = file_hash.Finish();
  return result;
}

CompressedNar::CompressedNar(CompressedNar&& other) noexcept
    : file_(std::exchange(other.file_, "")), hash_(other.hash_), size_(other.size_) {}

CompressedNar::~CompressedNar() {
  if (!file_.empty()) unlink(file_.c_str());
}

absl::StatusOr<std::unique_ptr<Source>> CompressedNar::Open() const {
  UniqueFd fd(open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "open " + file_);
  return std::make_unique<FileSource>(std::move(fd), file_);
}

}  // namespace hydrant::worker
