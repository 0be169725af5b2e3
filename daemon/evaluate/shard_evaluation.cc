#include "daemon/evaluate/shard_evaluation.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/failure/classify.h"

namespace hydrant {
namespace {

constexpr int kDeathsBeforeRepl = 2;
// A repl keeps every import that it made.
constexpr size_t kImportsOfCaught = 4;

// What nixpkgs, a recipe and the driver say by a throw or an assertion, and Nix of a <name> that it does not
// find.
bool IsCatchable(Cause cause) {
  switch (cause) {
    case Cause::kUnfree:
    case Cause::kBroken:
    case Cause::kUnsupportedSystem:
    case Cause::kInsecure:
    case Cause::kAssertion:
    case Cause::kThrow:
    case Cause::kRemoved:
    case Cause::kInterpreterDisabled:
    case Cause::kCapability:
    case Cause::kUnsupportedCompiler:
    case Cause::kMissingAttribute:
    case Cause::kTypeError:
    case Cause::kMissingFile:
      return true;
    default:
      return false;
  }
}

// What tryEval catches is a throw or an assertion by its nature, however its words may read.
Classified ClassifyCaught(std::string_view words) {
  Classified caught = ClassifyWords(words);
  if (!IsCatchable(caught.cause)) caught.cause = Cause::kThrow;
  if (caught.message.empty())
    caught.message = "refused by a throw or an assertion whose words could not be had";
  return caught;
}

Classified ClassifyUncaught(std::string_view words) {
  Classified why = ClassifyWords(words);
  if (why.message.empty()) why.message = "the evaluator gave no result and no error";
  return why;
}

}  // namespace

// One process of the driver.
struct ShardEvaluation::DriverRun {
  const std::string mark = NewMark();
  std::unique_ptr<DriverTranscript> transcript;  // of the first import
  size_t settled = 0;                            // its first reports
  size_t finished = 0;                           // imports
  absl::Status kept;
};

ShardEvaluation::ShardEvaluation(Options options, std::vector<Import> imports)
    : options_(std::move(options)), patience_(options_.variant_timeout) {
  for (Import& import : imports) {
    State state{.number = import.number, .request = std::move(import.request)};
    state.input = absl::StrCat(options_.folder, "/import-", import.number, ".json");
    state.wants_named = state.request.named;
    state.remaining.assign(state.request.names.begin(), state.request.names.end());
    imports_.push_back(std::move(state));
  }
}

absl::Status ShardEvaluation::Evaluate() {
  bool repl_works = true;
  while (!imports_.empty()) {
    if (deaths_ < kDeathsBeforeRepl || !repl_works) {
      HYDRANT_RETURN_IF_ERROR(RunDriver());
    } else {
      HYDRANT_ASSIGN_OR_RETURN(repl_works, AskRest());
    }
  }
  return AskCaught();
}

absl::Status ShardEvaluation::WriteInputs(const std::deque<State>& imports) const {
  nlohmann::json files = nlohmann::json::array();
  for (const State& import : imports) {
    const std::vector<DriverName> names(import.remaining.begin(), import.remaining.end());
    HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(import.input, DriverInput(import.request, names)));
    files.push_back(import.input);
  }
  return WriteFileAtomically(options_.folder + "/shard.json", files.dump());
}

absl::Status ShardEvaluation::RunDriver() {
  HYDRANT_RETURN_IF_ERROR(WriteInputs(imports_));
  DriverRun run;
  LineProcess process{.argv = {"nix-instantiate", "--eval", "--strict",
                               options_.read_only ? "--readonly-mode" : "--read-write-mode", "--option",
                               "allow-import-from-derivation", options_.ifd ? "true" : "false", "--argstr",
                               "inputs", options_.folder + "/shard.json", "--argstr", "mark", run.mark,
                               options_.driver_folder + "/shard.nix"},
                      .env = options_.env,
                      .patience_now = [&] { return patience_.Now(); },
                      .clock = options_.clock,
                      .started = [&](pid_t pid) { seat_ = options_.memory->Watch(pid); },
                      .kill = [&] { return ChosenByWatch(); }};
  HYDRANT_ASSIGN_OR_RETURN(const LineProcessEnd end,
                           RunLineProcess(
                               process, [&](std::string_view line) { return TakeLine(line, run); },
                               [&] { return imports_.empty() || !run.kept.ok() || options_.stop(); }));
  HYDRANT_RETURN_IF_ERROR(run.kept);
  if (seat_->peak > peak_) {
    peak_ = seat_->peak;
    imports_at_peak_ = run.finished + 1;
  }
  if (imports_.empty()) return absl::OkStatus();
  if (end.kind == LineProcessEnd::Kind::kStopped && !ChosenByWatch()) {
    return absl::CancelledError("evaluation cancelled");
  }
  SettleDriverDeath(run, WhyItEnded(end, run.transcript == nullptr ? "" : run.transcript->words()));
  return absl::OkStatus();
}

