#include "daemon/evaluate/nix_evaluator.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/evaluate/driver_files.h"
#include "daemon/evaluate/slice_evaluation.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

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

// Whether a check of the matrix wants to run this variant in a Python environment.
bool WantsEnvironment(const Matrix& matrix, const Variant& variant) {
  const bool of_python = absl::StartsWith(variant.package, "python3Packages.");
  return std::any_of(matrix.checks.begin(), matrix.checks.end(), [&](const CheckSpec& check) {
    const bool python = check.environment == "python" || (check.environment.empty() && of_python);
    return python && MatchesVariant(matrix, check.variants, variant);
  });
}

}  // namespace

// What the threads of one evaluation share.
struct NixEvaluator::Shared {
  const std::function<void(std::vector<Outcome>)>& take;
  const std::atomic<bool>& cancelled;
  std::atomic<size_t> next_slice{0};
  std::atomic<bool> failed{false};
  Mutex mu;  // held while `take` runs; nothing else is locked inside
  absl::Status first_error ABSL_GUARDED_BY(mu);

  bool stopped() const { return cancelled.load() || failed.load(); }
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
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<DriverRequest> slices, Slices(input, folder->path()));
  HYDRANT_RETURN_IF_ERROR(PrepareStore());
  HYDRANT_RETURN_IF_ERROR(roots_.Open(input.root));
  Shared shared{.take = take, .cancelled = cancelled};
  std::vector<std::thread> threads;
  const size_t wanted = std::min<size_t>(std::max(options_.evaluators, 1), slices.size());
  for (size_t i = 0; i < wanted; ++i) {
    threads.emplace_back([&] { Work(input, folder->path(), slices, shared); });
  }
  for (std::thread& thread : threads) thread.join();
  if (cancelled.load()) return absl::CancelledError("evaluation cancelled");
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

absl::StatusOr<std::vector<DriverRequest>> NixEvaluator::Slices(const EvaluationInput& input,
                                                                const std::string& folder) const {
  const NixpkgsSpec& nixpkgs = input.matrix.nixpkgs;
  DriverRequest common{.tree = input.tree, .config_json = nixpkgs.config_json, .allow = nixpkgs.allow};
  HYDRANT_ASSIGN_OR_RETURN(common.recipe, RecipeOf(nixpkgs, folder));
  for (const std::string& text : nixpkgs.overlay_texts) {
    common.overlays.push_back(absl::StrCat(folder, "/overlay-", common.overlays.size(), ".nix"));
    HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(common.overlays.back(), text));
  }
  std::map<size_t, DriverRequest> slices;
  for (const size_t index : input.variants) {
    const Variant& variant = input.expansion.variants[index];
    DriverRequest& slice = slices.try_emplace(variant.slice, common).first->second;
    if (slice.names.empty()) slice.slice_json = SliceJson(input.expansion.slices[variant.slice]);
    slice.names.push_back({.variant = index,
                           .id = variant.id,
                           .package = variant.package,
                           .environment = WantsEnvironment(input.matrix, variant)});
  }
  std::vector<DriverRequest> result;
  for (auto& [key, slice] : slices) result.push_back(std::move(slice));
  return result;
}

void NixEvaluator::Work(const EvaluationInput& input, const std::string& folder,
                        const std::vector<DriverRequest>& slices, Shared& shared) const {
  while (!shared.stopped()) {
    const size_t index = shared.next_slice++;
    if (index >= slices.size()) return;
    auto outcomes = EvaluateSlice(input, absl::StrCat(folder, "/slice-", index, ".json"), slices[index],
                                  [&] { return shared.stopped(); });
    MutexLock lock(shared.mu);
    if (outcomes.ok()) {
      shared.take(*std::move(outcomes));
    } else if (shared.first_error.ok()) {
      shared.first_error = outcomes.status();
      shared.failed = true;
    }
  }
}

absl::StatusOr<std::vector<Outcome>> NixEvaluator::EvaluateSlice(const EvaluationInput& input,
                                                                 const std::string& file,
                                                                 const DriverRequest& slice,
                                                                 const std::function<bool()>& stop) const {
  SliceEvaluation::Options options{
      .env = CommandEnvironment(options_.nix),
      .driver = options_.nix.folder + "/driver/driver.nix",
      .input = file,
      .bounds = {.memory = options_.memory, .patience = options_.variant_timeout},
      .ifd = input.matrix.nixpkgs.ifd,
      .stop = stop};
  // Whoever may submit a matrix writes what is evaluated here: it reads the tree, the recipe and the driver, nothing else of
  // this machine's disk, and no environment.
  options.env["NIX_CONFIG"] += "restrict-eval = true\n";
  options.env["NIX_PATH"] = absl::StrCat("driver=", options_.nix.folder, "/driver:run=",
                                         file.substr(0, file.rfind('/')), ":tree=", slice.tree);
  if (options_.memory > 0) options.env["GC_MAXIMUM_HEAP_SIZE"] = absl::StrCat(options_.memory);
  options.keep = [&](const std::string& derivation) { return roots_.Keep(input.root, derivation); };
  auto outcomes = SliceEvaluation(std::move(options), slice).Evaluate();
  if (absl::IsNotFound(outcomes.status())) return absl::FailedPreconditionError(kNoNix);
  return outcomes;
}

}  // namespace hydrant
