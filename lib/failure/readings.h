// What the lines of a text say of a failure, by stage. Each reading takes the lines in order and is asked at
// the end.
#ifndef HYDRANT_LIB_FAILURE_READINGS_H_
#define HYDRANT_LIB_FAILURE_READINGS_H_

#include <cstddef>
#include <optional>
#include <string>

#include "lib/failure/classify.h"
#include "lib/failure/message_lines.h"
#include "lib/failure/wording_search.h"

namespace hydrant {

// The first line that says something beside traces, warnings and quoted logs.
class FirstMessage {
 public:
  void Take(const MessageLine& line);
  // With the cause kUnknown; an empty message when there is none.
  const Classified& found() const { return found_; }

 private:
  Classified found_;
};

// The same with the lines on which it goes on, up to the first that only surrounds it, as one line.
class WholeMessage {
 public:
  void Take(const MessageLine& line);
  Classified found() const;

 private:
  FirstMessage first_;
  std::string more_;
  bool over_ = false;
};

// A text of an evaluation: its last "error:" that a wording explains decides, before all an evaluator's
// death.
class EvaluationReading {
 public:
  void Take(const MessageLine& line);
  bool has_error() const { return has_error_; }
  std::optional<Classified> ByWording() const;  // nullopt: none explains it
  std::optional<Classified> Thrown() const;     // what the last "error:" says, whole, as a throw

 private:
  std::optional<Classified> death_;
  std::optional<Classified> explained_;        // by an error before the one that is being read
  WordingSearch error_{EvaluationWordings()};  // the text before the first "error:" is as good as one
  WholeMessage last_;                          // of the error that is being read
  bool has_error_ = false;
};

// Nix's words and a builder's log.
class AttemptReading {
 public:
  void TakeError(const MessageLine& line);
  void TakeLog(const MessageLine& line);
  std::optional<Classified> ByWording() const;

 private:
  WordingSearch error_{AttemptWordings()}, log_{LogWordings()}, quoted_log_{LogWordings()},
      builder_{BuilderWordings()};
};

// A text that may hold Nix's words, the builder's log, or both: where there is an "error:", only its block
// can be Nix's.
class MixedReading {
 public:
  void Take(const MessageLine& line);
  std::optional<Classified> ByWording() const;

 private:
  AttemptReading with_error_, without_;
  bool has_error_ = false;
};

class CheckReading {
 public:
  void Take(const MessageLine& line);
  std::optional<Classified> ByWording() const { return search_.found(); }
  Classified last() const { return {Cause::kWrongResult, ShortMessage(last_), number_}; }  // the last line

 private:
  WordingSearch search_{CheckWordings()};
  std::string last_;
  size_t number_ = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_FAILURE_READINGS_H_
