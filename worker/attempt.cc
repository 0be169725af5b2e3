#include "worker/attempt.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/failure/classify.h"

namespace hydrant::worker {
namespace {

constexpr int kPushRounds = 3;

std::vector<std::string> OutputPaths(const nix::Derivation& derivation) {
  std::vector<std::string> paths;
  for (const auto& [name, output] : derivation.outputs) paths.push_back(output.path);
  return paths;
}

}  // namespace

void Attempt::Run(std::optional<AttemptEnd> built) {
  const bool resumed = built.has_value();
  if (resumed) {
    end_ = *std::move(built);
    Enter(AttemptStage::kPushing);
  }
  const auto* step = std::get_if<StepWork>(&assignment_.work);
  if (resumed && (step == nullptr || end_.cause != Cause::kNone)) {
    (void)report_->Finish(end_);  // nothing is left but to say it
  } else if (step != nullptr) {
    RunStep(*step, resumed);
  } else {
    RunCheck(std::get<CheckWork>(assignment_.work));
  }
  tools_.observer.Ended(end_, stage_);
}

void Attempt::Stop(StopReason reason) {
  {
    MutexLock lock(mu_);
    if (!stopped_) stopped_ = reason;
  }
  cancellation_.Cancel();
}

void Attempt::Enter(AttemptStage stage) {
  if (stage == stage_) return;  // resumed there
  tools_.observer.Entered(stage, stage_);
  stage_ = stage;
  report_->Enter(stage);
}

bool Attempt::Fail(Cause cause, std::string message) {
  MutexLock lock(mu_);
  if (stopped_ == StopReason::kLogLimit) {
    end_.cause = Cause::kLogLimit;
    end_.message = "hydrantd takes no more log of this attempt";
  } else if (stopped_) {
    end_.cause = Cause::kLost;
    end_.message = "given back: the worker was told to stop";
  } else {
    end_.cause = cause;
    end_.message = std::move(message);
  }
  return false;
}

absl::StatusOr<std::unique_ptr<StoreSession>> Attempt::Open(const AttemptLimits& limits) {
  auto session = tools_.open_session(limits);
  if (!session.ok()) {
    Fail(Cause::kTransient,
         absl::StrCat("the worker's store cannot be opened: ", session.status().message()));
  }
  return session;
}

CacheAccess Attempt::Access() const {
  const FarmFacts& farm = assignment_.farm;
  CacheAccess access{.staged = {.url = farm.cache_url, .public_keys = {farm.staged_public_key}},
                     .token = tools_.token,
                     .attempt_id = absl::StrCat(assignment_.attempt.value),
                     .lease_token = absl::StrCat(assignment_.token.value)};
  for (const Substituter& one : farm.substituters) {
    access.substituters.push_back({.url = one.url, .public_keys = one.public_keys});
  }
  return access;
}

void Attempt::RunStep(const StepWork& work, bool resumed) {
  if (!resumed) Enter(AttemptStage::kFetching);
  const auto derivation = nix::ParseDerivation(work.aterm);
  if (!derivation.ok()) {
    Fail(Cause::kTransient, absl::StrCat(work.derivation_path, ": ", derivation.status().message()));
    (void)report_->Finish(end_);
    return;
  }
  const auto session = Open(work.limits);
  if (!session.ok()) {
    (void)report_->Finish(end_);
    return;
  }
  bool valid = resumed;
  if ((resumed || Prepare(**session, work, *derivation, valid)) &&
      (valid || Build(**session, work, *derivation))) {
    if (!resumed) report_->Built(end_);
    Enter(AttemptStage::kPushing);
    Push(**session, *derivation);
  }
  Finish(**session, *derivation);
}

bool Attempt::Prepare(StoreSession& session, const StepWork& work, const nix::Derivation& derivation,
                      bool& built) {
  const auto failed = [this](const absl::Status& status) {
    return Fail(Cause::kTransient, std::string(status.message()));
  };
  const auto valid = tools_.builder.IsBuilt(session, derivation);
  if (!valid.ok()) return failed(valid.status());
  built = *valid;
  if (built) return true;
  std::set<std::string> paths(work.input_paths.begin(), work.input_paths.end());
  std::vector<DerivationFile> files;
  if (work.needs_derivation_closure) {
    const auto there = tools_.builder.HasDerivation(session, work.derivation_path);
    if (!there.ok()) return failed(there.status());
    if (!*there) {
      auto closure = report_->Derivations({});
      if (!closure.ok()) return failed(closure.status());
      files = *std::move(closure);
    }
    // A .drv is valid only with the sources that it refers to.
    for (const DerivationFile& file : files) {
      for (const std::string& reference : file.references) {
        if (!reference.ends_with(".drv")) paths.insert(reference);
      }
    }
  }
  if (!Fetch(session, {paths.begin(), paths.end()})) return false;
  const absl::Status added = tools_.builder.AddDerivations(session, files);
  return added.ok() || failed(added);
}

bool Attempt::Fetch(StoreSession& session, const std::vector<std::string>& paths) {
  const absl::Time begin = tools_.clock.Now();
  const absl::Status fetched = tools_.transfer.Fetch(session, Access(), paths, cancellation_);
  end_.fetching = tools_.clock.Now() - begin;
  if (fetched.ok()) return true;
  // A full disk is the worker's trouble, not the cache's.
  const bool full = ClassifyAttempt(-1, StdView(fetched.message()), "").cause == Cause::kDiskFull;
  return Fail(full ? Cause::kDiskFull : Cause::kFetchFailed, std::string(fetched.message()));
}

bool Attempt::Build(StoreSession& session, const StepWork& work, const nix::Derivation& derivation) {
  const std::string& uuid = assignment_.gpu_uuid;
  const std::optional<GpuClaims::Claim> gpu =
      uuid.empty() ? std::nullopt : tools_.gpus.Wait(uuid, cancellation_);
  if (!uuid.empty() && !gpu) return Fail(Cause::kTransient, absl::StrCat("this worker has no GPU ", uuid));
  Enter(AttemptStage::kBuilding);
  const absl::Time begin = tools_.clock.Now();
  const BuildOutcome outcome = tools_.builder.Build(
      session,
      {.derivation_path = work.derivation_path,
       .derivation = derivation,
       .input_paths = work.input_paths,
       .limits = work.limits},
      [this](std::string_view bytes) { report_->Log(bytes); }, cancellation_);
  end_.building = tools_.clock.Now() - begin;
  end_.nix_status = outcome.nix_status;
  end_.cpu = outcome.cpu;
  end_.max_memory_bytes = outcome.max_memory_bytes;
  end_.log_bytes = outcome.log_bytes;
  return outcome.cause == Cause::kNone || Fail(outcome.cause, outcome.message);
}

bool Attempt::Push(StoreSession& session, const nix::Derivation& derivation) {
  const absl::Time begin = tools_.clock.Now();
  const auto pushed = tools_.transfer.Push(session, Access(), OutputPaths(derivation), cancellation_);
  end_.pushing += tools_.clock.Now() - begin;
  if (!pushed.ok()) return Fail(Cause::kUploadFailed, std::string(pushed.status().message()));
  tools_.observer.Uploaded(pushed->paths, pushed->bytes);
  return true;
}

void Attempt::Finish(StoreSession& session, const nix::Derivation& derivation) {
  for (int round = 1;; ++round) {
    const absl::Status heard = report_->Finish(end_);
    if (!absl::IsFailedPrecondition(heard) || end_.cause != Cause::kNone) return;
    if (round == kPushRounds) {
      Fail(Cause::kUploadFailed, absl::StrCat("hydrantd still misses an output: ", heard.message()));
    } else {
      Push(session, derivation);
    }
  }
}

void Attempt::RunCheck(const CheckWork& work) {
  Enter(AttemptStage::kFetching);
  const auto session = Open(work.limits);
  if (session.ok()) {
    std::vector<std::string> paths = {work.output_path};
    if (!work.environment_path.empty()) paths.push_back(work.environment_path);
    if (Fetch(**session, paths)) Check(work);
  }
  (void)report_->Finish(end_);
}

void Attempt::Check(const CheckWork& work) {
  const std::string& uuid = assignment_.gpu_uuid;
  const std::optional<GpuClaims::Claim> gpu = work.gpu ? tools_.gpus.Wait(uuid, cancellation_) : std::nullopt;
  if (work.gpu && !gpu) {
    Fail(Cause::kTransient, absl::StrCat("this worker has no GPU ", uuid));
    return;
  }
  if (gpu) end_.gpu = gpu->gpu();
  Enter(AttemptStage::kBuilding);
  const absl::Time begin = tools_.clock.Now();
  const CheckOutcome outcome = tools_.checks.Run(
      {.name = work.name,
       .output_path = work.output_path,
       .environment_path = work.environment_path,
       .command = work.command,
       .gpu = end_.gpu,
       .limits = work.limits},
      [this](std::string_view bytes) { report_->Log(bytes); }, cancellation_);
  end_.building = tools_.clock.Now() - begin;
  end_.cpu = outcome.cpu;
  end_.max_memory_bytes = outcome.max_memory_bytes;
  end_.log_bytes = outcome.log_bytes;
  if (outcome.cause != Cause::kNone) Fail(outcome.cause, outcome.message);
}

}  // namespace hydrant::worker
