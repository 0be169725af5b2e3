// The part in which two texts differ, short enough for a line. Pure.
#ifndef HYDRANT_DAEMON_GRAPH_TEXT_DIFFERENCE_H_
#define HYDRANT_DAEMON_GRAPH_TEXT_DIFFERENCE_H_

#include <string>
#include <string_view>

namespace hydrant {

struct TextDifference {
  std::string before, after;
};

// What is left of both without the words that they begin and end with alike. Each at most `most` bytes, cut
// between characters with "…" where something was left out at the end.
TextDifference DifferenceOfTexts(std::string_view before, std::string_view after, size_t most = 60);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_GRAPH_TEXT_DIFFERENCE_H_
