#include "daemon/evaluate/nix_evaluator.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "daemon/evaluate/derived_imports.h"
#include "daemon/evaluate/derived_list.h"
#include "daemon/evaluate/driver_files.h"
#include "daemon/evaluate/import_plan.h"
#include "daemon/evaluate/import_queue.h"
#include "daemon/evaluate/memory_watch.h"
#include "daemon/evaluate/outcome_batcher.h"
#include "daemon/evaluate/overlay_files.h"
#include "daemon/evaluate/shard_evaluation.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/subprocess.h"
#include "lib/matrix/uri_prefixes.h"

namespace hydrant {
namespace {

// The most imports of one process, whatever their size: it is replaced after them.
constexpr size_t kMostImports = 15;
// What an import costs, in names: 0.7 s against 0.05 s for nixpkgs 19.09.
constexpr size_t kImportInNames = 14;
constexpr char kNoNix[] =
    "Nix is not installed: there is no nix-instantiate in PATH (deploy/install-deps installs it)";

std::vector<std::string> BuiltInRecipes() {
  std::vector<std::string> names;
  for (const DriverFile& file : DriverFiles()) {
    std::string_view name = file.path;
    if (!name.starts_with("recipes/") || name == "recipes/flake.nix") continue;  // what the others import
    name.remove_prefix(8);
    names.emplace_back(name.substr(0, name.rfind(".nix")));
  }
  return names;
}

// The recipe as the driver takes it: a built-in name, or a file with the user's text.
absl::StatusOr<std::string> RecipeOf(const NixpkgsSpec& nixpkgs, const std::string& folder) {
  if (!nixpkgs.recipe_text.empty()) {
    const std::string file = folder + "/recipe.nix";
    HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(file, nixpkgs.recipe_text));
    return file;
  }
  const std::vector<std::string> names = BuiltInRecipes();
  if (std::find(names.begin(), names.end(), nixpkgs.recipe) != names.end()) return nixpkgs.recipe;
  return absl::InvalidArgumentError(
      absl::StrCat("[nixpkgs] recipe = \"", nixpkgs.recipe, "\": this version has no such recipe; it has ",
                   absl::StrJoin(names, ", "), " and takes a .nix file of your own"));
}

std::string WithoutFolder(const std::string& folder, const std::string& text) {
  return absl::StrReplaceAll(text, {{folder + "/", ""}});
}

absl::Status CheckTree(const std::string& tree) {
  struct stat status;
  if (stat(tree.c_str(), &status) != 0) return ErrnoStatus(errno, "source tree " + tree);
  if (!S_ISDIR(status.st_mode))
    return absl::InvalidArgumentError(absl::StrCat("source tree ", tree, ": not a folder"));
  return absl::OkStatus();
}

// What lies under these may be fetched, through the proxy that the daemon has.
void AllowFetching(const std::vector<std::string>& uris, std::map<std::string, std::string>& env) {
  if (uris.empty()) return;
  env["NIX_CONFIG"] += absl::StrCat("allowed-uris = ", absl::StrJoin(uris, " "), "\n");
  for (const char* name : {"http_proxy", "https_proxy", "no_proxy", "all_proxy"}) {
    if (const char* value = getenv(name); value != nullptr) env[name] = value;
  }
}

}  // namespace

// What the threads of one evaluation share.
struct NixEvaluator::Shared {
  const EvaluationInput& input;
  const std::atomic<bool>& cancelled;
  const std::string folder, learned_as;
  const Depth depth;
  const std::vector<DriverRequest> imports;
  const size_t processes, most_imports;
  OutcomeBatcher outcomes;
  MemoryWatch memory;
  ImportQueue queue;
  std::atomic<bool> failed{false};
  const Clock& clock;
  const absl::Time deadline;
  std::atomic<bool> late{false};
  Mutex mu;
  std::set<size_t> answered ABSL_GUARDED_BY(mu);  // variants
  absl::Status first_error ABSL_GUARDED_BY(mu);
  std::vector<DriverRequest> postponed ABSL_GUARDED_BY(mu);

  bool stopped() {
    if (clock.Now() >= deadline) late = true;
    return cancelled.load() || failed.load() || late.load();
  }
  void Give(Outcome outcome) {
    {
      MutexLock lock(mu);
      answered.insert(outcome.variant);
    }
    outcomes.Add(std::move(outcome));
  }
  // What was answered before it was late stays.
  void GiveLate(absl::Duration timeout) {
    for (const DriverRequest& import : imports) {
      for (const DriverName& name : import.names) GiveLate(name.variant, timeout);
    }
  }
  void GiveLate(size_t variant, absl::Duration timeout) {
    {
      MutexLock lock(mu);
      if (answered.contains(variant)) return;
    }
    Give({.variant = variant, .cause = Cause::kEvaluatorTimeout, .message = LateMessage(timeout)});
  }
  void Fail(const absl::Status& status) {
    if (status.ok()) return;
    MutexLock lock(mu);
    if (first_error.ok()) first_error = status;
    failed = true;
  }
};

