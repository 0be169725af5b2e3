#include "worker/check/sandbox_check_runner.h"

#include <stdlib.h>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "lib/failure/classify.h"
#include "worker/check/check_output.h"

namespace hydrant::worker {
namespace {

// A fresh folder, gone with the object.
class ScratchFolder {
 public:
  static absl::StatusOr<ScratchFolder> Make(const std::string& parent) {
    std::string path = parent + "/check-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return ErrnoStatus(errno, "make " + path);
    return ScratchFolder(path);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ~ScratchFolder() {
    if (path_.empty()) return;
    if (const absl::Status removed = RemoveTree(path_); !removed.ok()) {
      Log(LogLevel::kWarning, "scratch folder stays",
          {{"folder", path_}, {"error", std::string(removed.message())}});
    }
  }
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Cause CauseOf(const Classified& found) {
  return found.cause == Cause::kNone || found.cause == Cause::kUnknown ? Cause::kCheckFailed : found.cause;
}

}  // namespace

std::map<std::string, std::string> CheckEnvironment(const CheckRequest& request) {
  const std::string& programs =
      request.environment_path.empty() ? request.output_path : request.environment_path;
  std::map<std::string, std::string> env = {
      {"PATH", absl::StrCat(programs, "/bin:/bin")},
      {"HYDRANT_OUT", request.output_path},
      {"HYDRANT_CHECK", request.name},
      {"CUDA_VISIBLE_DEVICES", request.gpu ? request.gpu->uuid : ""},
      {"HOME", "/tmp"},
      {"TMPDIR", "/tmp"},
      {"LANG", "C.UTF-8"},
  };
  if (request.gpu) env["HYDRANT_GPU_ARCHITECTURE"] = request.gpu->architecture;
  if (request.gpu && request.gpu->simulated) env["HYDRANT_GPU_SIMULATED"] = "1";
  return env;
}

absl::StatusOr<SandboxSpec> SandboxCheckRunner::Spec(const CheckRequest& request,
                                                     const std::string& folder) const {
  SandboxSpec spec{
      .root = folder + "/root", .temporary = folder + "/tmp", .user_namespace = options_.user_namespace};
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(spec.root));
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(spec.temporary));
  spec.mounts.push_back({.source = options_.store_folder, .target = "/nix/store"});
  for (const std::string& path : options_.sandbox_paths) {
    const size_t equals = path.find('=');
    spec.mounts.push_back({.source = equals == std::string::npos ? path : path.substr(equals + 1),
                           .target = path.substr(0, equals)});
  }
  if (request.gpu) {
    HYDRANT_ASSIGN_OR_RETURN(const std::vector<SandboxMount> gpu, gpus_.MountsFor(*request.gpu));
    spec.mounts.insert(spec.mounts.end(), gpu.begin(), gpu.end());
  }
  spec.command = request.command;
  spec.env = CheckEnvironment(request);
  return spec;
}

CheckOutcome SandboxCheckRunner::Run(const CheckRequest& request, const LogCallback& log,
                                     Cancellation& cancellation) {
  const auto cannot = [](const absl::Status& status) {
    return CheckOutcome{.cause = Cause::kTransient, .message = std::string(status.message())};
  };
  const auto folder = ScratchFolder::Make(options_.scratch);
  if (!folder.ok()) return cannot(folder.status());
  const auto spec = Spec(request, folder->path());
  if (!spec.ok()) return cannot(spec.status());
  const auto process = SandboxedProcess::Start(*spec);
  if (absl::IsNotFound(process.status()) || absl::IsPermissionDenied(process.status())) {
    const std::string text =
        absl::StrCat(process.status().message(), " (PATH is ", spec->env.at("PATH"), ")");
    log(text + "\n");
    return {
        .cause = Cause::kCheckFailed, .message = text, .log_bytes = static_cast<int64_t>(text.size()) + 1};
  }
  if (!process.ok()) return cannot(process.status());

  CheckOutput output(**process, request.limits, options_.grace, cancellation);
  output.Follow(log);
  const SandboxedProcess::Result result = (*process)->Wait();
  CheckOutcome outcome{.cause = output.cause(), .message = output.message(), .cpu = result.cpu};
  outcome.max_memory_bytes = std::max(result.max_memory_bytes, output.max_memory_bytes());
  outcome.log_bytes = output.log_bytes();
  if (outcome.cause == Cause::kNone && !result.exit.ok()) {
    const Classified found = ClassifyCheck(output.tail());
    outcome.cause = CauseOf(found);
    outcome.message = found.message.empty()
                          ? absl::StrCat(request.command[0], " ended with ", result.exit.ToString())
                          : found.message;
  }
  return outcome;
}

}  // namespace hydrant::worker
