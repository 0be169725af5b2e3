#include "daemon/evaluate/nix_evaluator.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/evaluate/driver_files.h"
#include "daemon/evaluate/import_plan.h"
#include "daemon/evaluate/import_queue.h"
#include "daemon/evaluate/memory_watch.h"
#include "daemon/evaluate/outcome_batch.h"
#include "daemon/evaluate/shard_evaluation.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

// The most imports of one process, whatever their size: it is replaced after them.
constexpr size_t kMostImports = 15;
// What an import costs, in names: 0.7 s against 0.05 s for nixpkgs 19.09.
constexpr size_t kImportInNames = 14;
constexpr char kNoNix[] =
    "Nix is not installed: there is no nix-instantiate in PATH (deploy/install-deps installs it)";

// A folder of one evaluation, gone with the object.
class RunFolder {
 public:
  static absl::StatusOr<std::unique_ptr<RunFolder>> Make(const std::string& parent) {
    std::string path = parent + "/run-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return ErrnoStatus(errno, "make folder " + path);
    return std::unique_ptr<RunFolder>(new RunFolder(path));
  }
  ~RunFolder() { RemoveTree(path_).IgnoreError(); }
  const std::string& path() const { return path_; }

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

std::vector<std::string> BuiltInRecipes() {
  std::vector<std::string> names;
  for (const DriverFile& file : DriverFiles()) {
    std::string_view name = file.path;
    if (!name.starts_with("recipes/")) continue;
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

absl::Status CheckTree(const std::string& tree) {
  struct stat status;
  if (stat(tree.c_str(), &status) != 0) return ErrnoStatus(errno, "source tree " + tree);
  if (!S_ISDIR(status.st_mode))
    return absl::InvalidArgumentError(absl::StrCat("source tree ", tree, ": not a folder"));
  return absl::OkStatus();
}

}  // namespace

// What the threads of one evaluation share.
struct NixEvaluator::Shared {
  const EvaluationInput& input;
  const std::atomic<bool>& cancelled;
  const std::string folder;
  const std::vector<DriverRequest> imports;
  const size_t processes, most_imports;
  OutcomeBatch outcomes;
  MemoryWatch memory;
  ImportQueue queue;
  std::atomic<bool> failed{false};
  Mutex mu;
  absl::Status first_error ABSL_GUARDED_BY(mu);
  std::vector<DriverRequest> postponed ABSL_GUARDED_BY(mu);

  bool stopped() const { return cancelled.load() || failed.load(); }
  void Fail(const absl::Status& status) {
    if (status.ok()) return;
    MutexLock lock(mu);
    if (first_error.ok()) first_error = status;
    failed = true;
  }
};

NixEvaluator::NixEvaluator(Options options) : options_(std::move(options)), roots_(options_.nix.store_root) {}

absl::StatusOr<std::unique_ptr<NixEvaluator>> NixEvaluator::Open(Options options) {
  const std::string& folder = options.nix.folder;
  for (const char* of_before : {"/driver", "/runs"}) HYDRANT_RETURN_IF_ERROR(RemoveTree(folder + of_before));
  for (const char* needed : {"/driver/recipes", "/runs", "/home", "/cache"}) {
    HYDRANT_RETURN_IF_ERROR(MakeDirectories(folder + needed, 0700));
  }
  for (const DriverFile& file : DriverFiles()) {
    HYDRANT_RETURN_IF_ERROR(
        WriteFileAtomically(absl::StrCat(folder, "/driver/", AbslView(file.path)), file.text));
  }
  return std::unique_ptr<NixEvaluator>(new NixEvaluator(std::move(options)));
}

absl::Status NixEvaluator::Evaluate(const EvaluationInput& input,
                                    const std::function<void(std::vector<Outcome>)>& take,
                                    const std::atomic<bool>& cancelled) {
  HYDRANT_RETURN_IF_ERROR(CheckTree(input.tree));
  HYDRANT_ASSIGN_OR_RETURN(const std::unique_ptr<RunFolder> folder,
                           RunFolder::Make(options_.nix.folder + "/runs"));
  HYDRANT_ASSIGN_OR_RETURN(std::vector<DriverRequest> imports, Imports(input, folder->path()));
  HYDRANT_RETURN_IF_ERROR(PrepareStore());
  HYDRANT_RETURN_IF_ERROR(roots_.Open(input.root));
  const Learned learned = LearnedOf(input.matrix.name);
  const size_t processes =
      options_.scatter ? options_.evaluators : std::min(Processes(learned), imports.size());
  std::vector<size_t> weights;
  for (const DriverRequest& import : imports) weights.push_back(kImportInNames + import.names.size());
  Shared shared{.input = input,
                .cancelled = cancelled,
                .folder = folder->path(),
                .imports = std::move(imports),
                .processes = processes,
                .most_imports = ImportsInAProcess(learned),
                .outcomes = OutcomeBatch(take),
                .memory = MemoryWatch(options_.memory * std::max(options_.evaluators, 1)),
                .queue = ImportQueue(weights, processes)};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < processes; ++i) {
    threads.emplace_back([&, i] { options_.scatter ? WorkScattered(shared, i) : Work(shared, i); });
  }
  for (std::thread& thread : threads) thread.join();
  WorkAlone(shared);
  if (cancelled.load()) return absl::CancelledError("evaluation cancelled");
  shared.outcomes.Flush();
  MutexLock lock(shared.mu);
  return shared.first_error;
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

absl::StatusOr<std::vector<DriverRequest>> NixEvaluator::Imports(const EvaluationInput& input,
                                                                 const std::string& folder) const {
  const NixpkgsSpec& nixpkgs = input.matrix.nixpkgs;
  DriverRequest common{.tree = input.tree, .config_json = nixpkgs.config_json, .allow = nixpkgs.allow};
  HYDRANT_ASSIGN_OR_RETURN(common.recipe, RecipeOf(nixpkgs, folder));
  for (const std::string& text : nixpkgs.overlay_texts) {
    common.overlays.push_back(absl::StrCat(folder, "/overlay-", common.overlays.size(), ".nix"));
    HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(common.overlays.back(), text));
  }
  return PlanImports(input, common);
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
      .env = CommandEnvironment(options_.nix),
      .driver_folder = options_.nix.folder + "/driver",
      .folder = shared.folder + "/" + name,
      .bounds = {.memory = options_.memory, .patience = options_.variant_timeout},
      .ifd = shared.input.matrix.nixpkgs.ifd,
      .memory = &shared.memory,
      .keep = [&](const std::string& drv) { return roots_.Keep(shared.input.root, drv); },
      .give = [&](Outcome outcome) { shared.outcomes.Add(std::move(outcome)); },
      .stop =
          [&] {
            shared.outcomes.FlushIfDue();
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
  // Whoever may submit a matrix writes what is evaluated here: it reads the tree, the recipe and the driver,
  // nothing else of this machine's disk, and no environment.
  options.env["NIX_CONFIG"] += "restrict-eval = true\n";
  options.env["NIX_PATH"] =
      absl::StrCat("driver=", options.driver_folder, ":run=", shared.folder, ":tree=", shared.input.tree);
  if (options_.memory > 0) options.env["GC_MAXIMUM_HEAP_SIZE"] = absl::StrCat(options_.memory);
  std::vector<ShardEvaluation::Import> numbered;
  for (size_t i = 0; i < imports.size(); ++i) numbered.push_back({numbers[i], std::move(imports[i])});
  ShardEvaluation shard(std::move(options), std::move(numbered));
  const absl::Status status = shard.Evaluate();
  Learn(shared.input.matrix.name, shard.peak(), shard.imports_at_peak());
  if (absl::IsNotFound(status)) return absl::FailedPreconditionError(kNoNix);
  return status;
}

}  // namespace hydrant
