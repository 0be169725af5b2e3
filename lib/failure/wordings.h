// The wordings of Nix, nixpkgs, compilers and drivers, as data: which words tell of which cause. Knows
// nothing of where in a text they stand.
#ifndef HYDRANT_LIB_FAILURE_WORDINGS_H_
#define HYDRANT_LIB_FAILURE_WORDINGS_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "lib/failure/cause.h"
#include "lib/failure/pair_set.h"

namespace hydrant {

// Pieces that stand in this order in one line, divided by '*'; a leading '^' ties the first to the start of
// the message. Typographic quotes of the text count as '.
struct WordingPattern {
  constexpr WordingPattern(const char* pattern) : text(pattern) {
    for (std::string_view rest = text; !rest.empty();) {
      const size_t end = rest.find_first_of("^*");
      pairs.Add(rest.substr(0, end));
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
  }
  std::string_view text;
  PairSet pairs;
};

struct Wording {
  Cause cause;
  WordingPattern pattern;
  const char* source;  // who says so
};

// In each table the first row that matches wins.

// Of an evaluator that died: anywhere in its output.
std::span<const Wording> EvaluatorDeathWordings();
// Of an error message of an evaluation. kUnknown rows are faults of the farm, which must not pass for a
// `throw`.
std::span<const Wording> EvaluationWordings();
// Of an error message of an attempt that outranks whatever the builder's log says …
std::span<const Wording> AttemptWordings();
// … of the builder's log …
std::span<const Wording> LogWordings();
// … and of an error message that says only that the builder failed.
std::span<const Wording> BuilderWordings();
// Of a check's output.
std::span<const Wording> CheckWordings();

}  // namespace hydrant

#endif  // HYDRANT_LIB_FAILURE_WORDINGS_H_