bool ShardEvaluation::TakeLine(std::string_view line, DriverRun& run) {
  if (imports_.empty()) return false;
  State& import = imports_.front();
  if (run.transcript == nullptr) {
    std::vector<std::string> ids;
    for (const DriverName& name : import.remaining) ids.push_back(name.id);
    run.transcript = std::make_unique<DriverTranscript>(std::move(ids), run.mark);
    run.settled = 0;
  }
  const bool was_in_name = run.transcript->in_name();
  if (!run.transcript->Take(line)) return false;
  if (was_in_name != run.transcript->in_name()) NoteTime(was_in_name);
  if (import.request.named && run.transcript->named().has_value()) TakeNamed(import, run.transcript->named());
  if (run.transcript->in_details()) {
    const NameReport& report = run.transcript->reports().back();
    for (const std::string& derivation : {report.derivation, report.environment}) {
      if (run.kept.ok() && !derivation.empty()) run.kept = options_.keep(derivation);
    }
  }
  SettleFinished(import, run);
  if (!run.transcript->complete()) return true;
  if (run.transcript->nothing_begins()) {
    import.all_caught = true;
    import.caught.assign(import.remaining.begin(), import.remaining.end());
    for (const DriverName& name : import.caught) wordless_.insert(name.variant);
  }
  run.transcript.reset();
  ++run.finished;
  Next();
  return true;
}

void ShardEvaluation::SettleFinished(State& import, DriverRun& run) {
  const auto& reports = run.transcript->reports();
  const size_t finished = reports.size() - (run.transcript->in_details() ? 1 : 0);
  for (; run.settled < finished; ++run.settled) {
    const DriverName name = import.remaining.front();
    import.remaining.pop_front();
    if (SettleReport(import, name, reports[run.settled])) continue;
    import.caught.push_back(name);
    wordless_.insert(name.variant);
  }
}

void ShardEvaluation::NoteTime(bool a_name_ended) {
  const absl::Time now = options_.clock->Now();
  if (a_name_ended) patience_.Took(now - name_began_);
  name_began_ = now;
}

void ShardEvaluation::Next() {
  if (!imports_.front().caught.empty()) words_.push_back(std::move(imports_.front()));
  imports_.pop_front();
  if (!imports_.empty() && !options_.begin(imports_.front().number)) imports_.clear();
}

void ShardEvaluation::Postpone() {
  DriverRequest rest = imports_.front().request;
  rest.named = imports_.front().wants_named;
  rest.names.assign(imports_.front().remaining.begin(), imports_.front().remaining.end());
  options_.postpone(std::move(rest));
  Next();
}

// Those before it in its process may have been at fault, so then it comes first in the next; as the first it
// has one more try.
bool ShardEvaluation::Retries(const Death& death, const DriverName& name, bool first_of_process) {
  return death.worth_a_retry && (!first_of_process || retried_.insert(name.variant).second);
}

Death ShardEvaluation::WhyItEnded(const LineProcessEnd& end, std::string_view words) const {
  if (!ChosenByWatch()) {
    return ExplainDeath(end, words, {options_.memory_bound, patience_.Now(), patience_.by_median()});
  }
  return {
      {Cause::kEvaluatorOutOfMemory,
       absl::StrCat("too big for the ", options_.memory->budget() / 1'000'000,
                    " MB that all evaluators may use together ([nix] evaluators times evaluator_memory)")},
      true};
}

