// Bytes that can be read at any position: a file, or text in memory. Any number of threads at once.
#ifndef HYDRANT_LIB_NIX_POSITIONED_SOURCE_H_
#define HYDRANT_LIB_NIX_POSITIONED_SOURCE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hydrant::nix {

class PositionedSource {
 public:
  virtual ~PositionedSource() = default;
  virtual uint64_t size() const = 0;
  // Fills all of `buffer`. OutOfRange when it reaches beyond the end.
  virtual absl::Status ReadAt(uint64_t offset, std::span<char> buffer) const = 0;
};

// A plain file, as large as it was when opened here. The descriptor stays the caller's.
class FileBytes final : public PositionedSource {
 public:
  static absl::StatusOr<FileBytes> Of(int fd);
  uint64_t size() const override { return size_; }
  absl::Status ReadAt(uint64_t offset, std::span<char> buffer) const override;

 private:
  FileBytes(int fd, uint64_t size) : fd_(fd), size_(size) {}
  int fd_;
  uint64_t size_;
};

// `text` must outlive it.
class TextBytes final : public PositionedSource {
 public:
  explicit TextBytes(std::string_view text) : text_(text) {}
  uint64_t size() const override { return text_.size(); }
  absl::Status ReadAt(uint64_t offset, std::span<char> buffer) const override;

 private:
  std::string_view text_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_POSITIONED_SOURCE_H_
