// Why an evaluating process ended before it had told everything. Pure.
#ifndef HYDRANT_DAEMON_EVALUATE_EVALUATOR_DEATH_H_
#define HYDRANT_DAEMON_EVALUATE_EVALUATOR_DEATH_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "daemon/evaluate/line_process.h"
#include "lib/failure/classify.h"

namespace hydrant {

struct EvaluatorBounds {
  uint64_t memory = 0;      // bytes of heap; 0: none
  absl::Duration patience;  // for one variant
  bool by_median = false;   // patience is ten times the median of those before it, not the setting
};

struct Death {
  Classified why;
  // Another try may end otherwise: memory that earlier names of the process had filled, or a signal from
  // outside.
  bool worth_a_retry = false;
};

// `words`: standard error without the driver's lines.
Death ExplainDeath(const LineProcessEnd& end, std::string_view words, const EvaluatorBounds& bounds);

// Of a variant without an outcome when the whole evaluation was over.
std::string LateMessage(absl::Duration evaluation_timeout);

// ClassifyEvaluation with a printable message that says where a syntax error is, and which setting stood in
// the way where one did.
Classified ClassifyWords(std::string_view words);

// UTF-8 without control characters but newline and tab, whatever a process printed.
std::string PrintableText(std::string_view text);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_EVALUATOR_DEATH_H_
