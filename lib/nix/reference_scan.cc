#include "lib/nix/reference_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "lib/nix/store_path.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hydrant::nix {
namespace {

constexpr size_t kBlock = 16;  // 32 characters in a row fill at least one aligned block of 16

constexpr std::array<bool, 256> Base32Characters() {
  std::array<bool, 256> is{};
  for (const char c : std::string_view("0123456789abcdfghijklmnpqrsvwxyz"))
    is[static_cast<unsigned char>(c)] = true;
  return is;
}
constexpr std::array<bool, 256> kIsBase32 = Base32Characters();

bool IsBase32(char c) { return kIsBase32[static_cast<unsigned char>(c)]; }

uint64_t Mix(const char* window) {
  uint64_t first;
  std::memcpy(&first, window, sizeof first);
  return first * 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio: the high bits depend on every byte
}

#if defined(__x86_64__)
// A character is of the alphabet when the entries of its two nibbles share a bit: 1 for 0x3., 2 for 0x6., 4
// for 0x7.
constexpr std::array<std::array<uint8_t, 16>, 2> NibbleTables() {
  std::array<std::array<uint8_t, 16>, 2> tables{};
  tables[1][3] = 1;
  tables[1][6] = 2;
  tables[1][7] = 4;
  for (int c = 0; c < 128; ++c) {
    if (kIsBase32[c]) tables[0][c % 16] |= tables[1][c / 16];
  }
  return tables;
}
constexpr auto kNibbles = NibbleTables();

// The position of the first block of base32 characters in bytes [at, end), a multiple of 64 bytes; `end` if
// there is none.
__attribute__((target("avx2"))) size_t FirstFullBlock(const char* bytes, size_t at, size_t end) {
  const auto table = [](const uint8_t* from) __attribute__((target("avx2"))) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  };
  const __m256i low = table(kNibbles[0].data()), high = table(kNibbles[1].data());
  const __m256i nibble = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
  for (; at < end; at += 64) {
    uint64_t foreign = 0;  // a bit for each byte that is not of the alphabet
    for (int half = 0; half < 2; ++half) {
      const __m256i c = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + at + 32 * half));
      const __m256i by_low = _mm256_shuffle_epi8(low, c);  // 0 for a byte above 127
      const __m256i by_high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(c, 4), nibble));
      const __m256i out = _mm256_cmpeq_epi8(_mm256_and_si256(by_low, by_high), zero);
      foreign |= uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(out))} << (32 * half);
    }
    // The lowest set bit is that of the lowest 16 bits which are all zero.
    const uint64_t full = (foreign - 0x0001000100010001) & ~foreign & 0x8000800080008000;
    if (full != 0) return at + std::countr_zero(full) / kBlock * kBlock;
  }
  return end;
}

const bool kHasAvx2 = __builtin_cpu_supports("avx2");
#else
constexpr bool kHasAvx2 = false;
size_t FirstFullBlock(const char*, size_t at, size_t) { return at; }
#endif

}  // namespace

ReferenceScan::ReferenceScan(std::set<std::string> hash_parts) : wanted_(std::move(hash_parts)) {
  const size_t bits = std::clamp<size_t>(std::bit_ceil(wanted_.size() * 64), 1 << 12, 1 << 22);
  filter_.resize(bits / 64);
  filter_shift_ = 64 - std::countr_zero(bits);
  for (const std::string& part : wanted_) {
    if (part.size() != kHashPartLength) continue;  // occurs nowhere
    missing_.insert(part);
    const uint64_t bit = Mix(part.data()) >> filter_shift_;
    filter_[bit / 64] |= uint64_t{1} << bit % 64;
  }
}

void ReferenceScan::Feed(std::string_view bytes) {
  if (missing_.empty()) return;
  if (!tail_.empty()) {
    // Windows across the border: at most 31 bytes on either side of it.
    std::string border = tail_;
    border.append(bytes.substr(0, kHashPartLength - 1));
    Search(border);
  }
  Search(bytes);
  if (bytes.size() >= kHashPartLength - 1) {
    tail_ = bytes.substr(bytes.size() - (kHashPartLength - 1));
  } else {
    tail_.append(bytes);
    if (tail_.size() > kHashPartLength - 1) tail_.erase(0, tail_.size() - (kHashPartLength - 1));
  }
}

void ReferenceScan::Try(const char* window) {
  const uint64_t bit = Mix(window) >> filter_shift_;
  if ((filter_[bit / 64] >> bit % 64 & 1) == 0) return;
  const auto hit = missing_.find(std::string_view(window, kHashPartLength));
  if (hit == missing_.end()) return;
  found_.emplace(*hit);
  missing_.erase(hit);
}

void ReferenceScan::SearchRun(std::string_view run) {
  for (size_t i = 0; i + kHashPartLength <= run.size(); ++i) Try(run.data() + i);
}

// Looks at whole groups of 64 bytes; returns where the first window may begin that it did not look at.
size_t ReferenceScan::SearchBlocks(std::string_view bytes) {
  size_t done = 0, at = 0;
  while (bytes.size() - at >= 64) {
    const size_t end = at + (bytes.size() - at) / 64 * 64;
    at = FirstFullBlock(bytes.data(), at, end);
    if (at == end) break;
    size_t run_begin = at, run_end = at + kBlock;
    while (run_begin > done && IsBase32(bytes[run_begin - 1])) --run_begin;
    while (run_end < bytes.size() && IsBase32(bytes[run_end])) ++run_end;
    SearchRun(bytes.substr(run_begin, run_end - run_begin));
    done = run_end;
    at = run_end / kBlock * kBlock;
  }
  return std::max(done, at < kBlock ? 0 : at - (kBlock - 1));
}

void ReferenceScan::Search(std::string_view bytes) {
  size_t start = kHasAvx2 ? SearchBlocks(bytes) : 0;
  // From the last character of a window backwards: a foreign one lets the window jump behind it.
  while (start + kHashPartLength <= bytes.size()) {
    size_t j = kHashPartLength;
    while (j > 0 && IsBase32(bytes[start + j - 1])) --j;
    if (j == 0) Try(bytes.data() + start);
    start += j == 0 ? 1 : j;
  }
}

}  // namespace hydrant::nix