NixEvaluator::NixEvaluator(Options options)
    : options_(std::move(options)),
      clock_(options_.clock == nullptr ? &system_clock_ : options_.clock),
      roots_(options_.nix.store_root) {}

namespace {

absl::Status MakeFolders(const std::string& folder) {
  for (const char* needed : {"/driver/recipes", "/runs", "/home", "/cache"}) {
    HYDRANT_RETURN_IF_ERROR(MakeDirectories(folder + needed, 0700));
  }
  for (const DriverFile& file : DriverFiles()) {
    HYDRANT_RETURN_IF_ERROR(
        WriteFileAtomically(absl::StrCat(folder, "/driver/", AbslView(file.path)), file.text));
  }
  return absl::OkStatus();
}

// Also where somebody tidied up since Open.
absl::StatusOr<std::unique_ptr<RunFolder>> NewRunFolder(const std::string& folder) {
  for (const char* needed : {"/driver/driver.nix", "/runs", "/home", "/cache"}) {
    if (FileExists(folder + needed)) continue;
    HYDRANT_RETURN_IF_ERROR(MakeFolders(folder));
    break;
  }
  return RunFolder::Make(folder + "/runs");
}

}  // namespace

absl::StatusOr<std::unique_ptr<NixEvaluator>> NixEvaluator::Open(Options options) {
  const std::string& folder = options.nix.folder;
  for (const char* of_before : {"/driver", "/runs"}) HYDRANT_RETURN_IF_ERROR(RemoveTree(folder + of_before));
  HYDRANT_RETURN_IF_ERROR(MakeFolders(folder));
  return std::unique_ptr<NixEvaluator>(new NixEvaluator(std::move(options)));
}

absl::Status NixEvaluator::Evaluate(const EvaluationInput& input,
                                    const std::function<void(std::vector<Outcome>)>& take,
                                    const std::atomic<bool>& cancelled) {
  HYDRANT_RETURN_IF_ERROR(CheckInput(input));
  HYDRANT_ASSIGN_OR_RETURN(const std::unique_ptr<RunFolder> folder, NewRunFolder(options_.nix.folder));
  HYDRANT_ASSIGN_OR_RETURN(const DriverRequest common, CommonRequest(input, folder->path()));
  HYDRANT_RETURN_IF_ERROR(PrepareStore());
  HYDRANT_RETURN_IF_ERROR(roots_.Open(input.root));
  return RunImports(input, folder->path(), Depth::kAll, PlanImports(input, common), take, cancelled);
}

absl::Status NixEvaluator::CheckInput(const EvaluationInput& input) const {
  HYDRANT_RETURN_IF_ERROR(CheckTree(input.tree));
  const std::string refusal = UriRefusal(input.matrix.nixpkgs.allowed_uris, options_.allowed_uris);
  return refusal.empty() ? absl::OkStatus() : absl::InvalidArgumentError(refusal);
}

absl::Status NixEvaluator::RunImports(const EvaluationInput& input, const std::string& folder, Depth depth,
                                      std::vector<DriverRequest> imports,
                                      const std::function<void(std::vector<Outcome>)>& take,
                                      const std::atomic<bool>& cancelled) {
  const std::string learned_as = absl::StrCat(input.matrix.name, depth == Depth::kAll ? "" : " list");
  const Learned learned = LearnedOf(learned_as);
  const size_t processes =
      options_.scatter ? options_.evaluators : std::min(Processes(learned), imports.size());
  std::vector<size_t> weights;
  for (const DriverRequest& import : imports) weights.push_back(kImportInNames + import.names.size());
  Shared shared{.input = input,
                .cancelled = cancelled,
                .folder = folder,
                .learned_as = learned_as,
                .depth = depth,
                .imports = std::move(imports),
                .processes = processes,
                .most_imports = depth == Depth::kAll ? ImportsInAProcess(learned) : 1,
                .outcomes = OutcomeBatcher(take),
                .memory = MemoryWatch(options_.memory * std::max(options_.evaluators, 1)),
                .queue = ImportQueue(weights, processes),
                .clock = *clock_,
                .deadline = clock_->Now() + options_.evaluation_timeout};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < processes; ++i) {
    threads.emplace_back([&, i] { options_.scatter ? WorkScattered(shared, i) : Work(shared, i); });
  }
  for (std::thread& thread : threads) thread.join();
  WorkAlone(shared);
  if (shared.late && !cancelled.load() && !shared.failed) shared.GiveLate(options_.evaluation_timeout);
  if (!cancelled.load()) shared.outcomes.Flush();
  if (cancelled.load()) return absl::CancelledError("evaluation cancelled");
  MutexLock lock(shared.mu);
  return shared.first_error;
}

