#include "daemon/evaluate/nix_eval_jobs_evaluator.h"

#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/evaluate/eval_jobs_line.h"
#include "daemon/evaluate/eval_jobs_probe.h"
#include "daemon/evaluate/line_process.h"
#include "daemon/evaluate/outcome_batcher.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr size_t kLastWords = 500;  // bytes

bool IsProgram(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

bool IsThere(const std::string& program, const std::string& search_path) {
  if (program.find('/') != std::string::npos) return IsProgram(program);
  for (const absl::string_view folder : absl::StrSplit(search_path, ':', absl::SkipEmpty())) {
    if (IsProgram(absl::StrCat(folder, "/", program))) return true;
  }
  return false;
}

// The end of what a process says beside its lines.
class LastWords {
 public:
  bool Take(std::string_view line) {
    absl::StrAppend(&words_, AbslView(line.substr(0, kLastWords)), "\n");
    if (words_.size() > 2 * kLastWords) words_.erase(0, words_.size() - kLastWords);
    return false;
  }
  std::string text() const { return PrintableText(words_); }

 private:
  std::string words_;
};

absl::Status GiveLate(const std::vector<size_t>& variants, absl::Duration timeout,
                      const std::function<void(std::vector<Outcome>)>& take) {
  std::vector<Outcome> late;
  for (const size_t variant : variants) {
    late.push_back({.variant = variant, .cause = Cause::kEvaluatorTimeout, .message = LateMessage(timeout)});
  }
  if (!late.empty()) take(std::move(late));
  return absl::OkStatus();
}

}  // namespace

// The names that are asked, and what is known of each so far: its parts come as lines of their own.
class NixEvalJobsEvaluator::Answers {
 public:
  explicit Answers(const std::vector<DriverRequest>& imports) {
    for (size_t import = 0; import < imports.size(); ++import) {
      for (size_t name = 0; name < imports[import].names.size(); ++name) {
        const DriverName& asked = imports[import].names[name];
        open_[{import, name}] = {.outcome = {.variant = asked.variant},
                                 .environment_awaited = asked.environment};
      }
    }
  }

  // The outcome that the line makes whole.
  std::optional<Outcome> Take(EvalJobsLine line) {
    const auto found = open_.find({line.import, line.name});
    if (found == open_.end()) return std::nullopt;
    Open& open = found->second;
    if (line.part == EvalJobsLine::Part::kDerivation && !line.error.empty()) {
      const Classified why = ClassifyWords(line.error);
      // Whether that is the evaluator's death or the words of a throw, the other evaluator finds out.
      if (IsEvaluatorDeath(why.cause)) return std::nullopt;
      open.outcome.cause = why.cause;
      open.outcome.message = why.message;
      return Close(found);
    }
    Add(std::move(line), open);
    const bool whole = !open.outcome.derivation.empty() && !open.environment_awaited && !open.facts_awaited;
    return whole ? std::optional<Outcome>(Close(found)) : std::nullopt;
  }

  // Variants without an answer.
  std::vector<size_t> Unanswered() const {
    std::vector<size_t> variants;
    for (const auto& [place, open] : open_) variants.push_back(open.outcome.variant);
    return variants;
  }

 private:
  struct Open {
    Outcome outcome;
    bool environment_awaited = false, facts_awaited = true;
  };
  using Places = std::map<std::pair<size_t, size_t>, Open>;

  static void Say(Outcome& outcome, std::string_view words) {
    absl::StrAppend(&outcome.message, outcome.message.empty() ? "" : "; ", AbslView(words));
  }

  static void Add(EvalJobsLine line, Open& open) {
    Outcome& outcome = open.outcome;
    switch (line.part) {
      case EvalJobsLine::Part::kDerivation:
        outcome.derivation = std::move(line.derivation);
        outcome.outputs = std::move(line.outputs);
        return;
      case EvalJobsLine::Part::kEnvironment:
        open.environment_awaited = false;
        if (!line.error.empty()) {
          Say(outcome, "no Python environment: " + ClassifyWords(line.error).message);
        } else if (const auto out = line.outputs.find("out"); out != line.outputs.end()) {
          outcome.environment = std::move(line.derivation);
          outcome.environment_output = out->second;
        }
        return;
      case EvalJobsLine::Part::kFacts:
        open.facts_awaited = false;
        outcome.facts = std::move(line.facts);
        if (!outcome.facts.found_as.empty()) Say(outcome, "found as " + outcome.facts.found_as);
        return;
    }
  }

  Outcome Close(Places::iterator open) {
    Outcome outcome = std::move(open->second.outcome);
    open_.erase(open);
    return outcome;
  }

  Places open_;
};

absl::StatusOr<std::unique_ptr<NixEvalJobsEvaluator>> NixEvalJobsEvaluator::Open(Options options) {
  const std::string& own = options.bounds.nix.search_path;
  const char* path = getenv("PATH");
  if (!IsThere(options.program, own.empty() && path != nullptr ? path : own)) {
    return absl::FailedPreconditionError(
        absl::StrCat("[nix] evaluator = \"", options.program, "\": there is no such program",
                     options.program.find('/') == std::string::npos ? " in PATH" : "",
                     "; \"nix\" needs nothing but Nix itself"));
  }
  std::map<std::string, std::string> env = nix::CommandEnvironment(options.bounds.nix);
  env["NIX_CONFIG"] += kRestricted;
  HYDRANT_RETURN_IF_ERROR(
      CheckIsRestricted(options.program, std::move(env), options.bounds.nix.folder + "/runs"));
  return std::unique_ptr<NixEvalJobsEvaluator>(new NixEvalJobsEvaluator(std::move(options)));
}

