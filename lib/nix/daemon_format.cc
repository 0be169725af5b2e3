#include "lib/nix/daemon_format.h"

#include <string.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

constexpr uint64_t kMaxString = 64 << 20, kMaxStrings = 1 << 24, kMaxStringsBytes = 1 << 30;
// So much of a string may be moving at once: its own bound in time (BeginElement) and in memory.
constexpr size_t kPiece = 64 << 10;

}  // namespace

void WireWriter::PutNumber(uint64_t number) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (8 * i));
  bytes_.append(bytes, sizeof bytes);
}

void WireWriter::PutString(std::string_view text) {
  PutNumber(text.size());
  bytes_.append(text);
  bytes_.append((8 - text.size() % 8) % 8, '\0');
}

void WireWriter::PutMap(const std::map<std::string, std::string>& texts) {
  PutNumber(texts.size());
  for (const auto& [key, value] : texts) {
    PutString(key);
    PutString(value);
  }
}

void WireWriter::PutTime(absl::Time time) {
  PutNumber(time == absl::InfinitePast() ? 0 : static_cast<uint64_t>(absl::ToUnixSeconds(time)));
}

absl::Status WireReader::Break(absl::Status status) {
  if (broken_.ok()) broken_ = std::move(status);
  return broken_;
}

absl::Status WireReader::Garbled(std::string_view what) {
  return Break(absl::DataLossError(absl::StrCat("the Nix daemon sent ", AbslView(what))));
}

char* WireReader::Room(size_t size) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (buffer_.size() - end_ < size && begin_ >= kPiece) {
    memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < size) buffer_.resize(std::max(end_ + size, 2 * buffer_.size()));
  return buffer_.data() + end_;
}

absl::Status WireReader::Await(size_t bytes) {
  if (unread() >= bytes) return absl::OkStatus();
  BeginElement();
  size_t piece_end = unread() + kPiece;
  while (unread() < bytes) {
    HYDRANT_RETURN_IF_ERROR(Fill());
    if (unread() < piece_end) continue;
    BeginElement();
    piece_end = unread() + kPiece;
  }
  streamed_ = kPiece;
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> WireReader::Peek() {
  if (!has_unread()) {
    if (streamed_ >= kPiece) {
      BeginElement();
      streamed_ = 0;
    }
    HYDRANT_RETURN_IF_ERROR(Fill());
  }
  return std::string_view(buffer_.data() + begin_, unread());
}

absl::StatusOr<uint64_t> WireReader::ReadNumber() {
  HYDRANT_RETURN_IF_ERROR(Await(8));
  uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(buffer_[begin_ + i]);
  begin_ += 8;
  return number;
}

absl::StatusOr<bool> WireReader::ReadBool() {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t number, ReadNumber());
  return number != 0;
}

absl::StatusOr<absl::Time> WireReader::ReadTime() {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t seconds, ReadNumber());
  return seconds == 0 ? absl::InfinitePast() : absl::FromUnixSeconds(static_cast<int64_t>(seconds));
}

absl::StatusOr<std::string> WireReader::ReadString() {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t length, ReadNumber());
  if (length > kMaxString) return Garbled(absl::StrCat("a string of ", length, " bytes"));
  const size_t padded = static_cast<size_t>((length + 7) / 8 * 8);
  HYDRANT_RETURN_IF_ERROR(Await(padded));
  const std::string_view all(buffer_.data() + begin_, padded);
  if (all.find_first_not_of('\0', length) != std::string_view::npos)
    return Garbled("a string whose padding is not zero");
  begin_ += padded;
  return std::string(all.substr(0, length));
}

absl::StatusOr<uint64_t> WireReader::ReadCount(uint64_t most, std::string_view what) {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, ReadNumber());
  if (count > most)
    return Garbled(absl::StrCat("a count of ", count, " ", AbslView(what), ", expected at most ", most));
  return count;
}

absl::StatusOr<std::set<std::string>> WireReader::ReadStrings() {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, ReadCount(kMaxStrings, "strings"));
  std::set<std::string> texts;
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    HYDRANT_ASSIGN_OR_RETURN(std::string text, ReadString());
    bytes += text.size();
    if (bytes > kMaxStringsBytes) return Garbled("a set of more than 1 GiB");
    texts.insert(texts.end(), std::move(text));
  }
  return texts;
}

absl::StatusOr<std::map<std::string, std::string>> WireReader::ReadMap() {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, ReadCount(kMaxStrings, "entries"));
  std::map<std::string, std::string> texts;
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    HYDRANT_ASSIGN_OR_RETURN(std::string key, ReadString());
    HYDRANT_ASSIGN_OR_RETURN(std::string value, ReadString());
    bytes += key.size() + value.size();
    if (bytes > kMaxStringsBytes) return Garbled("a map of more than 1 GiB");
    texts.insert_or_assign(std::move(key), std::move(value));
  }
  return texts;
}

WireBytes::WireBytes(std::string_view bytes) {
  bytes.copy(Room(bytes.size()), bytes.size());
  Added(bytes.size());
}

absl::Status WireBytes::Fill() { return Break(absl::UnavailableError("the bytes end")); }

}  // namespace hydrant::nix