absl::StatusOr<NixEvaluator::Prepared> NixEvaluator::Prepare(const EvaluationInput& input) {
  HYDRANT_RETURN_IF_ERROR(CheckInput(input));
  Prepared prepared{.driver_folder = options_.nix.folder + "/driver", .roots = roots_.Folder(input.root)};
  HYDRANT_ASSIGN_OR_RETURN(prepared.folder, NewRunFolder(options_.nix.folder));
  HYDRANT_ASSIGN_OR_RETURN(const DriverRequest common, CommonRequest(input, prepared.folder->path()));
  HYDRANT_RETURN_IF_ERROR(PrepareStore());
  HYDRANT_RETURN_IF_ERROR(roots_.Open(input.root));
  prepared.imports = PlanImports(input, common);
  prepared.env = Environment(input, prepared.folder->path());
  const char* ifd = input.matrix.nixpkgs.ifd ? "true" : "false";
  prepared.env["NIX_CONFIG"] += absl::StrCat("allow-import-from-derivation = ", ifd, "\n");
  return prepared;
}

absl::Status NixEvaluator::Keep(const std::string& root, const std::string& derivation) const {
  return roots_.Keep(root, derivation);
}

void NixEvaluator::Mend(const std::string& tree, Outcome& outcome) const {
  outcome.message = WithoutFolder(tree, outcome.message);
  const auto is_made = [&](const std::string& derivation) {
    return derivation.empty() || FileExists(options_.nix.store_root + derivation);
  };
  if (!is_made(outcome.derivation)) {
    outcome = {.variant = outcome.variant,
               .cause = Cause::kNotADerivation,
               .message = absl::StrCat("its drvPath \"", outcome.derivation,
                                       "\" is not in the store: no derivation was made by this name")};
  } else if (!is_made(outcome.environment)) {
    absl::StrAppend(&outcome.message, outcome.message.empty() ? "" : "; ",
                    "no Python environment: its drvPath \"", outcome.environment, "\" is not in the store");
    outcome.environment.clear();
    outcome.environment_output.clear();
  }
}

void NixEvaluator::Release(const std::string& root) { roots_.Release(root); }

// Once before processes share the store: several that make it at once wait for one another's locks.
absl::Status NixEvaluator::PrepareStore() {
  MutexLock lock(mu_);
  if (store_ready_) return absl::OkStatus();
  const auto done =
      Run({.argv = {"nix-store", "--init"}, .env = CommandEnvironment(options_.nix), .clear_env = true});
  if (absl::IsNotFound(done.status())) return absl::FailedPreconditionError(kNoNix);
  if (!done.ok()) return done.status();
  if (!done->status.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "open the Nix store of ", options_.nix.store_root.empty() ? "this machine" : options_.nix.store_root,
        ": ", PrintableText(ClassifyEvaluation(done->err).message)));
  }
  store_ready_ = true;
  return absl::OkStatus();
}

absl::StatusOr<DriverRequest> NixEvaluator::CommonRequest(const EvaluationInput& input,
                                                          const std::string& folder) const {
  const NixpkgsSpec& nixpkgs = input.matrix.nixpkgs;
  DriverRequest common{.tree = input.tree,
                       .config_json = nixpkgs.config_json,
                       .allow = nixpkgs.allow,
                       .named = true,
                       .probe = nixpkgs.probe};
  HYDRANT_ASSIGN_OR_RETURN(common.recipe, RecipeOf(nixpkgs, folder));
  HYDRANT_ASSIGN_OR_RETURN(common.overlays, WriteOverlays(nixpkgs.overlays, folder + "/overlays"));
  for (const auto& [name, overlays] : nixpkgs.overlay_sets) {
    HYDRANT_ASSIGN_OR_RETURN(common.overlay_sets[name],
                             WriteOverlays(overlays, absl::StrCat(folder, "/overlays-", name)));
  }
  return common;
}

