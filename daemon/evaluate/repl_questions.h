// Names asked one by one in a `nix repl`, which goes on after each error and imports a tree once: for what no
// other process tells, the words of an error that tryEval caught, and for names after which others would have
// to start anew.
#ifndef HYDRANT_DAEMON_EVALUATE_REPL_QUESTIONS_H_
#define HYDRANT_DAEMON_EVALUATE_REPL_QUESTIONS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/evaluate/driver_transcript.h"
#include "daemon/evaluate/line_process.h"

namespace hydrant {

// One question: what becomes of a name, or why its import as a whole does not evaluate.
struct ReplQuestion {
  size_t import = 0;  // index into ReplProcess::inputs
  std::string id;     // "": `ready` of the import
  bool tell = false;  // its lines as the driver tells them, of an import @P and @Q, then its words; else only
                      // the words
};

struct ReplAnswer {
  std::vector<NameReport> report;                           // none: it was not told, or died of `words`
  bool in_details = false;                                  // the report lacks environment or meta
  std::optional<std::map<std::string, std::string>> named;  // of an import: VariantFacts::named
  std::string words;                                        // standard error: of an error, unless `evaluates`
  bool evaluates = false;  // what is asked last, `ready` or the words, is no error
};

struct ReplProcess {
  std::map<std::string, std::string> env;
  std::string driver;               // driver.nix
  std::vector<std::string> inputs;  // files
  bool ifd = false;
  std::function<absl::Duration()> patience_now;  // for each question
  const Clock* clock = nullptr;
  std::function<void(pid_t)> started;
  std::function<bool()> kill;  // as LineProcess has it
  std::function<absl::Status(const std::string& derivation)> keep;
};

struct ReplEnd {
  LineProcessEnd end;
  size_t answered = 0;  // the first questions
  bool began = false;   // the one after them
  ReplAnswer unfinished;
  bool ended_itself = false;  // it came to the end of the questions
};

// One process. `answer` gets the answered questions in order while others are still being asked; when it says
// false the rest is dropped. NotFound: no nix.
absl::StatusOr<ReplEnd> AskRepl(const ReplProcess& process, const std::vector<ReplQuestion>& questions,
                                const std::function<bool(size_t question, const ReplAnswer&)>& answer,
                                const std::function<bool()>& stop);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_REPL_QUESTIONS_H_
