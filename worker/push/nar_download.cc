#include "worker/push/nar_download.h"

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/compression.h"

namespace hydrant::worker {
namespace {

constexpr size_t kAhead = 8 << 20;

// Hashes and counts on the way to `next`, and refuses more than `most` bytes.
class MeasuringSink final : public Sink {
 public:
  MeasuringSink(Sink& next, uint64_t most) : next_(next), most_(most) {}
  absl::Status Write(std::string_view bytes) override {
    if (hash_.size() + bytes.size() > most_) {
      return absl::DataLossError(
          absl::StrCat("the archive is larger than its narinfo says, ", most_, " bytes"));
    }
    HYDRANT_RETURN_IF_ERROR(hash_.Write(bytes));
    return next_.Write(bytes);
  }
  uint64_t size() const { return hash_.size(); }
  nix::Sha256Digest Finish() { return hash_.Finish(); }

 private:
  Sink& next_;
  const uint64_t most_;
  nix::Sha256 hash_;
};

}  // namespace

NarDownload::NarDownload(HttpClient& http, const LocatedPath& path, const RetryPolicy& policy,
                         Cancellation& cancellation)
    : http_(http), path_(path), policy_(policy), cancellation_(cancellation), pipe_(kAhead), thread_([this] {
        Run();
      }) {}

NarDownload::~NarDownload() {
  pipe_.CloseReading();
  thread_.join();
}

absl::Status NarDownload::status() const {
  MutexLock lock(mu_);
  return status_;
}

void NarDownload::Run() {
  const absl::Status status =
      Annotate(Download(), absl::StrCat("fetch ", path_.info.store_path.path(), " from ", path_.nar.url));
  {
    MutexLock lock(mu_);
    status_ = status;
  }
  pipe_.CloseWriting(status);
}

absl::Status NarDownload::Download() {
  const nix::NarInfo& info = path_.info;
  MeasuringSink nar(pipe_, info.nar_size);
  HYDRANT_ASSIGN_OR_RETURN(const std::unique_ptr<nix::FinishingSink> decoder,
                           nix::Decompressor(info.compression, nar));
  bool began = false;
  class Noting final : public Sink {
   public:
    Noting(Sink& next, bool& noted) : next_(next), noted_(noted) {}
    absl::Status Write(std::string_view bytes) override {
      noted_ = true;
      return next_.Write(bytes);
    }

   private:
    Sink& next_;
    bool& noted_;
  } file(*decoder, began);
  HYDRANT_ASSIGN_OR_RETURN(const HttpReply reply,
                           Retry(policy_, cancellation_, [&]() -> absl::StatusOr<HttpReply> {
                             auto answer = http_.GetInto(path_.nar, file, cancellation_);
                             // What was handed on cannot be taken back: only a request that brought nothing
                             // is repeated.
                             if (!answer.ok() && began && absl::IsUnavailable(answer.status())) {
                               return absl::DataLossError(answer.status().message());
                             }
                             return answer;
                           }));
  if (reply.code != 200) return absl::UnavailableError(Describe(path_.nar.url, reply));
  HYDRANT_RETURN_IF_ERROR(decoder->Finish());
  if (nar.size() != info.nar_size) {
    return absl::DataLossError(
        absl::StrCat("the archive has ", nar.size(), " bytes, its narinfo says ", info.nar_size));
  }
  const nix::Sha256Digest hash = nar.Finish();
  if (hash != info.nar_hash) {
    return absl::DataLossError(absl::StrCat("the archive's hash is ", hash.ToNixString(),
                                            ", its narinfo says ", info.nar_hash.ToNixString()));
  }
  return absl::OkStatus();
}

}  // namespace hydrant::worker
