#include "client/main/command_line.h"

#include <CLI/CLI.hpp>
#include <sstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/commands/verbs.h"
#include "client/main/inspect_command_line.h"
#include "client/main/verb_tree.h"
#include "lib/matrix/nearest_word.h"

namespace hydrant::client {
namespace {

constexpr char kAbout[] =
    "hydrant: builds, tests and caches every variant of a matrix of CUDA packages on a farm.\n"
    "A matrix is a TOML file; an evaluation is one matrix at one revision; a variant is one cell, such as\n"
    "torch@cuda12.9-py313-x86_64-linux.";
constexpr char kFooter[] =
    "The server is --server, else HYDRANT_SERVER, else `server` in ~/.config/hydrant/config.toml, else "
    "127.0.0.1:8581.\n"
    "The token is in the file of --token-file, else HYDRANT_TOKEN, else in the file that `token_file` names "
    "there.\n"
    "TLS: [tls] ca, cert, key in the same file.\n\n"
    "Exit status: 0 ok, 1 the work failed, 2 wrong usage, name, file or token, 3 the server cannot be "
    "reached.\n\n"
    "First steps:\n"
    "  hydrant matrix check m.toml      is the file right, how many variants does it make?\n"
    "  hydrant matrix apply m.toml      hand it to the farm\n"
    "  hydrant trigger NAME --wait      evaluate, build, test; exit 0 when the gate passed\n"
    "  hydrant status NAME              the grid, and why what failed did\n"
    "  hydrant use                      the lines of nix.conf that make a machine use the cache";

void AddFiles(CLI::App& app, MatrixFileOptions& options, int most) {
  app.add_option("FILE", options.files, "The matrix file (TOML)")->required()->expected(1, most);
}

void AddSystem(CLI::App& app, MatrixFileOptions& options) {
  app.add_option("--system", options.system,
                 "The Nix system where the matrix has no axis of it (default: this machine's)");
}

void AddPoint(CLI::App& app, std::string& branch, std::string& revision, const std::string& otherwise) {
  app.add_option("--branch", branch, "One of the branches that the matrix names; " + otherwise);
  app.add_option("--rev", revision, "A branch, tag or commit of its git source instead of the branch's head");
}

void AddBranch(CLI::App& app, std::string& branch) {
  app.add_option("--branch", branch, "Only evaluations of this branch of the matrix's git source");
}

// "": it is one.
std::string WhyNoEvaluation(const std::string& word) {
  int64_t number = 0;
  const bool right = absl::SimpleAtoi(word, &number) && number > 0;
  return right ? std::string() : absl::StrCat("'", word, "' is no evaluation: they count from 1");
}

// Which evaluation of a matrix is meant.
void AddEvaluation(CLI::App& app, EvaluationChoice& of) {
  AddBranch(app, of.branch);
  app.add_option("--eval", of.evaluation, "An evaluation's number; default: the newest")->check(WhyNoEvaluation, "");
}

void AddMatrixVerbs(VerbTree& tree) {
  CLI::App* group = tree.Group("matrix", "Matrix files and the farm's matrices");
  tree.Verb<MatrixFileOptions>(
      group, "check", "Validate matrix files, offline",
      "Says the first error with its line and the nearest right key. Exit 2 on an error.",
      [](CLI::App& app, MatrixFileOptions& o) { AddFiles(app, o, 1000), AddSystem(app, o); }, MatrixCheck);
  tree.Verb<MatrixFileOptions>(
      group, "show", "Expand a matrix file into its grid, offline",
      "Cells that a rule or an [[exclude]] forbids are impossible, with the reason; the rest are pending.",
      [](CLI::App& app, MatrixFileOptions& o) { AddFiles(app, o, 1), AddSystem(app, o); }, MatrixShow);
  tree.Verb<MatrixFileOptions>(
      group, "apply", "Hand matrix files to the farm, or replace those of the same name",
      "Needs an operator's token.", [](CLI::App& app, MatrixFileOptions& o) { AddFiles(app, o, 1000); },
      MatrixApply);
  tree.Add(group, "list", "All matrices with the state of their newest evaluation", "", MatrixList);
}

void AddEvaluationVerbs(VerbTree& tree) {
  CLI::App* root = &tree.root();
  tree.Verb<PlanOptions>(
      root, "plan", "Evaluate a matrix file and say what would be built, and what that would cost",
      "Counts variants and steps (to build, shared, in a cache already), core-hours, GPU-minutes, bytes and the\n"
      "time on the workers that are connected, all from what the farm built before. What it never built is\n"
      "counted and stands in no sum. Records nothing. Needs a submitter's token.",
      [](CLI::App& app, PlanOptions& o) {
        app.add_option("FILE", o.file, "The matrix file (TOML)")->required();
        AddPoint(app, o.branch, o.revision, "default: the first");
        app.add_option("--add", o.add,
                       "One more value of an axis that the matrix has, AXIS=VALUE, such as cuda=13.1,\n"
                       "package=magma or config=lto (a set of the matrix): what it would cost beside the\n"
                       "rest. May be given again")
            ->allow_extra_args(false);
      },
      Plan);
  tree.Verb<TriggerOptions>(
      root, "trigger", "Ask for an evaluation of a matrix",
      "One for each branch that the matrix names. With --wait: exit 0 if the gate of each passed (every required "
      "variant\n"
      "is cached), else 1. A restart of hydrantd meanwhile is waited for, up to 10 minutes. What --rev asked for moves no\n"
      "channel. Needs a submitter's token.",
      [](CLI::App& app, TriggerOptions& o) {
        app.add_option("MATRIX", o.matrix, "The matrix's name")->required();
        app.add_option("--only", o.only, "Only variants that this glob matches, such as 'torch@*'");
        app.add_option("--priority", o.priority,
                       "Added to the matrix's priority; larger is sooner (default 0)");
        AddPoint(app, o.branch, o.revision, "default: each, in an evaluation of its own");
        app.add_flag("--wait", o.wait, "Wait until it is settled, with a progress line");
      },
      Trigger);
  CLI::App* group = tree.Group("evaluation", "Evaluations: one matrix at one revision each");
  tree.Verb<EvaluationListOptions>(
      group, "list", "Evaluations, newest first", "",
      [](CLI::App& app, EvaluationListOptions& o) {
        app.add_option("MATRIX", o.matrix, "Only of this matrix");
        AddBranch(app, o.branch);
      },
      EvaluationList);
  tree.Verb<StatusOptions>(
      group, "show", "One evaluation: its grid, then what failed and what waits, and why", "",
      [](CLI::App& app, StatusOptions& o) {
        app.add_option("EVAL", o.of.evaluation, "The evaluation's number")->required()->check(WhyNoEvaluation, "");
      },
      ShowStatus);
  tree.Verb<StatusOptions>(
      root, "status", "The grid of a matrix: one mark a variant, then what failed and what waits, and why",
      "Without MATRIX: all matrices with their totals.",
      [](CLI::App& app, StatusOptions& o) {
        app.add_option("MATRIX", o.matrix, "The matrix's name");
        AddEvaluation(app, o.of);
      },
      ShowStatus);
  tree.Verb<WatchVerbOptions>(
      root, "watch", "Follow an evaluation until it ends",
      "Exit 0 if the gate passed, else 1. --output jsonl: a line for each change.",
      [](CLI::App& app, WatchVerbOptions& o) {
        app.add_option("EVAL", o.target,
                       "An evaluation's number, or a matrix for its newest; default: the newest of all");
        AddBranch(app, o.branch);
      },
      Watch);
  tree.Verb<ReportOptions>(
      root, "report", "What came of an evaluation, as a comment for a pull request",
      "Markdown unless --output says otherwise. With --against only what changed between the two, and the first\n"
      "input that made each change.",
      [](CLI::App& app, ReportOptions& o) {
        app.add_option("EVAL", o.target, "An evaluation's number, or a matrix for its newest")->required();
        AddBranch(app, o.branch);
        app.add_option("--against", o.against, "An older evaluation, of this or another matrix");
        app.add_option("--against-branch", o.against_branch,
                       "The branch of the matrix that --against names, or, without it, of EVAL's");
      },
      Report);
}

constexpr char kAddressHelp[] = "A variant ([MATRIX/]ID), a .drv path or its hash part";

void AddInspectionVerbs(VerbTree& tree) {
  CLI::App* root = &tree.root();
  tree.Verb<LogOptions>(
      root, "log", "The log of a variant, step or attempt, also while it runs",
      "Byte for byte into a file or pipe; on a terminal without control sequences other than colours.",
      [](CLI::App& app, LogOptions& o) {
        app.add_option("ADDRESS", o.address, absl::StrCat(kAddressHelp, ", or aN for attempt N"))->required();
        AddEvaluation(app, o.of);
        app.add_flag("-f,--follow", o.follow, "Stay until the attempt ended");
      },
      ShowLog);
  tree.Verb<ExplainOptions>(
      root, "explain", "Why a variant or step waits, failed or is impossible",
      "The chain to the root cause, each worker with the first rule that it fails, and the attempts made.",
      [](CLI::App& app, ExplainOptions& o) {
        app.add_option("ADDRESS", o.address, kAddressHelp)->required();
        AddEvaluation(app, o.of);
      },
      Explain);
}

void AddSelection(CLI::App& app, SelectionOptions& options) {
  app.add_option("ADDRESS", options.address,
                 "A variant, a glob ([MATRIX/]GLOB), or a .drv path; without one all of --matrix or --eval");
  app.add_option("--matrix", options.matrix, "The matrix");
  AddEvaluation(app, options.of);
}

void AddActionVerbs(VerbTree& tree) {
  CLI::App* root = &tree.root();
  tree.Verb<SelectionOptions>(
      root, "retry", "Forget failures and try again",
      "Failures of steps, of checks and of the evaluator. Needs a submitter's token.\n"
      "  hydrant retry --matrix demo --cause out_of_memory",
      [](CLI::App& app, SelectionOptions& o) {
        AddSelection(app, o);
        app.add_option("--cause", o.cause, "Only failures of this cause, such as out_of_memory");
        app.add_flag_callback(
            "--failed", [] {}, "All that failed: what happens without an ADDRESS anyway");
      },
      Retry);
  tree.Verb<SelectionOptions>(root, "cancel", "Stop what only the named variants, step or evaluation want",
                                 "What others want too goes on. Needs a submitter's token.", AddSelection,
                                 Cancel);
}

void AddFarmVerbs(VerbTree& tree) {
  const auto name = [](const char* noun) {
    return [noun](CLI::App& app, NameOptions& o) { app.add_option("NAME", o.name, noun)->required(); };
  };
  CLI::App* worker = tree.Group("worker", "The farm's workers");
  tree.Add(worker, "list", "All workers with what they offer", "", WorkerList);
  tree.Verb<NameOptions>(worker, "show", "One worker: its offer, GPUs and what it runs", "",
                            name("The worker"), WorkerShow);
  tree.Verb<NameOptions>(
      worker, "drain", "Let a worker finish what it runs and give it nothing new",
      "Holds across restarts of both sides, until undrain. Needs an operator's token.", name("The worker"),
      [](const NameOptions& o, Session& session) { return WorkerDrain(o, true, session); });
  tree.Verb<NameOptions>(
      worker, "undrain", "Give a drained worker work again", "Needs an operator's token.", name("The worker"),
      [](const NameOptions& o, Session& session) { return WorkerDrain(o, false, session); });
  CLI::App* channel =
      tree.Group("channel", "Channels: names that point to the newest evaluation that passed its gate");
  tree.Add(channel, "list", "All channels", "", ChannelList);
  tree.Verb<NameOptions>(channel, "show", "One channel with its whole revision", "", name("The channel"),
                            ChannelShow);
  tree.Verb<UseOptions>(
      &tree.root(), "use", "The snippet that makes a machine use this farm's cache",
      "With a VARIANT also the lines that fetch it. --format shebang: the head of a script that runs with "
      "it.",
      [](CLI::App& app, UseOptions& o) {
        app.add_option("VARIANT", o.variant, "A cached variant ([MATRIX/]ID)");
        AddBranch(app, o.branch);
        AddChoice<SnippetFormat>(app, "--format", o.format, "nix.conf (default), flake, nixos or shebang",
                                 {{"nix.conf", SnippetFormat::kNixConf},
                                  {"flake", SnippetFormat::kFlake},
                                  {"nixos", SnippetFormat::kNixos},
                                  {"shebang", SnippetFormat::kShebang}});
      },
      Use);
}

// The verb whose words were understood as far as they went: "hydrant worker show".
const CLI::App& Deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : Deepest(*chosen.front());
}

std::string Path(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return absl::StrCat(parent == nullptr ? "" : Path(*parent) + " ", app.get_name());
}

// "there is no verb 'statsu'; the nearest is 'status'", of the first word that `app` did not know.
std::string WrongVerb(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::App* verb : app.get_subcommands({})) known.push_back(verb->get_name());
  const std::string nearest = NearestHint(word, known);
  return absl::StrCat("there is no verb '", word, "'",
                      nearest.empty() ? " (known: " + absl::StrJoin(known, ", ") + ")" : nearest);
}

