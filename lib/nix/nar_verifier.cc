#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/nar.h"
#include "lib/nix/nar_parser.h"
#include "lib/nix/reference_scan.h"

namespace hydrant::nix {

class NarVerifier::Impl {
 public:
  explicit Impl(std::set<std::string> hash_parts) : parser_(nothing_), scan_(std::move(hash_parts)) {}

  absl::Status Write(std::string_view bytes) {
    HYDRANT_ASSIGN_OR_RETURN(const size_t consumed, parser_.Consume(bytes));
    if (consumed < bytes.size()) {
      return absl::InvalidArgumentError(absl::StrCat("NAR byte ", parser_.offset(),
                                                     ": expected the end of the archive, more bytes follow"));
    }
    scan_.Feed(bytes);
    return hash_.Write(bytes);
  }

  absl::StatusOr<NarFacts> Finish() {
    if (!parser_.done()) {
      return absl::InvalidArgumentError(
          absl::StrCat("NAR byte ", parser_.offset(), ": the archive ends too early"));
    }
    return NarFacts{hash_.Finish(), hash_.size(), scan_.found()};
  }

 private:
  NarVisitor nothing_;
  NarParser parser_;
  ReferenceScan scan_;
  Sha256 hash_;
};

NarVerifier::NarVerifier(std::set<std::string> hash_parts)
    : impl_(std::make_unique<Impl>(std::move(hash_parts))) {}
NarVerifier::~NarVerifier() = default;
absl::Status NarVerifier::Write(std::string_view bytes) { return impl_->Write(bytes); }
absl::StatusOr<NarFacts> NarVerifier::Finish() { return impl_->Finish(); }

}  // namespace hydrant::nix
