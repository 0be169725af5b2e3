// Several imports of the tree, evaluated one after the other by as few processes as their errors allow: each
// of their names gets an outcome, whatever the others do. The ladder: the driver for all; a name at which it
// dies is charged with it and the driver starts again after it; after two such deaths a `nix repl`, which
// survives them, does the rest; what dies of memory or a signal has one more try as the first of its process.
// Knows nothing of other shards.
#ifndef HYDRANT_DAEMON_EVALUATE_SHARD_EVALUATION_H_
#define HYDRANT_DAEMON_EVALUATE_SHARD_EVALUATION_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/evaluate/driver_request.h"
#include "daemon/evaluate/driver_transcript.h"
#include "daemon/evaluate/evaluator.h"
#include "daemon/evaluate/evaluator_death.h"
#include "daemon/evaluate/memory_watch.h"
#include "daemon/evaluate/repl_questions.h"
#include "daemon/evaluate/variant_patience.h"

namespace hydrant {

class ShardEvaluation {
 public:
  struct Options {
    std::map<std::string, std::string> env;  // all that Nix gets
    std::string driver_folder;               // driver.nix and shard.nix
    std::string folder;                      // for its input files: this shard's alone
    uint64_t memory_bound = 0;               // bytes of heap; 0: none
    absl::Duration variant_timeout;          // the floor of VariantPatience
    const Clock* clock = nullptr;
    bool ifd = false;
    bool read_only =
        false;          // the driver writes no derivations to the store, so that there is nothing to keep
    bool words = true;  // what tryEval caught has its words asked for, each name once more
    MemoryWatch* memory = nullptr;
    // Called for each derivation while the process that made it still lives.
    std::function<absl::Status(const std::string& derivation)> keep;
    std::function<void(Outcome)> give;         // as they come
    std::function<bool()> stop;                // asked several times a second
    std::function<bool(size_t import)> begin;  // false: another has this import, and those after it, by now
    // The watch chose this process: the import that it was in has to be evaluated with nothing beside it.
    // Empty: it already is, so that what it was at is too big.
    std::function<void(DriverRequest)> postpone;
  };
  struct Import {
    size_t number = 0;  // as `begin` knows it
    DriverRequest request;
  };

  // The first import is begun.
  ShardEvaluation(Options options, std::vector<Import> imports);

  // One outcome a name of each import that was begun and not postponed. Cancelled when `stop` said so;
  // NotFound without Nix. Once.
  absl::Status Evaluate();

  // After Evaluate was stopped: an outcome for each name that is known to be refused, without the words of
  // it.
  void SettleWithoutWords();

  // The most that a process of the driver needed, and how many imports it had by then.
  uint64_t peak() const { return peak_; }
  size_t imports_at_peak() const { return imports_at_peak_; }

 private:
  struct State {
    size_t number;
    DriverRequest request;
    std::string input;                 // file
    std::deque<DriverName> remaining;  // in the order in which they are asked
    std::vector<DriverName> caught;    // their words are still to be asked for
    bool all_caught = false;           // the set of packages throws: one answer for all
    bool ready = false;                // a repl had the set of packages
    bool wants_named = false;  // DriverRequest::named, of which request's own is false once it is told
    std::map<std::string, std::string> named;  // VariantFacts::named
  };
  struct DriverRun;

  absl::Status RunDriver();
  absl::Status WriteInputs(const std::deque<State>& imports) const;
  bool TakeLine(std::string_view line, DriverRun& run);
  void SettleFinished(State& import, DriverRun& run);
  void SettleDriverDeath(const DriverRun& run, const Death& death);
  // The first import is done: on to the next that is still this shard's.
  void Next();
  void Postpone();

  // The rest of the first import by a repl. False: there is none that works.
  absl::StatusOr<bool> AskRest();
  bool TakeAnswer(State& import, const ReplAnswer& answer, bool of_import);
  void SettleReplDeath(State& import, const ReplEnd& end);
  // The words of caught names.
  absl::Status AskCaught();
  absl::Status SettleCaught();
  absl::Status AskCaughtOnce(std::vector<State>& imports);
  absl::StatusOr<ReplEnd> Ask(const std::vector<std::string>& inputs,
                              const std::vector<ReplQuestion>& questions,
                              const std::function<bool(size_t, const ReplAnswer&)>& answer);

  void Settle(const DriverName& name, Cause cause, std::string message);
  void SettleAll(State& import, const Death& death);
  // False: it was caught, and its words are to be asked for.
  bool SettleReport(const State& import, const DriverName& name, const NameReport& report);
  // What the slice has by name is known; or a process died of it, and nobody asks again.
  static void TakeNamed(State& import, const std::optional<std::map<std::string, std::string>>& named);
  void NoteTime(bool a_name_ended);
  // Whether the name at which a process died goes into the next instead of being charged.
  bool Retries(const Death& death, const DriverName& name, bool first_of_process);
  Death WhyItEnded(const LineProcessEnd& end, std::string_view words) const;
  bool ChosenByWatch() const { return seat_ != nullptr && seat_->chosen; }

  const Options options_;
  std::deque<State> imports_;  // the first is in work
  std::vector<State> words_;   // those with caught names
  std::set<size_t> retried_;   // variants
  std::set<size_t> swallowed_;  // variants that a repl was silent about: the driver has each once more
  std::set<size_t> wordless_;  // variants that were caught and have no outcome yet
  VariantPatience patience_;
  absl::Time name_began_;
  std::shared_ptr<MemoryWatch::Seat> seat_;
  int deaths_ = 0;
  uint64_t peak_ = 0;
  size_t imports_at_peak_ = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_SHARD_EVALUATION_H_
