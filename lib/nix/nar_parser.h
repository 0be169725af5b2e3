// Reads a Nix archive from bytes that come in any pieces and tells a visitor what is in it. Constant memory.
// Knows nothing of files: restoring, listing, checking and skipping are visitors.
#ifndef HYDRANT_LIB_NIX_NAR_PARSER_H_
#define HYDRANT_LIB_NIX_NAR_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/stream.h"

namespace hydrant::nix {

// Bounds that are checked before anything is kept.
inline constexpr size_t kNarMaxName = 255, kNarMaxTarget = 4095, kNarMaxKeyword = 64, kNarMaxDepth = 256;

// What the name of an entry is, in every archive and listing: safe to give to openat. Not "", ".", "..", no
// "/", no NUL, at most kNarMaxName bytes.
bool IsNarName(std::string_view name);
// What a symlink may point to: any 1 to kNarMaxTarget bytes without NUL.
bool IsNarTarget(std::string_view target);

// Called in the archive's order. An error stops the parser, which returns it.
class NarVisitor {
 public:
  virtual ~NarVisitor() = default;
  virtual absl::Status BeginDirectory() { return absl::OkStatus(); }
  // The node of the entry `name` of the innermost directory comes next. IsNarName(name), and names ascend.
  virtual absl::Status EnterEntry(std::string_view name) { return absl::OkStatus(); }
  virtual absl::Status LeaveEntry() { return absl::OkStatus(); }
  virtual absl::Status EndDirectory() { return absl::OkStatus(); }
  // `offset`: where the contents begin in the archive. Contents come in pieces, none when size is 0.
  virtual absl::Status BeginFile(bool executable, uint64_t size, uint64_t offset) { return absl::OkStatus(); }
  virtual absl::Status FileContents(std::string_view bytes) { return absl::OkStatus(); }
  virtual absl::Status EndFile() { return absl::OkStatus(); }
  virtual absl::Status Symlink(std::string_view target) { return absl::OkStatus(); }
};

class NarParser {
 public:
  // `visitor` must outlive the parser.
  explicit NarParser(NarVisitor& visitor) : visitor_(visitor) {}

  // Takes what belongs to the archive: fewer than bytes.size() only when the archive ended within `bytes`.
  // InvalidArgument "NAR byte N, at bin/sh: expected …" at the first fault, with the entry that it is in or
  // behind; after an error the parser is of no further use.
  absl::StatusOr<size_t> Consume(std::string_view bytes);
  bool done() const { return state_ == State::kDone; }
  uint64_t offset() const { return offset_; }  // bytes consumed
  // What to say when bytes follow the archive, or no more come before its end.
  absl::Status TrailingBytes() const;
  absl::Status EndsTooEarly() const;

 private:
  // What the next token must be.
  enum class State {
    kMagic,
    kNodeOpen,
    kTypeKeyword,
    kType,
    kFileKeyword,
    kExecutableValue,
    kContentsKeyword,
    kContents,
    kFileClose,
    kTargetKeyword,
    kTarget,
    kSymlinkClose,
    kEntryKeyword,
    kEntryOpen,
    kNameKeyword,
    kName,
    kNodeKeyword,
    kEntryClose,
    kDone,
  };
  enum class Phase { kLength, kBody, kPadding };

  std::string Where() const;
  absl::Status Error(std::string_view message) const;
  absl::Status Unexpected(std::string_view expected) const;
  size_t WholeToken(std::string_view bytes);
  absl::Status OnPiece(std::string_view piece);
  absl::Status OnLength();
  absl::Status OnToken();
  absl::Status OnFileToken();
  absl::Status OnDirectoryToken();
  absl::Status OnTarget();
  absl::Status OnType();
  absl::Status OnName();
  absl::Status Keyword(std::string_view expected, State next);
  absl::Status OnFileEnd();
  absl::Status OnNodeEnd();
  size_t MaxLength() const;

  NarVisitor& visitor_;
  State state_ = State::kMagic;
  Phase phase_ = Phase::kLength;
  uint64_t offset_ = 0, token_offset_ = 0;
  uint64_t length_ = 0, left_ = 8;  // of the token; what is still to come of the phase
  std::string_view token_;
  std::string partial_;  // what came of a token that is not all there
  bool executable_ = false;
  std::vector<std::string> last_names_;  // of each open directory
};

// Reads `nar` to its end, which must be that of the archive. The parser's, the visitor's or the source's
// error.
absl::Status ParseNar(Source& nar, NarVisitor& visitor);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_NAR_PARSER_H_