absl::Status NixEvalJobsEvaluator::Evaluate(const EvaluationInput& input,
                                            const std::function<void(std::vector<Outcome>)>& take,
                                            const std::atomic<bool>& cancelled) {
  std::vector<size_t> rest;
  {
    HYDRANT_ASSIGN_OR_RETURN(const NixEvaluator::Prepared prepared, options_.nix.Prepare(input));
    if (cancelled.load()) return absl::CancelledError("evaluation cancelled");
    Answers answers(prepared.imports);
    HYDRANT_ASSIGN_OR_RETURN(const bool in_time, RunPool(input, prepared, answers, take, cancelled));
    rest = answers.Unanswered();
    if (!in_time && !cancelled.load()) return GiveLate(rest, options_.bounds.evaluation_timeout, take);
  }
  if (cancelled.load()) return absl::CancelledError("evaluation cancelled");
  if (rest.empty()) return absl::OkStatus();
  EvaluationInput unanswered = input;
  unanswered.variants = std::move(rest);
  return options_.nix.Evaluate(unanswered, take, cancelled);
}

absl::StatusOr<std::vector<std::string>> NixEvalJobsEvaluator::Command(
    const NixEvaluator::Prepared& prepared) const {
  nlohmann::json files = nlohmann::json::array();
  for (const DriverRequest& import : prepared.imports) {
    const std::string file = absl::StrCat(prepared.folder->path(), "/jobs-", files.size(), ".json");
    HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(file, DriverInput(import, import.names)));
    files.push_back(file);
  }
  const std::string inputs = prepared.folder->path() + "/jobs.json";
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(inputs, files.dump()));
  std::vector<std::string> command = {options_.program,
                                      "--meta",
                                      "--workers",
                                      absl::StrCat(std::max(options_.bounds.evaluators, 1)),
                                      "--gc-roots-dir",
                                      prepared.roots,
                                      "--argstr",
                                      "inputs",
                                      inputs};
  for (std::string& argument : LookupArguments(prepared.env)) command.push_back(std::move(argument));
  if (options_.bounds.memory > 0) {
    const uint64_t megabytes = std::max<uint64_t>((options_.bounds.memory >> 20) / 2, 1);
    command.insert(command.end(), {"--max-memory-size", absl::StrCat(megabytes)});
  }
  command.push_back(prepared.driver_folder + "/eval_jobs.nix");
  return command;
}

absl::StatusOr<bool> NixEvalJobsEvaluator::RunPool(const EvaluationInput& input,
                                                   const NixEvaluator::Prepared& prepared, Answers& answers,
                                                   const std::function<void(std::vector<Outcome>)>& take,
                                                   const std::atomic<bool>& cancelled) {
  const SystemClock system;
  const Clock& clock = options_.bounds.clock == nullptr ? system : *options_.bounds.clock;
  const absl::Time deadline = clock.Now() + options_.bounds.evaluation_timeout;
  LineProcess process{.env = prepared.env, .patience = options_.bounds.variant_timeout, .clock = &clock};
  HYDRANT_ASSIGN_OR_RETURN(process.argv, Command(prepared));
  OutcomeBatcher outcomes(take);
  absl::Status kept;
  process.take_output = [&](std::string_view text) {
    std::optional<EvalJobsLine> line = ParseEvalJobsLine(text);
    if (!line) return false;
    if (line->error.empty() && kept.ok()) kept = options_.nix.Keep(input.root, line->derivation);
    if (std::optional<Outcome> outcome = answers.Take(*std::move(line))) {
      options_.nix.Mend(input.tree, *outcome);
      outcomes.Add(*std::move(outcome));
    }
    return true;
  };
  LastWords words;
  const auto end = RunLineProcess(
      process, [&](std::string_view line) { return words.Take(line); },
      [&] {
        if (!cancelled.load()) outcomes.FlushIfDue();
        return cancelled.load() || !kept.ok() || clock.Now() >= deadline;
      });
  if (!cancelled.load()) outcomes.Flush();
  HYDRANT_RETURN_IF_ERROR(kept);
  HYDRANT_RETURN_IF_ERROR(end.status());
  const size_t left = answers.Unanswered().size();
  if (left > 0 && !cancelled.load()) {
    Log(LogLevel::kWarning, "nix-eval-jobs ended before it had answered for all",
        {{"variants", left}, {"ended", end->status.ToString()}, {"words", words.text()}});
  }
  return clock.Now() < deadline;
}

absl::StatusOr<DerivedList> NixEvalJobsEvaluator::DerivePackages(const EvaluationInput& input,
                                                                 const std::atomic<bool>& cancelled) {
  return options_.nix.DerivePackages(input, cancelled);
}

void NixEvalJobsEvaluator::Release(const std::string& root) { options_.nix.Release(root); }

}  // namespace hydrant
