#include "daemon/cache/nar_intake.h"

#include <errno.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/compression.h"
#include "lib/nix/nar.h"

namespace hydrant {
namespace {

// Two sinks as one.
class Tee final : public Sink {
 public:
  Tee(Sink& first, Sink& second) : first_(first), second_(second) {}
  absl::Status Write(std::string_view bytes) override {
    HYDRANT_RETURN_IF_ERROR(first_.Write(bytes));
    return second_.Write(bytes);
  }

 private:
  Sink& first_;
  Sink& second_;
};

class Bounded final : public Sink {
 public:
  Bounded(Sink& sink, int64_t most) : sink_(sink), left_(most), most_(most) {}
  absl::Status Write(std::string_view bytes) override {
    left_ -= static_cast<int64_t>(bytes.size());
    if (left_ < 0)
      return absl::InvalidArgumentError(
          absl::StrCat("the NAR is larger than ", most_, " bytes when decoded"));
    return sink_.Write(bytes);
  }

 private:
  Sink& sink_;
  int64_t left_;
  const int64_t most_;
};

// file bytes -> SHA-256 of the file; decoded -> structure, SHA-256 and size of the NAR.
class Verification final : public Sink {
 public:
  static absl::StatusOr<std::unique_ptr<Verification>> Start(const BlobName& name, int64_t max_nar_size) {
    HYDRANT_ASSIGN_OR_RETURN(const std::string codec, nix::CompressionOfExtension(name.extension));
    std::unique_ptr<Verification> verification(new Verification(name, max_nar_size));
    HYDRANT_ASSIGN_OR_RETURN(verification->decoder_, nix::Decompressor(codec, verification->bounded_));
    return verification;
  }

  absl::Status Write(std::string_view bytes) override {
    HYDRANT_RETURN_IF_ERROR(file_hash_.Write(bytes));
    return Faulty(decoder_->Write(bytes));
  }

  absl::StatusOr<BlobFacts> Finish() {
    BlobFacts facts;
    facts.file_size = static_cast<int64_t>(file_hash_.size());
    const std::string hash = file_hash_.Finish().ToBase32();
    if (hash != name_.file_hash) {
      return absl::InvalidArgumentError(absl::StrCat("the file is not what its name says: its SHA-256 is ",
                                                     hash, ", expected ", name_.file_hash));
    }
    HYDRANT_RETURN_IF_ERROR(Faulty(decoder_->Finish()));
    absl::StatusOr<nix::NarFacts> nar = verifier_.Finish();
    if (!nar.ok()) return Faulty(nar.status());
    facts.nar_hash = nar->hash;
    facts.nar_size = static_cast<int64_t>(nar->size);
    return facts;
  }

 private:
  Verification(const BlobName& name, int64_t max_nar_size) : name_(name), bounded_(verifier_, max_nar_size) {}
  // Whatever code the codec has for it: the bytes are at fault.
  absl::Status Faulty(const absl::Status& status) const {
    if (status.ok()) return status;
    return absl::InvalidArgumentError(absl::StrCat(name_.ToString(), " is not a NAR: ", status.message()));
  }

  const BlobName name_;
  nix::Sha256 file_hash_;
  nix::NarVerifier verifier_;
  Bounded bounded_;
  std::unique_ptr<nix::FinishingSink> decoder_;
};

absl::Status ReadBlob(BlobStore::Blob blob, Sink& sink) {
  std::string buffer(1 << 20, '\0');
  while (true) {
    const ssize_t n = read(blob.fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "read a blob");
    if (n == 0) return absl::OkStatus();
    HYDRANT_RETURN_IF_ERROR(sink.Write(std::string_view(buffer).substr(0, static_cast<size_t>(n))));
  }
}

}  // namespace

class IntakeUpload final : public NarIntake::Upload {
 public:
  IntakeUpload(NarIntake& intake, BlobName name, int64_t length, std::unique_ptr<Verification> verification,
               std::unique_ptr<BlobStore::Upload> upload)
      : intake_(intake),
        name_(std::move(name)),
        length_(length),
        verification_(std::move(verification)),
        upload_(std::move(upload)) {}