absl::StatusOr<DerivedList> NixEvaluator::DerivePackages(const EvaluationInput& input,
                                                         const std::atomic<bool>& cancelled) {
  if (!input.matrix.derived) {
    return absl::InvalidArgumentError(
        absl::StrCat("matrix ", input.matrix.name, ": its package list is not derived"));
  }
  HYDRANT_RETURN_IF_ERROR(CheckInput(input));
  HYDRANT_ASSIGN_OR_RETURN(const std::unique_ptr<RunFolder> folder, NewRunFolder(options_.nix.folder));
  HYDRANT_ASSIGN_OR_RETURN(const DriverRequest common, CommonRequest(input, folder->path()));
  HYDRANT_RETURN_IF_ERROR(PrepareStore());
  HYDRANT_ASSIGN_OR_RETURN(const SwitchedRequests requests, SwitchRequests(input, common));
  HYDRANT_RETURN_IF_ERROR(ListNames(input, folder->path(), requests.off, cancelled).status());
  HYDRANT_ASSIGN_OR_RETURN(const PackageNames names,
                           ListNames(input, folder->path(), requests.on, cancelled));
  DerivedComparison comparison(FilteredPackages(input.matrix, names.packages));
  HYDRANT_RETURN_IF_ERROR(RunImports(
      input, folder->path(), Depth::kDerivations, ComparedImports(requests, comparison),
      [&](const std::vector<Outcome>& outcomes) { comparison.Take(outcomes); }, cancelled));
  HYDRANT_ASSIGN_OR_RETURN(DerivedList list, comparison.List(input.matrix.derived->changed_by));
  if (list.packages.empty() && common.recipe.starts_with('/')) {
    list.notes.push_back(
        absl::StrCat("the recipe may not look at the switch: a recipe of your own reads it as slice.",
                     input.matrix.derived->changed_by));
  }
  for (const std::string& missing : names.missing) {
    // A tree without Python packages lacks nothing.
    if (missing != "python3Packages: attribute 'python3Packages' missing") list.notes.push_back(missing);
  }
  return list;
}

absl::StatusOr<PackageNames> NixEvaluator::ListNames(const EvaluationInput& input, const std::string& folder,
                                                     const DriverRequest& request,
                                                     const std::atomic<bool>& cancelled) const {
  if (cancelled.load()) return absl::CancelledError("evaluation cancelled");
  const std::string file = folder + "/list.json";
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(file, DriverInput(request, {})));
  const std::string mark = NewMark();
  MemoryWatch memory(options_.memory * std::max(options_.evaluators, 1));
  std::shared_ptr<MemoryWatch::Seat> seat;
  const LineProcess process{
      .argv = {"nix-instantiate", "--eval", "--strict", "--readonly-mode", "--option",
               "allow-import-from-derivation", input.matrix.nixpkgs.ifd ? "true" : "false", "--argstr",
               "input", file, "--argstr", "mark", mark, "-A", "list",
               options_.nix.folder + "/driver/driver.nix"},
      .env = Environment(input, folder),
      .patience = options_.variant_timeout,
      .clock = clock_,
      .started = [&](pid_t pid) { seat = memory.Watch(pid); },
      .kill = [&] { return seat != nullptr && seat->chosen; }};
  auto names = ListPackageNames(
      process, mark, [&] { return cancelled.load(); }, options_.memory);
  if (absl::IsNotFound(names.status())) return absl::FailedPreconditionError(kNoNix);
  if (names.ok() || absl::IsCancelled(names.status())) return names;
  return Annotate(names.status(),
                  absl::StrCat("list the packages of ", input.tree, " with ",
                               input.matrix.derived->changed_by, request.sets.empty() ? " off" : " on"));
}

NixEvaluator::Learned NixEvaluator::LearnedOf(const std::string& matrix) {
  MutexLock lock(mu_);
  return learned_[matrix];
}

void NixEvaluator::Learn(const std::string& matrix, uint64_t peak, size_t imports) {
  if (peak == 0 || imports == 0) return;
  MutexLock lock(mu_);
  uint64_t& memory = learned_[matrix].import_memory;
  memory = (memory + peak / imports) / 2;
}

size_t NixEvaluator::Processes(const Learned& learned) const {
  const size_t wanted = std::max(options_.evaluators, 1);
  if (options_.memory == 0) return wanted;
  return std::clamp<uint64_t>(options_.memory * wanted / learned.import_memory, 1, wanted);
}

size_t NixEvaluator::ImportsInAProcess(const Learned& learned) const {
  if (options_.imports_in_a_process > 0) return options_.imports_in_a_process;
  if (options_.memory == 0) return kMostImports;
  return std::clamp<uint64_t>(options_.memory / learned.import_memory, 1, kMostImports);
}

