// Which pairs of neighbouring bytes a text has, roughly: a text that lacks one pair of a pattern cannot match
// it. Spares most of the searching in long logs.
#ifndef HYDRANT_LIB_FAILURE_PAIR_SET_H_
#define HYDRANT_LIB_FAILURE_PAIR_SET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hydrant {

class PairSet {
 public:
  constexpr PairSet() = default;
  constexpr explicit PairSet(std::string_view text) { Add(text); }

  constexpr void Add(std::string_view text) {
    for (size_t i = 1; i < text.size(); ++i) {
      const unsigned bit =
          (static_cast<unsigned char>(text[i - 1]) * 37u + static_cast<unsigned char>(text[i])) & 255;
      words_[bit >> 6] |= uint64_t{1} << (bit & 63);
    }
  }
  // False: not all that `other` was made of is in here. True: perhaps it is.
  constexpr bool MayContain(const PairSet& other) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      if ((other.words_[i] & ~words_[i]) != 0) return false;
    }
    return true;
  }

 private:
  std::array<uint64_t, 4> words_{};
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_FAILURE_PAIR_SET_H_
