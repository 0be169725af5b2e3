// The bytes of Nix's worker protocol: every number is 64 bits, little-endian; a string is its length, its
// bytes and zeros up to a multiple of 8; a set or map is its size and its members. Knows no operation and no
// descriptor.
#ifndef HYDRANT_LIB_NIX_DAEMON_FORMAT_H_
#define HYDRANT_LIB_NIX_DAEMON_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hydrant::nix {

class WireWriter {
 public:
  void PutNumber(uint64_t number);
  void PutBool(bool value) { PutNumber(value ? 1 : 0); }
  void PutString(std::string_view text);
  template <typename Container>
  void PutStrings(const Container& texts) {
    PutNumber(texts.size());
    for (const auto& text : texts) PutString(text);
  }
  void PutMap(const std::map<std::string, std::string>& texts);
  // Seconds since 1970; 0 is InfinitePast.
  void PutTime(absl::Time time);
  void PutBytes(std::string_view bytes) { bytes_.append(bytes); }

  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::exchange(bytes_, {}); }

 private:
  std::string bytes_;
};

// Reads from a buffer that a subclass fills. The first transport or format error breaks it: that and every
// later call that needs more bytes return that error. DataLoss: a length, count or padding that the format
// does not have. What is announced is allocated only as it arrives. One thread.
class WireReader {
 public:
  WireReader() = default;
  virtual ~WireReader() = default;
  WireReader(const WireReader&) = delete;
  WireReader& operator=(const WireReader&) = delete;

  absl::StatusOr<uint64_t> ReadNumber();
  // Any number but 0 is true.
  absl::StatusOr<bool> ReadBool();
  absl::StatusOr<absl::Time> ReadTime();
  // At most 64 MiB.
  absl::StatusOr<std::string> ReadString();
  // At most 2^24 strings of together 1 GiB.
  absl::StatusOr<std::set<std::string>> ReadStrings();
  absl::StatusOr<std::map<std::string, std::string>> ReadMap();
  // A number of things to follow; DataLoss names `what` when it is over `most`.
  absl::StatusOr<uint64_t> ReadCount(uint64_t most, std::string_view what);

  // At least one byte that was not read yet; valid until the next call. Skip() takes the first `n` of them.
  absl::StatusOr<std::string_view> Peek();
  void Skip(size_t n) {
    begin_ += n;
    streamed_ += n;
  }
  bool has_unread() const { return begin_ < end_; }
  size_t unread() const { return end_ - begin_; }

  // Makes it broken by an error that was found above it, which is returned.
  absl::Status Break(absl::Status status);
  absl::Status Garbled(std::string_view what);  // Break() with DataLoss
  const absl::Status& broken() const { return broken_; }

 protected:
  // Appends at least one byte by Room() and Added(), or breaks.
  virtual absl::Status Fill() = 0;
  // A new number, or the next 64 KiB of a string or of what Peek() gives, begins: for those who count time.
  virtual void BeginElement() {}
  // Space for `size` bytes behind what is buffered, of which Added() says how many came.
  char* Room(size_t size);
  void Added(size_t size) { end_ += size; }

 private:
  absl::Status Await(size_t bytes);  // until so many are buffered

  absl::Status broken_;
  std::vector<char> buffer_;  // begin_ to end_ is unread
  size_t begin_ = 0, end_ = 0;
  size_t streamed_ = 0;  // by Skip() in this element
};

// Reads bytes that are all there; at their end Unavailable.
class WireBytes final : public WireReader {
 public:
  explicit WireBytes(std::string_view bytes);

 private:
  absl::Status Fill() override;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_FORMAT_H_
