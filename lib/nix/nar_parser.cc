#include "lib/nix/nar_parser.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

uint64_t Number(const char* bytes) {
  uint64_t n = 0;
  for (int i = 7; i >= 0; --i) n = n << 8 | static_cast<unsigned char>(bytes[i]);
  return n;
}

}  // namespace

bool IsNarName(std::string_view name) {
  return !name.empty() && name.size() <= kNarMaxName && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

bool IsNarTarget(std::string_view target) {
  return !target.empty() && target.size() <= kNarMaxTarget && target.find('\0') == std::string_view::npos;
}

std::string NarParser::Where() const {
  std::string where;
  for (const std::string& name : last_names_) {
    if (!name.empty()) absl::StrAppend(&where, where.empty() ? ", at " : "/", absl::CHexEscape(name));
  }
  return where;
}

absl::Status NarParser::Error(std::string_view message) const {
  return absl::InvalidArgumentError(
      absl::StrCat("NAR byte ", token_offset_, Where(), ": ", AbslView(message)));
}

absl::Status NarParser::Unexpected(std::string_view expected) const {
  return Error(
      absl::StrCat("expected ", AbslView(expected), ", got \"", absl::CHexEscape(AbslView(token_)), "\""));
}

absl::Status NarParser::TrailingBytes() const {
  return absl::InvalidArgumentError(
      absl::StrCat("NAR byte ", offset_, ": expected the end of the archive, more bytes follow"));
}

absl::Status NarParser::EndsTooEarly() const {
  return absl::InvalidArgumentError(
      absl::StrCat("NAR byte ", offset_, Where(), ": the archive ends too early"));
}

absl::StatusOr<size_t> NarParser::Consume(std::string_view bytes) {
  const size_t given = bytes.size();
  while (!bytes.empty() && !done()) {
    if (const size_t whole = WholeToken(bytes); whole > 0) {
      token_offset_ = offset_;
      offset_ += whole;
      token_ = bytes.substr(8, length_);
      bytes.remove_prefix(whole);
      HYDRANT_RETURN_IF_ERROR(OnToken());
      continue;
    }
    const std::string_view piece =
        bytes.substr(0, static_cast<size_t>(std::min<uint64_t>(left_, bytes.size())));
    bytes.remove_prefix(piece.size());
    HYDRANT_RETURN_IF_ERROR(OnPiece(piece));
  }
  return given - bytes.size();
}

// The length with its number and padding of a token that is all there and within its bounds, not contents;
// length_ is set. Else 0: then it comes piece by piece, which also finds the error.
size_t NarParser::WholeToken(std::string_view bytes) {
  if (phase_ != Phase::kLength || left_ != 8 || state_ == State::kContents || bytes.size() < 8) return 0;
  const uint64_t length = Number(bytes.data());
  if (length > MaxLength()) return 0;
  const size_t padded = 8 + (length + 7) / 8 * 8;
  if (bytes.size() < padded) return 0;
  for (size_t i = 8 + length; i < padded; ++i) {
    if (bytes[i] != 0) return 0;
  }
  length_ = length;
  return padded;
}

absl::Status NarParser::OnPiece(std::string_view piece) {
  if (phase_ == Phase::kLength && left_ == 8) {
    token_offset_ = offset_;
    partial_.clear();
  }
  left_ -= piece.size();
  offset_ += piece.size();
  if (phase_ == Phase::kLength) {
    partial_.append(piece);
    return left_ == 0 ? OnLength() : absl::OkStatus();
  }
  if (phase_ == Phase::kBody) {
    if (state_ == State::kContents) {
      HYDRANT_RETURN_IF_ERROR(visitor_.FileContents(piece));
    } else {
      partial_.append(piece);
    }
    if (left_ > 0) return absl::OkStatus();
    phase_ = Phase::kPadding;
    left_ = (8 - length_ % 8) % 8;
  } else if (piece.find_first_not_of('\0') != std::string_view::npos) {
    return Error("expected zero bytes as padding after the token");
  }
  if (left_ > 0) return absl::OkStatus();
  token_ = partial_;
  return OnToken();
}

size_t NarParser::MaxLength() const {
  return state_ == State::kName ? kNarMaxName : state_ == State::kTarget ? kNarMaxTarget : kNarMaxKeyword;
}

absl::Status NarParser::OnLength() {
  length_ = Number(partial_.data());
  partial_.clear();
  if (state_ == State::kContents) {
    if (length_ >> 63 != 0) return Error("expected a file size below 2^63");
    HYDRANT_RETURN_IF_ERROR(visitor_.BeginFile(executable_, length_, offset_));
  } else if (length_ > MaxLength()) {
    const std::string_view what = state_ == State::kName     ? "a name"
                                  : state_ == State::kTarget ? "a symlink's target"
                                  : state_ == State::kMagic  ? "\"nix-archive-1\""
                                                             : "a keyword";
    return Error(
        absl::StrCat("expected ", AbslView(what), " of at most ", MaxLength(), " bytes, got ", length_));
  }
  phase_ = Phase::kBody;
  left_ = length_;
  if (length_ > 0) return absl::OkStatus();
  token_ = {};
  return OnToken();
}

absl::Status NarParser::Keyword(std::string_view expected, State next) {
  if (token_ != expected) return Unexpected(absl::StrCat("\"", AbslView(expected), "\""));
  state_ = next;
  return absl::OkStatus();
}

absl::Status NarParser::OnToken() {
  absl::Status status;
  switch (state_) {
    case State::kMagic:
      status = Keyword("nix-archive-1", State::kNodeOpen);
      break;
    case State::kNodeOpen:
      status = Keyword("(", State::kTypeKeyword);
      break;
    case State::kTypeKeyword:
      status = Keyword("type", State::kType);
      break;
    case State::kType:
      status = OnType();
      break;
    case State::kTargetKeyword:
      status = Keyword("target", State::kTarget);
      break;
    case State::kTarget:
      status = OnTarget();
      break;
    case State::kSymlinkClose:
      status = token_ == ")" ? OnNodeEnd() : Unexpected("\")\" after the target of a symlink");
      break;
    case State::kFileKeyword:
    case State::kExecutableValue:
    case State::kContentsKeyword:
    case State::kContents:
    case State::kFileClose:
      status = OnFileToken();
      break;
    case State::kEntryKeyword:
    case State::kEntryOpen:
    case State::kNameKeyword:
    case State::kName:
    case State::kNodeKeyword:
    case State::kEntryClose:
      status = OnDirectoryToken();
      break;
    case State::kDone:
      break;
  }
  phase_ = Phase::kLength;
  left_ = 8;
  return status;
}

absl::Status NarParser::OnFileToken() {
  if (state_ == State::kExecutableValue) return Keyword("", State::kContentsKeyword);
  if (state_ == State::kContents) {
    state_ = State::kFileClose;
    return absl::OkStatus();
  }
  if (state_ == State::kFileClose) {
    return token_ == ")" ? OnFileEnd() : Unexpected("\")\" after the contents of a file");
  }
  if (state_ == State::kFileKeyword && token_ == "executable") {
    executable_ = true;
    state_ = State::kExecutableValue;
    return absl::OkStatus();
  }
  if (token_ == "contents") {
    state_ = State::kContents;
    return absl::OkStatus();
  }
  if (token_ != ")") {
    return Unexpected(state_ == State::kFileKeyword ? "\"executable\", \"contents\" or \")\""
                                                    : "\"contents\" or \")\"");
  }
  HYDRANT_RETURN_IF_ERROR(visitor_.BeginFile(executable_, 0, offset_));  // no contents: an empty file
  return OnFileEnd();
}

absl::Status NarParser::OnDirectoryToken() {
  switch (state_) {
    case State::kEntryOpen:
      return Keyword("(", State::kNameKeyword);
    case State::kNameKeyword:
      return Keyword("name", State::kName);
    case State::kName:
      return OnName();
    case State::kNodeKeyword:
      return Keyword("node", State::kNodeOpen);
    case State::kEntryClose:
      HYDRANT_RETURN_IF_ERROR(Keyword(")", State::kEntryKeyword));
      return visitor_.LeaveEntry();
    default:
      break;
  }
  if (token_ == "entry") {
    state_ = State::kEntryOpen;
    return absl::OkStatus();
  }
  if (token_ != ")") return Unexpected("\"entry\" or \")\" in a folder");
  last_names_.pop_back();
  HYDRANT_RETURN_IF_ERROR(visitor_.EndDirectory());
  return OnNodeEnd();
}

absl::Status NarParser::OnTarget() {
  if (!IsNarTarget(token_)) {
    return Error("expected a symlink's target that is not empty and has no NUL");
  }
  state_ = State::kSymlinkClose;
  return visitor_.Symlink(token_);
}

absl::Status NarParser::OnType() {
  if (token_ == "regular") {
    executable_ = false;
    state_ = State::kFileKeyword;
    return absl::OkStatus();
  }
  if (token_ == "symlink") {
    state_ = State::kTargetKeyword;
    return absl::OkStatus();
  }
  if (token_ != "directory") return Unexpected("\"regular\", \"symlink\" or \"directory\"");
  if (last_names_.size() >= kNarMaxDepth)
    return Error(absl::StrCat("folders are nested deeper than ", kNarMaxDepth));
  last_names_.emplace_back();
  state_ = State::kEntryKeyword;
  return visitor_.BeginDirectory();
}

absl::Status NarParser::OnName() {
  if (!IsNarName(token_)) {
    return Unexpected("the name of a file (not empty, \".\", \"..\", no \"/\", no NUL)");
  }
  if (!last_names_.back().empty() && token_ <= last_names_.back()) {
    return Unexpected(
        absl::StrCat("a name after \"", absl::CHexEscape(last_names_.back()), "\" in byte order"));
  }
  last_names_.back() = token_;
  state_ = State::kNodeKeyword;
  return visitor_.EnterEntry(token_);
}

absl::Status NarParser::OnFileEnd() {
  HYDRANT_RETURN_IF_ERROR(visitor_.EndFile());
  return OnNodeEnd();
}

absl::Status NarParser::OnNodeEnd() {
  state_ = last_names_.empty() ? State::kDone : State::kEntryClose;
  return absl::OkStatus();
}

absl::Status ParseNar(Source& nar, NarVisitor& visitor) {
  NarParser parser(visitor);
  std::vector<char> block(256 << 10);
  while (true) {
    HYDRANT_ASSIGN_OR_RETURN(const size_t n, nar.Read(block));
    if (n == 0) break;
    HYDRANT_ASSIGN_OR_RETURN(const size_t consumed, parser.Consume({block.data(), n}));
    if (consumed < n) return parser.TrailingBytes();
  }
  return parser.done() ? absl::OkStatus() : parser.EndsTooEarly();
}

}  // namespace hydrant::nix
