// For tests: an evaluation through source, evaluator, closure, presence and coordinator; the first two
// scripted.
#ifndef HYDRANT_DAEMON_COORDINATOR_EVALUATION_RUN_FIXTURE_H_
#define HYDRANT_DAEMON_COORDINATOR_EVALUATION_RUN_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include "daemon/coordinator/evaluation_run.h"
#include "daemon/coordinator/farm_fixture.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "tests/fakes/fake_evaluator.h"
#include "tests/fakes/memory_source.h"

namespace hydrant {

class EvaluationRunTest : public FarmTest {
 protected:
  EvaluationRunTest() {
    EXPECT_TRUE(MakeDirectories(dir_ / "src").ok());
    EXPECT_TRUE(MakeDirectories(dir_ / "nix/store").ok());
    EXPECT_TRUE(WriteFileAtomically(dir_ / "src/default.nix", "{ }").ok());
    MakeRun(closure_);
  }
  void MakeRun(DerivationClosure& closure) {
    run_ = std::make_unique<EvaluationRun>(EvaluationRun::Options{.coordinator = farm(),
                                                                  .source = source_,
                                                                  .evaluator = evaluator_,
                                                                  .closure = closure,
                                                                  .presence = presence_,
                                                                  .catalogue = daemon_->catalogue,
                                                                  .import = import_});
  }
  // One package, and a slice for each of these, in this order.
  void DeclareSlices(const std::vector<std::string>& names) {
    std::vector<std::string> values;
    for (const std::string& name : names) {
      values.push_back(absl::StrCat(values.size() + 1));
      evaluator_.Script(absl::StrCat("p@x=", values.back(), "-x86_64-linux"),
                        {.derivation = DrvOf(name), .outputs = {{"out", OutputOf(name)}}});
    }
    DeclareHere({"p"}, absl::StrCat("[axes.more]\nx = [\"", absl::StrJoin(values, "\", \""), "\"]\n"));
  }
  bool IsRecorded(const std::string& name) { return farm().RecordedDerivations({DrvOf(name)})[0] != nullptr; }
  // Each package a .drv file and what the evaluator says of it.
  void Write(const std::string& lines, const std::vector<std::string>& names) {
    SetPackages(lines);
    for (const auto& loaded : packages_.Closure(names)) WriteDrv(loaded->path, loaded->aterm);
    for (const std::string& name : names) {
      evaluator_.Script(name, {.derivation = DrvOf(name), .outputs = {{"out", OutputOf(name)}}});
    }
  }
  void WriteDrv(const std::string& path, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(dir_.path() + path, text).ok());
  }
  void DeclareHere(const std::vector<std::string>& packages, const std::string& more = "") {
    const std::string toml =
        absl::StrCat("name = \"m\"\nsource.path = \"", dir_ / "src", "\"\n[axes]\npackage = [\"",
                     absl::StrJoin(packages, "\", \""), "\"]\n", more);
    auto applied = farm().Apply({.toml = toml, .directory = "/", .file = "m.toml"}, false);
    ASSERT_TRUE(applied.ok()) << applied.status();
  }
  void RunOne() {
    Trigger("m");
    auto task = farm().TakeRequested();
    ASSERT_TRUE(task.ok() && task->has_value());
    run_->Run(**task, stop_);
  }

  TestDir dir_;
  MemorySource source_;
  FakeEvaluator evaluator_;
  DerivationClosure closure_{dir_.path()};
  StoreImport import_{
      [this]() -> absl::StatusOr<std::unique_ptr<nix::DaemonClient>> { return import_status_; },
      daemon_->intake, daemon_->publisher};
  absl::Status import_status_ = absl::NotFoundError("no Nix here");
  std::atomic<bool> stop_ = false;
  std::unique_ptr<EvaluationRun> run_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_EVALUATION_RUN_FIXTURE_H_