  absl::Status Write(std::string_view bytes) override {
    received_ += static_cast<int64_t>(bytes.size());
    if (received_ > length_)
      return absl::InvalidArgumentError(absl::StrCat("the body is longer than ", length_, " bytes"));
    HYDRANT_RETURN_IF_ERROR(verification_->Write(bytes));
    return upload_->Write(bytes);
  }

  absl::StatusOr<BlobFacts> Finish() override {
    if (received_ != length_) {
      return absl::InvalidArgumentError(
          absl::StrCat("the body ended after ", received_, " of ", length_, " bytes"));
    }
    HYDRANT_ASSIGN_OR_RETURN(const BlobFacts facts, verification_->Finish());
    HYDRANT_RETURN_IF_ERROR(upload_->Commit(name_));
    intake_.Remember(name_, facts);
    return facts;
  }

 private:
  NarIntake& intake_;
  const BlobName name_;
  const int64_t length_;
  int64_t received_ = 0;
  std::unique_ptr<Verification> verification_;
  std::unique_ptr<BlobStore::Upload> upload_;
};

absl::StatusOr<std::unique_ptr<NarIntake::Upload>> NarIntake::Begin(const BlobName& name, int64_t length) {
  HYDRANT_ASSIGN_OR_RETURN(auto verification, Verification::Start(name, max_nar_size_));
  HYDRANT_ASSIGN_OR_RETURN(auto upload, blobs_.Begin(length));
  return std::make_unique<IntakeUpload>(*this, name, length, std::move(verification), std::move(upload));
}

absl::StatusOr<BlobFacts> NarIntake::Facts(const BlobName& name) {
  {
    MutexLock lock(mu_);
    if (const auto found = facts_.find(name.ToString()); found != facts_.end()) return found->second;
  }
  HYDRANT_ASSIGN_OR_RETURN(BlobStore::Blob blob, blobs_.Open(name));
  HYDRANT_ASSIGN_OR_RETURN(auto verification, Verification::Start(name, max_nar_size_));
  absl::Status read = ReadBlob(std::move(blob), *verification);
  absl::StatusOr<BlobFacts> facts = read.ok() ? verification->Finish() : read;
  if (!facts.ok())
    return absl::DataLossError(absl::StrCat("blob ", name.ToString(), ": ", facts.status().message()));
  Remember(name, *facts);
  return facts;
}

absl::StatusOr<NarIntake::Taken> NarIntake::Take(const std::function<absl::Status(Sink& nar)>& write) {
  HYDRANT_ASSIGN_OR_RETURN(auto upload, blobs_.Begin(0));
  nix::Sha256 file_hash;
  Tee file(file_hash, *upload);
  HYDRANT_ASSIGN_OR_RETURN(auto compressor, nix::ZstdCompressor(file));
  nix::NarVerifier verifier;
  Tee nar(verifier, *compressor);
  HYDRANT_RETURN_IF_ERROR(write(nar));
  HYDRANT_RETURN_IF_ERROR(compressor->Finish());
  HYDRANT_ASSIGN_OR_RETURN(const nix::NarFacts facts, verifier.Finish());
  Taken taken;
  taken.facts = {facts.hash, static_cast<int64_t>(facts.size), static_cast<int64_t>(file_hash.size())};
  taken.name = {file_hash.Finish().ToBase32(), ".zst"};
  HYDRANT_RETURN_IF_ERROR(upload->Commit(taken.name));
  Remember(taken.name, taken.facts);
  return taken;
}

absl::Status NarIntake::Decode(const BlobName& name, Sink& nar) {
  HYDRANT_ASSIGN_OR_RETURN(BlobStore::Blob blob, blobs_.Open(name));
  HYDRANT_ASSIGN_OR_RETURN(const std::string codec, nix::CompressionOfExtension(name.extension));
  HYDRANT_ASSIGN_OR_RETURN(auto decoder, nix::Decompressor(codec, nar));
  HYDRANT_RETURN_IF_ERROR(ReadBlob(std::move(blob), *decoder));
  return decoder->Finish();
}

void NarIntake::Remember(const BlobName& name, const BlobFacts& facts) {
  MutexLock lock(mu_);
  facts_[name.ToString()] = facts;
}

}  // namespace hydrant