void ShardEvaluation::SettleDriverDeath(const DriverRun& run, const Death& death) {
  if (ChosenByWatch() && options_.postpone) return Postpone();
  State& import = imports_.front();
  if (run.transcript != nullptr && run.transcript->in_slice()) return TakeNamed(import, std::nullopt);
  const DriverName name = import.remaining.front();
  const size_t told = run.transcript == nullptr ? 0 : run.transcript->reports().size();
  const bool in_name = run.transcript != nullptr && run.transcript->in_name();
  const bool in_details = run.transcript != nullptr && run.transcript->in_details();
  if (told > 0 && !in_name && !in_details) return;  // between two names
  if (Retries(death, name, run.finished == 0 && told == (in_details ? 1 : 0))) return;
  ++deaths_;
  if (in_details) {
    SettleReport(import, name, run.transcript->reports().back());
    import.remaining.pop_front();
  } else if (in_name) {
    Settle(name, death.why.cause, death.why.message);
    import.remaining.pop_front();
  } else {  // the set of packages itself, or Nix: the same for every name
    SettleAll(import, death);
  }
  if (import.remaining.empty()) Next();
}

absl::StatusOr<ReplEnd> ShardEvaluation::Ask(const std::vector<std::string>& inputs,
                                             const std::vector<ReplQuestion>& questions,
                                             const std::function<bool(size_t, const ReplAnswer&)>& answer) {
  const ReplProcess process{.env = options_.env,
                            .driver = options_.driver_folder + "/driver.nix",
                            .inputs = inputs,
                            .ifd = options_.ifd,
                            .patience_now = [&] { return patience_.Now(); },
                            .clock = options_.clock,
                            .started = [&](pid_t pid) { seat_ = options_.memory->Watch(pid); },
                            .kill = [&] { return ChosenByWatch(); },
                            .keep = options_.keep};
  return AskRepl(process, questions, answer, options_.stop);
}

absl::StatusOr<bool> ShardEvaluation::AskRest() {
  State& import = imports_.front();
  HYDRANT_RETURN_IF_ERROR(WriteInputs({import}));
  import.ready = false;
  std::vector<ReplQuestion> questions = {{.tell = import.request.named}};
  for (const DriverName& name : import.remaining) questions.push_back({.id = name.id, .tell = true});
  auto end = Ask({import.input}, questions, [&](size_t question, const ReplAnswer& answer) {
    return TakeAnswer(import, answer, question == 0);
  });
  if (absl::IsNotFound(end.status())) return false;
  if (!end.ok()) return end.status();
  if (import.remaining.empty()) {
    Next();
    return true;
  }
  if (options_.stop()) return absl::CancelledError("evaluation cancelled");
  if (ChosenByWatch() && options_.postpone) {
    Postpone();
    return true;
  }
  if (end->answered == 0 && !end->began) return false;
  SettleReplDeath(import, *end);
  if (import.remaining.empty()) Next();
  return true;
}

bool ShardEvaluation::TakeAnswer(State& import, const ReplAnswer& answer, bool of_import) {
  NoteTime(!of_import);
  if (of_import) {
    if (import.request.named) TakeNamed(import, answer.named);
    if (!answer.evaluates) SettleAll(import, {ClassifyUncaught(answer.words), false});
    return answer.evaluates;
  }
  const DriverName name = import.remaining.front();
  import.remaining.pop_front();
  if (answer.report.empty()) {
    const Classified why = ClassifyUncaught(answer.words);
    Settle(name, why.cause, why.message);
  } else if (!SettleReport(import, name, answer.report[0])) {
    const Classified why = ClassifyCaught(answer.words);
    Settle(name, why.cause, why.message);
  }
  return true;
}

// The repl ended at the first remaining name, or at the import as a whole.
void ShardEvaluation::SettleReplDeath(State& import, const ReplEnd& end) {
  const DriverName name = import.remaining.front();
  if (end.answered == 0 && import.request.named) return TakeNamed(import, std::nullopt);
  // `nix repl` takes a file that breaks off for a question that goes on, and swallows all behind it without a
  // word. The driver dies of that file with its words.
  const bool swallowed = end.answered > 0 && end.end.status.ok() && end.unfinished.report.empty() &&
                         swallowed_.insert(name.variant).second;
  if (swallowed) {
    deaths_ = kDeathsBeforeRepl - 1;
    return;
  }
  const Death death = WhyItEnded(end.end, end.unfinished.words);
  if (Retries(death, name, end.answered <= 1)) return;
  if (end.answered == 0) return SettleAll(import, death);
  if (!end.unfinished.report.empty()) {
    TakeAnswer(import, end.unfinished, false);
    return;
  }
  Settle(name, death.why.cause, death.why.message);
  import.remaining.pop_front();
}

