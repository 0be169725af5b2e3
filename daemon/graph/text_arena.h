// Texts kept for as long as it lives, close together and never moved. Knows nothing of what they say; frees
// none.
#ifndef HYDRANT_DAEMON_GRAPH_TEXT_ARENA_H_
#define HYDRANT_DAEMON_GRAPH_TEXT_ARENA_H_

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace hydrant {

class TextArena {
 public:
  std::string_view Keep(std::string_view text) {
    if (text.size() > left_) {
      left_ = std::max(text.size(), kChunk);
      chunks_.push_back(std::make_unique_for_overwrite<char[]>(left_));
      next_ = chunks_.back().get();
    }
    char* kept = next_;
    std::copy(text.begin(), text.end(), kept);
    next_ += text.size();
    left_ -= text.size();
    return {kept, text.size()};
  }

 private:
  static constexpr size_t kChunk = 64 << 10;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  size_t left_ = 0;
};

// A text with its hash, so that a table of many looks at the text itself only where it finds it.
struct HashedText {
  std::string_view text;
  size_t hash = 0;
  friend bool operator==(const HashedText& a, const HashedText& b) {
    return a.hash == b.hash && a.text == b.text;
  }
};
struct HashOfText {
  size_t operator()(const HashedText& text) const { return text.hash; }
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_GRAPH_TEXT_ARENA_H_