void NixEvaluator::Work(Shared& shared, size_t worker) {
  for (size_t shard = 0; !shared.stopped(); ++shard) {
    const std::vector<size_t> numbers = shared.queue.Take(worker, shared.most_imports);
    if (numbers.empty()) return;
    std::vector<DriverRequest> imports;
    for (const size_t number : numbers) imports.push_back(shared.imports[number]);
    shared.Fail(EvaluateShard(shared, absl::StrCat("shard-", worker, "-", shard), numbers, std::move(imports),
                              worker, false));
  }
}

void NixEvaluator::WorkScattered(Shared& shared, size_t worker) {
  std::vector<DriverRequest> mine = std::move(ScatterImports(shared.imports, shared.processes)[worker]);
  std::vector<size_t> numbers(mine.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  if (mine.empty()) return;
  shared.Fail(
      EvaluateShard(shared, absl::StrCat("scattered-", worker), numbers, std::move(mine), worker, false));
}

void NixEvaluator::WorkAlone(Shared& shared) {
  std::vector<DriverRequest> postponed;
  {
    MutexLock lock(shared.mu);
    postponed.swap(shared.postponed);
  }
  for (size_t i = 0; i < postponed.size() && !shared.stopped(); ++i) {
    shared.Fail(EvaluateShard(shared, absl::StrCat("alone-", i), {0}, {std::move(postponed[i])}, 0, true));
  }
}

absl::Status NixEvaluator::EvaluateShard(Shared& shared, const std::string& name,
                                         const std::vector<size_t>& numbers,
                                         std::vector<DriverRequest> imports, size_t worker, bool alone) {
  ShardEvaluation::Options options{
      .env = Environment(shared.input, shared.folder),
      .driver_folder = options_.nix.folder + "/driver",
      .folder = shared.folder + "/" + name,
      .memory_bound = options_.memory,
      .variant_timeout = options_.variant_timeout,
      .clock = clock_,
      .ifd = shared.input.matrix.nixpkgs.ifd,
      .read_only = shared.depth == Depth::kDerivations && !shared.input.matrix.nixpkgs.ifd,
      .words = shared.depth == Depth::kAll,
      .memory = &shared.memory,
      .keep =
          [&](const std::string& drv) {
            return shared.depth == Depth::kAll ? roots_.Keep(shared.input.root, drv) : absl::OkStatus();
          },
      .give =
          [&](Outcome outcome) {
            if (shared.depth == Depth::kAll) Mend(shared.input.tree, outcome);
            shared.Give(std::move(outcome));
          },
      .stop =
          [&] {
            if (!shared.stopped()) shared.outcomes.FlushIfDue();
            return shared.stopped();
          },
      .begin = [&](size_t import) { return options_.scatter || shared.queue.Begin(worker, import); }};
  if (!alone) {
    options.postpone = [&](DriverRequest import) {
      MutexLock lock(shared.mu);
      shared.postponed.push_back(std::move(import));
    };
  }
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(options.folder, 0700));
  std::vector<ShardEvaluation::Import> numbered;
  for (size_t i = 0; i < imports.size(); ++i) numbered.push_back({numbers[i], std::move(imports[i])});
  ShardEvaluation shard(std::move(options), std::move(numbered));
  const absl::Status status = shard.Evaluate();
  Learn(shared.learned_as, shard.peak(), shard.imports_at_peak());
  if (absl::IsNotFound(status)) return absl::FailedPreconditionError(kNoNix);
  if (shared.late && absl::IsCancelled(status)) {
    shard.SettleWithoutWords();
    return absl::OkStatus();
  }
  return status;
}

// Whoever may submit a matrix writes what is evaluated here: it reads the tree, the recipe and the driver,
// nothing else of this machine's disk, and no environment.
std::map<std::string, std::string> NixEvaluator::Environment(const EvaluationInput& input,
                                                             const std::string& folder) const {
  std::map<std::string, std::string> env = CommandEnvironment(options_.nix);
  env["NIX_CONFIG"] += kRestricted;
  env["NIX_PATH"] =
      absl::StrCat("driver=", options_.nix.folder, "/driver:run=", folder, ":tree=", input.tree);
  AllowFetching(input.matrix.nixpkgs.allowed_uris, env);
  if (options_.memory > 0) env["GC_MAXIMUM_HEAP_SIZE"] = absl::StrCat(options_.memory);
  return env;
}

}  // namespace hydrant