absl::Status ShardEvaluation::AskCaught() {
  if (!options_.words) return SettleCaught();
  while (!words_.empty()) {
    const size_t count = std::min(words_.size(), kImportsOfCaught);
    std::vector<State> imports(std::make_move_iterator(words_.end() - count),
                               std::make_move_iterator(words_.end()));
    words_.erase(words_.end() - count, words_.end());
    HYDRANT_RETURN_IF_ERROR(AskCaughtOnce(imports));
  }
  return absl::OkStatus();
}

absl::Status ShardEvaluation::SettleCaught() {
  for (const State& import : words_) {
    for (const DriverName& name : import.caught) Settle(name, Cause::kThrow, "");
  }
  words_.clear();
  return absl::OkStatus();
}

absl::Status ShardEvaluation::AskCaughtOnce(std::vector<State>& imports) {
  std::vector<std::string> inputs;
  std::vector<ReplQuestion> questions;
  std::vector<std::vector<DriverName>> names;  // that a question stands for
  for (const State& import : imports) {
    HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(import.input, DriverInput(import.request, import.caught)));
    if (import.all_caught) {
      questions.push_back({.import = inputs.size()});
      names.push_back(import.caught);
    } else {
      for (const DriverName& name : import.caught) {
        questions.push_back({.import = inputs.size(), .id = name.id});
        names.push_back({name});
      }
    }
    inputs.push_back(import.input);
  }
  size_t next = 0;
  const auto take = [&](const ReplAnswer& answer) {
    const Classified why = ClassifyCaught(answer.evaluates ? "" : answer.words);
    for (const DriverName& name : names[next]) Settle(name, why.cause, why.message);
    ++next;
    return true;
  };
  while (next < questions.size()) {
    const std::vector<ReplQuestion> rest(questions.begin() + next, questions.end());
    const auto end = Ask(inputs, rest, [&](size_t, const ReplAnswer& answer) { return take(answer); });
    if (!end.ok() && !absl::IsNotFound(end.status())) return end.status();
    if (options_.stop()) return absl::CancelledError("evaluation cancelled");
    if (end.ok() && (end->answered > 0 || end->began)) {
      if (next < questions.size()) take(end->unfinished);
      continue;
    }
    while (next < questions.size()) take({});  // it does not work here: no words then
  }
  return absl::OkStatus();
}

void ShardEvaluation::SettleWithoutWords() {
  const Classified why = ClassifyCaught("");
  for (const size_t variant : std::exchange(wordless_, {})) {
    options_.give({.variant = variant, .cause = why.cause, .message = why.message});
  }
}

void ShardEvaluation::Settle(const DriverName& name, Cause cause, std::string message) {
  wordless_.erase(name.variant);
  options_.give({.variant = name.variant, .cause = cause, .message = std::move(message)});
}

void ShardEvaluation::SettleAll(State& import, const Death& death) {
  for (const DriverName& name : import.remaining) Settle(name, death.why.cause, death.why.message);
  import.remaining.clear();
}

void ShardEvaluation::TakeNamed(State& import,
                                const std::optional<std::map<std::string, std::string>>& named) {
  import.request.named = false;
  import.wants_named = named.has_value();
  if (named.has_value()) import.named = *named;
}

bool ShardEvaluation::SettleReport(const State& import, const DriverName& name, const NameReport& report) {
  switch (report.kind) {
    case NameReport::Kind::kDerivation: {
      Outcome outcome{.variant = name.variant,
                      .message = report.message,
                      .derivation = report.derivation,
                      .outputs = report.outputs,
                      .environment = report.environment,
                      .environment_output = report.environment_output,
                      .facts = report.facts};
      outcome.facts.named = import.named;
      options_.give(std::move(outcome));
      return true;
    }
    case NameReport::Kind::kMissing:
      Settle(name, Cause::kMissingAttribute, report.message);
      return true;
    case NameReport::Kind::kNotADerivation:
      Settle(name, Cause::kNotADerivation, report.message);
      return true;
    case NameReport::Kind::kGarbled:
      Settle(name, Cause::kNotADerivation, report.message);
      return true;
    case NameReport::Kind::kCaught:
      return false;
  }
  return true;
}

}  // namespace hydrant
