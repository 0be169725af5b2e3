// Looks for a table's wordings in lines that come one after the other. Memory is that of one message.
#ifndef HYDRANT_LIB_FAILURE_WORDING_SEARCH_H_
#define HYDRANT_LIB_FAILURE_WORDING_SEARCH_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/failure/classify.h"
#include "lib/failure/message_lines.h"
#include "lib/failure/wordings.h"

namespace hydrant {

inline constexpr size_t kLongestMessage = 1000;

// Of at most so many bytes, cut between two characters, with "…" where something is missing.
std::string ShortMessage(std::string_view text);

class WordingSearch {
 public:
  explicit WordingSearch(std::span<const Wording> wordings) : wordings_(wordings), row_(wordings.size()) {}

  void Look(const MessageLine& line) { Look(line, line.plain); }
  // As if `plain` were what the line says.
  void Look(const MessageLine& line, std::string_view plain);

  // The first row that any line matched, with the first such line.
  const std::optional<Classified>& found() const { return found_; }

 private:
  std::span<const Wording> wordings_;
  size_t row_;  // only rows before it can still win
  std::optional<Classified> found_;
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_FAILURE_WORDING_SEARCH_H_
