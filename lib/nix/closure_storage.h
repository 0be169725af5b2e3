// Memory of a closure that only grows: text and arrays in one arena, values behind 32-bit ids. What was
// handed out never moves, so that readers need no lock for what they were given; adding is for one thread at
// a time.
#ifndef HYDRANT_LIB_NIX_CLOSURE_STORAGE_H_
#define HYDRANT_LIB_NIX_CLOSURE_STORAGE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hydrant::nix {

class ClosureArena {
 public:
  // With a NUL behind it.
  std::string_view Keep(std::string_view text) {
    char* const copy = Take<char>(text.size() + 1);
    memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return {copy, text.size()};
  }
  template <typename T>
  std::span<const T> Keep(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    if (values.empty()) return {};
    T* const copy = Take<T>(values.size());
    memcpy(static_cast<void*>(copy), values.data(), values.size() * sizeof(T));
    return {copy, values.size()};
  }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kBlock = 256 << 10;

  template <typename T>
  T* Take(size_t count) {
    const size_t size = count * sizeof(T);
    size_t start = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
    if (blocks_.empty() || start + size > block_size_) {
      block_size_ = std::max(kBlock, size);
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size_));
      bytes_ += block_size_;
      start = 0;
    }
    used_ = start + size;
    return reinterpret_cast<T*>(blocks_.back().get() + start);
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t used_ = 0, block_size_ = 0, bytes_ = 0;
};

// Values by index, in pieces that stay where they are.
template <typename T>
class ClosureTable {
 public:
  static constexpr uint32_t kMost = 16u << 20;

  uint32_t size() const { return size_; }
  bool full() const { return size_ == kMost; }
  uint32_t Add(const T& value) {  // not when full()
    if (size_ % kPiece == 0) pieces_[size_ / kPiece] = std::make_unique<T[]>(kPiece);
    (*this)[size_] = value;
    return size_++;
  }
  T& operator[](uint32_t i) { return pieces_[i / kPiece][i % kPiece]; }
  const T& operator[](uint32_t i) const { return pieces_[i / kPiece][i % kPiece]; }
  size_t bytes() const { return (size_ + kPiece - 1) / kPiece * kPiece * sizeof(T); }

 private:
  static constexpr uint32_t kPiece = 1024;
  std::array<std::unique_ptr<T[]>, kMost / kPiece> pieces_;
  uint32_t size_ = 0;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_CLOSURE_STORAGE_H_