absl::Status UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& deepest = Deepest(app);
  const std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  const bool verb_missing = !deepest.get_subcommands({}).empty();
  std::string what = error.what();
  if (verb_missing && rest.empty()) what = "a verb is missing";
  if (verb_missing && !rest.empty() && rest.front()[0] != '-') what = WrongVerb(deepest, rest.front());
  return absl::InvalidArgumentError(absl::StrCat(what, "\ntry '", Path(deepest), " --help'"));
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app(kAbout, "hydrant");
  app.fallthrough();
  app.require_subcommand(1);
  app.footer(kFooter);
  app.set_version_flag("--version", "hydrant " HYDRANT_VERSION);
  app.add_option("--server", line.server.server, "hydrantd's gRPC address, HOST:PORT");
  app.add_option("--token-file", line.server.token_file, "A file with the token");
  AddChoice<OutputForm>(app, "-o,--output", line.form, "table (default), json, jsonl or markdown",
                        {{"table", OutputForm::kTable},
                         {"json", OutputForm::kJson},
                         {"jsonl", OutputForm::kJsonl},
                         {"markdown", OutputForm::kMarkdown}});
  VerbTree tree(app);
  AddMatrixVerbs(tree);
  AddEvaluationVerbs(tree);
  AddInspectionVerbs(tree);
  AddActionVerbs(tree);
  AddFarmVerbs(tree);
  AddInspectVerbs(tree);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return UsageError(app, error);
    std::ostringstream out;
    app.exit(error, out, out);
    line.text = out.str();
    return line;
  }
  if (app.get_option("--output")->count() == 0 && app.got_subcommand("report")) line.form = OutputForm::kMarkdown;
  line.verb = tree.TakeChosen();
  return line;
}

}  // namespace hydrant::client
