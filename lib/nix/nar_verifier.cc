#include <algorithm>

#include "lib/base/status_macros.h"
#include "lib/nix/nar.h"
#include "lib/nix/nar_parser.h"
#include "lib/nix/reference_scan.h"

namespace hydrant::nix {
namespace {

// What parser, scan and hash see in turn: it stays in a core's first-level cache meanwhile.
constexpr size_t kPiece = 32 << 10;

// Scans and hashes, and takes it on trust that the bytes are an archive.
class Digester final : public Sink {
 public:
  explicit Digester(std::set<std::string> hash_parts) : scan_(std::move(hash_parts)) {}

  absl::Status Write(std::string_view bytes) override {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
      const std::string_view piece = bytes.substr(0, kPiece);
      scan_.Feed(piece);
      HYDRANT_RETURN_IF_ERROR(hash_.Write(piece));
    }
    return absl::OkStatus();
  }

  NarFacts Finish() { return {.hash = hash_.Finish(), .size = hash_.size(), .references = scan_.found()}; }

 private:
  ReferenceScan scan_;
  Sha256 hash_;
};

}  // namespace

class NarVerifier::Impl {
 public:
  explicit Impl(NarQuestions questions)
      : lister_(questions.max_listing_bytes),
        wants_listing_(questions.listing),
        parser_(wants_listing_ ? static_cast<NarVisitor&>(lister_) : nothing_),
        digester_(std::move(questions.hash_parts)) {}

  absl::Status Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, kPiece);
      bytes.remove_prefix(piece.size());
      HYDRANT_ASSIGN_OR_RETURN(const size_t consumed, parser_.Consume(piece));
      if (consumed < piece.size()) return parser_.TrailingBytes();
      HYDRANT_RETURN_IF_ERROR(digester_.Write(piece));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<NarFacts> Finish() {
    if (!parser_.done()) return parser_.EndsTooEarly();
    NarFacts facts = digester_.Finish();
    if (wants_listing_) facts.listing = lister_.Finish();
    return facts;
  }

 private:
  NarVisitor nothing_;
  NarLister lister_;
  const bool wants_listing_;
  NarParser parser_;
  Digester digester_;
};

NarVerifier::NarVerifier(std::set<std::string> hash_parts)
    : NarVerifier(NarQuestions{.hash_parts = std::move(hash_parts)}) {}
NarVerifier::NarVerifier(NarQuestions questions) : impl_(std::make_unique<Impl>(std::move(questions))) {}
NarVerifier::~NarVerifier() = default;
absl::Status NarVerifier::Write(std::string_view bytes) { return impl_->Write(bytes); }
absl::StatusOr<NarFacts> NarVerifier::Finish() { return impl_->Finish(); }

absl::StatusOr<NarFacts> DescribePath(const std::string& path, NarQuestions questions) {
  if (!questions.listing) {
    Digester digester(std::move(questions.hash_parts));
    HYDRANT_RETURN_IF_ERROR(DumpPath(path, digester));
    return digester.Finish();
  }
  NarVerifier verifier(std::move(questions));
  HYDRANT_RETURN_IF_ERROR(DumpPath(path, verifier));
  return verifier.Finish();
}

}  // namespace hydrant::nix
