#include "lib/nix/nar_parser.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {

absl::Status NarParser::Error(std::string_view message) const {
  return absl::InvalidArgumentError(absl::StrCat("NAR byte ", token_offset_, ": ", AbslView(message)));
}

absl::Status NarParser::Unexpected(std::string_view expected) const {
  return Error(absl::StrCat("expected ", AbslView(expected), ", got \"", absl::CHexEscape(token_), "\""));
}

absl::StatusOr<size_t> NarParser::Consume(std::string_view bytes) {
  const size_t given = bytes.size();
  while (!bytes.empty() && !done()) {
    const size_t n = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
    const std::string_view piece = bytes.substr(0, n);
    bytes.remove_prefix(n);
    left_ -= n;
    if (phase_ == Phase::kLength) {
      if (token_.empty()) token_offset_ = offset_;
      token_.append(piece);
      offset_ += n;
      if (left_ == 0) HYDRANT_RETURN_IF_ERROR(OnLength());
      continue;
    }
    offset_ += n;
    if (phase_ == Phase::kBody) {
      if (state_ == State::kContents) {
        HYDRANT_RETURN_IF_ERROR(visitor_.FileContents(piece));
      } else {
        token_.append(piece);
      }
      if (left_ > 0) continue;
      phase_ = Phase::kPadding;
      left_ = (8 - length_ % 8) % 8;
    } else if (piece.find_first_not_of('\0') != std::string_view::npos) {
      return Error("expected zero bytes as padding after the token");
    }
    if (left_ == 0) HYDRANT_RETURN_IF_ERROR(OnToken());
  }
  return given - bytes.size();
}

size_t NarParser::MaxLength() const {
  return state_ == State::kName ? kNarMaxName : state_ == State::kTarget ? kNarMaxTarget : kNarMaxKeyword;
}

absl::Status NarParser::OnLength() {
  length_ = 0;
  for (int i = 7; i >= 0; --i) length_ = length_ << 8 | static_cast<unsigned char>(token_[i]);
  token_.clear();
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
  return length_ == 0 ? OnToken() : absl::OkStatus();
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
  token_.clear();
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
  if (token_ != ")") return Unexpected("\"executable\", \"contents\" or \")\"");
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
  if (token_.empty() || token_.find('\0') != std::string::npos) {
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
  if (token_.empty() || token_ == "." || token_ == ".." || token_.find('/') != std::string::npos ||
      token_.find('\0') != std::string::npos) {
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

}  // namespace hydrant::nix
