// Builder's twin in memory for tests: does what the test says, and remembers what it was asked.
#ifndef HYDRANT_WORKER_BUILD_FAKE_BUILDER_H_
#define HYDRANT_WORKER_BUILD_FAKE_BUILDER_H_

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "lib/base/mutex.h"
#include "worker/build/builder.h"

namespace hydrant::worker {

class FakeBuilder final : public Builder {
 public:
  struct Script {
    std::string log;
    BuildOutcome outcome;
    bool until_cancelled = false;
  };

  // What becomes of a derivation; by default it succeeds.
  void Plan(const std::string& derivation_path, Script script) {
    MutexLock lock(mu_);
    scripts_[derivation_path] = std::move(script);
  }
  std::vector<std::string> built() const {
    MutexLock lock(mu_);
    return built_;
  }
  std::vector<std::string> added() const {
    MutexLock lock(mu_);
    return added_;
  }

  absl::StatusOr<bool> IsBuilt(StoreSession&, const nix::Derivation& derivation) override {
    MutexLock lock(mu_);
    for (const auto& [name, output] : derivation.outputs) {
      if (!valid_.contains(output.path)) return false;
    }
    return true;
  }

  absl::StatusOr<bool> HasDerivation(StoreSession&, const std::string& derivation_path) override {
    MutexLock lock(mu_);
    return std::find(added_.begin(), added_.end(), derivation_path) != added_.end();
  }

  absl::Status AddDerivations(StoreSession&, const std::vector<DerivationFile>& files) override {
    MutexLock lock(mu_);
    for (const DerivationFile& file : files) added_.push_back(file.path);
    return absl::OkStatus();
  }

  BuildOutcome Build(StoreSession&, const BuildRequest& request, const LogCallback& log,
                     Cancellation& cancellation) override {
    Script script;
    {
      MutexLock lock(mu_);
      built_.push_back(request.derivation_path);
      script = scripts_[request.derivation_path];
    }
    if (!script.log.empty()) log(script.log);
    if (script.until_cancelled) {
      while (cancellation.WaitFor(absl::Hours(1))) {
      }
      return {.cause = Cause::kCancelled, .message = "the build was cancelled"};
    }
    script.outcome.log_bytes = static_cast<int64_t>(script.log.size());
    if (script.outcome.cause == Cause::kNone) {
      MutexLock lock(mu_);
      for (const auto& [name, output] : request.derivation.outputs) valid_[output.path] = true;
    }
    return script.outcome;
  }

 private:
  mutable Mutex mu_;
  std::map<std::string, Script> scripts_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, bool> valid_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> built_ ABSL_GUARDED_BY(mu_), added_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_BUILD_FAKE_BUILDER_H_
