// For tests: a whole farm in one thread. Its record, cache and clock are in memory, its packages a few lines of text, its
// workers values that a test tells what to do.
#ifndef HYDRANT_DAEMON_COORDINATOR_FARM_FIXTURE_H_
#define HYDRANT_DAEMON_COORDINATOR_FARM_FIXTURE_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "daemon/cache/nar_intake.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/presence/pruned_walk.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/base/status_macros.h"
#include "lib/nix/hash.h"
#include "tests/fakes/fake_presence.h"
#include "tests/fakes/fake_signer.h"
#include "tests/fakes/manual_clock.h"
#include "tests/fakes/memory_blob_store.h"
#include "tests/fakes/memory_store.h"

namespace hydrant {

inline std::string StorePathOf(const std::string& name) {
  return absl::StrCat("/nix/store/", nix::ToBase32(nix::HashSha256(name).view().substr(0, 20)), "-", name);
}
inline std::string DrvOf(const std::string& name) { return StorePathOf(name + ".drv"); }
inline std::string OutputOf(const std::string& name) { return StorePathOf(name); }

// Packages by name, each a derivation. A line a package: "top [cuda kvm] aarch64-linux: left right", of which only the name
// must be there.
class Packages {
 public:
  explicit Packages(const std::string& lines) {
    for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipWhitespace())) Add(std::string(line));
  }

  bool Has(const std::string& name) const { return derivations_.contains(name); }
  const nix::Derivation& Of(const std::string& name) const { return derivations_.at(name)->parsed; }
  // What these need, inputs first.
  std::vector<std::shared_ptr<const LoadedDerivation>> Closure(const std::vector<std::string>& names) const {
    std::vector<std::shared_ptr<const LoadedDerivation>> closure;
    std::set<std::string> seen;
    for (const std::string& name : names) Visit(name, seen, closure);
    return closure;
  }

 private:
  void Add(const std::string& line) {
    const std::vector<std::string> sides = absl::StrSplit(line, ':');
    nix::Derivation derivation{.system = "x86_64-linux", .builder = "/bin/sh"};
    std::string name, features;
    bool in_features = false;
    for (absl::string_view piece : absl::StrSplit(sides[0], ' ', absl::SkipWhitespace())) {
      std::string word(piece);
      if (name.empty()) {
        name = word;
      } else if (in_features || word[0] == '[') {
        in_features = word.back() != ']';
        for (char bracket : {'[', ']'}) std::erase(word, bracket);
        absl::StrAppend(&features, features.empty() ? "" : " ", word);
      } else {
        derivation.system = word;
      }
    }
    if (!features.empty()) derivation.environment["requiredSystemFeatures"] = features;
    derivation.environment["name"] = name;
    derivation.outputs["out"] = {.path = OutputOf(name)};
    if (sides.size() > 1) {
      for (absl::string_view input : absl::StrSplit(sides[1], ' ', absl::SkipWhitespace())) {
        derivation.input_derivations[DrvOf(std::string(input))] = {"out"};
        inputs_[name].push_back(std::string(input));
      }
    }
    derivations_[name] = std::make_shared<const LoadedDerivation>(
        LoadedDerivation{DrvOf(name), nix::PrintDerivation(derivation), derivation});
  }
  void Visit(const std::string& name, std::set<std::string>& seen,
             std::vector<std::shared_ptr<const LoadedDerivation>>& closure) const {
    if (!seen.insert(name).second) return;
    if (auto inputs = inputs_.find(name); inputs != inputs_.end()) {
      for (const std::string& input : inputs->second) Visit(input, seen, closure);
    }
    closure.push_back(derivations_.at(name));
  }

  std::map<std::string, std::shared_ptr<const LoadedDerivation>> derivations_;
  std::map<std::string, std::vector<std::string>> inputs_;
};

// The n-th commit from now on goes wrong.
class FaultyStore final : public StateStore {
 public:
  explicit FaultyStore(MemoryStore& store) : store_(store) {}
  void FailNth(int n, CommitFault fault) {
    countdown_ = n;
    fault_ = fault;
  }
  void SetAway(bool away) { away_ = away; }
  bool fired() const { return fired_; }

  absl::StatusOr<Recorded> Load() override {
    if (away_) return absl::UnavailableError("the database is away");
    return store_.Load();
  }
  absl::Status Commit(const Batch& batch) override {
    if (away_) return absl::UnavailableError("the database is away");
    if (countdown_ > 0 && --countdown_ == 0) {
      store_.database().FailNextCommits(1, fault_);
      fired_ = true;
    }
    return store_.Commit(batch);
  }
  absl::StatusOr<std::vector<AttemptRecord>> Attempts(const AttemptSubject& subject, int limit) override {
    return store_.Attempts(subject, limit);
  }
  absl::StatusOr<AttemptRecord> FindAttempt(AttemptId id) override { return store_.FindAttempt(id); }
  absl::StatusOr<std::vector<EvaluationRecord>> Evaluations(std::string_view matrix, int limit) override {
    return store_.Evaluations(matrix, limit);
  }
  absl::StatusOr<std::vector<VariantRecord>> Variants(EvaluationId evaluation) override { return store_.Variants(evaluation); }
  absl::StatusOr<std::vector<AttemptCount>> CountAttempts() override { return store_.CountAttempts(); }

 private:
  MemoryStore& store_;
  int countdown_ = 0;
  CommitFault fault_ = CommitFault::kUnavailable;
  bool fired_ = false, away_ = false;
};

class CountingObserver final : public FarmObserver {
 public:
  void LeaseExpired() override { ++expired; }
  void AttemptEnded(const AttemptResult& result) override { ++ended[result.outcome]; }
  void Evaluated(absl::Duration) override { ++evaluated; }
  int expired = 0, evaluated = 0;
  std::map<std::string, int> ended;
};

// What one hydrantd is made of.
struct Daemon {
  Daemon(std::shared_ptr<MemoryDatabase> database, ManualClock& clock, FakePresence& presence, FarmObserver& observer)
      : memory(std::move(database)),
        publisher({commits, catalogue, intake, signer, clock,
                   [&presence](const std::string& path) { return presence.Ask({path})[path].held == Held::kPresent; }}),
        coordinator({.store = commits, .catalogue = catalogue, .publisher = publisher, .clock = clock,
                     .farm = {.system = "x86_64-linux"}, .observer = &observer, .commits = &commits}) {}
  MemoryStore memory;
  FaultyStore store{memory};
  UnknownCommitWatch commits{store};
  Catalogue catalogue;
  MemoryBlobStore blobs;
  NarIntake intake{blobs};
  FakeSigner signer;
  Publisher publisher;
  Coordinator coordinator;
};

class FarmTest : public testing::Test {
 protected:
  FarmTest() { Restart(); }

  // A hydrantd dies, and the next one opens what is recorded.
  void Restart() {
    daemon_.reset();
    daemon_ = std::make_unique<Daemon>(database_, clock_, presence_, observer_);
    EXPECT_TRUE(daemon_->coordinator.Start().ok());
  }
  Coordinator& farm() { return daemon_->coordinator; }

  void SetPackages(const std::string& lines) { packages_ = Packages(lines); }
  // Declares the matrix `name` of these packages; `more` is TOML behind it.
  void Declare(const std::string& name, const std::vector<std::string>& packages, const std::string& more = "") {
    const std::string toml = absl::StrCat("name = \"", name, "\"\nsource.path = \"/src\"\n[axes]\npackage = [\"",
                                          absl::StrJoin(packages, "\", \""), "\"]\n", more);
    auto applied = farm().Apply({.toml = toml, .directory = "/", .file = name + ".toml"}, false);
    ASSERT_TRUE(applied.ok()) << applied.status();
  }
  EvaluationId Trigger(const std::string& matrix, const std::string& only = "") {
    auto record = farm().Trigger({.matrix = matrix, .only = only});
    EXPECT_TRUE(record.ok()) << record.status();
    return record.ok() ? record->front().id : EvaluationId{};
  }
  // Outcomes for some variants of a task: a package with a line is its derivation, another is missing.
  OutcomeBatch Outcomes(const EvaluationTask& task, const std::vector<size_t>& variants) {
    OutcomeBatch batch;
    std::vector<std::string> names, roots;
    for (size_t index : variants) {
      const Variant& variant = (*farm().ExpansionOf(task.id))->variants[index];
      const std::string& name = variant.package;
      batch.outcomes.push_back(OutcomeOf(index, name));
      if (!packages_.Has(name)) continue;
      names.push_back(name);
      const std::string environment = name + "-env";
      if (packages_.Has(environment)) names.push_back(environment);
    }
    for (const std::string& name : names) roots.push_back(DrvOf(name));
    batch.derivations = packages_.Closure(names);
    std::map<std::string, const nix::Derivation*> by_path;
    for (const auto& loaded : batch.derivations) by_path[loaded->path] = &loaded->parsed;
    WalkResult walk = PrunedWalk(
        roots,
        [&](const std::string& path) {
          WalkNode node;
          for (const auto& [name, output] : by_path.at(path)->outputs) node.outputs.push_back(output.path);
          for (const auto& [input, outputs] : by_path.at(path)->input_derivations) node.inputs.push_back(input);
          return node;
        },
        [&](const std::string& path) { return daemon_->catalogue.FindPath(path) != nullptr; }, presence_);
    batch.steps = std::move(walk.needed);
    batch.held = std::move(walk.held);
    return batch;
  }
  // Takes what is requested and brings it to its end.
  void Evaluate(const absl::Status& status = absl::OkStatus()) {
    auto task = farm().TakeRequested();
    ASSERT_TRUE(task.ok() && task->has_value());
    ASSERT_TRUE(farm().SetRevision((*task)->id, revision_).ok());
    absl::Status added = farm().AddOutcomes((*task)->id, Outcomes(**task, (*task)->variants));
    ASSERT_TRUE(added.ok()) << added;
    ASSERT_TRUE(farm().FinishEvaluation((*task)->id, status).ok());
  }
  EvaluationId TriggerAndEvaluate(const std::string& matrix, const std::string& only = "") {
    const EvaluationId id = Trigger(matrix, only);
    Evaluate();
    return id;
  }

  // "base:cached top:ready": the newest evaluation's variants, by package.
  std::string States(const std::string& matrix = "m", EvaluationId id = {}) {
    auto grid = farm().Grid(matrix, id);
    if (!grid.ok()) return grid.status().ToString();
    return absl::StrJoin(grid->variants, " ", [](std::string* out, const GridVariant& variant) {
      absl::StrAppend(out, variant.record.package, ":", std::string(VariantStateName(variant.view.state)));
    });
  }
  VariantView View(const std::string& package, const std::string& matrix = "m") {
    auto grid = farm().Grid(matrix, {});
    if (grid.ok()) {
      for (const GridVariant& variant : grid->variants) {
        if (variant.record.package == package) return variant.view;
      }
    }
    ADD_FAILURE() << "no variant of " << package;
    return {};
  }
  EvaluationRecord Newest(const std::string& matrix = "m") {
    auto records = farm().Evaluations(matrix);
    EXPECT_TRUE(records.ok() && !records->empty());
    return records->front();
  }
  std::string StateOfEvaluation(const std::string& matrix = "m") {
    return std::string(EvaluationStateName(Newest(matrix).state));
  }
  // Where the channel is; 0: nowhere.
  int64_t ChannelAt(const std::string& name = "m") {
    for (const ChannelRecord& channel : farm().Channels()) {
      if (channel.name == name) return channel.evaluation.value;
    }
    return 0;
  }
  std::string StateOfPath(const std::string& name) {
    auto info = daemon_->catalogue.FindPath(OutputOf(name));
    if (info == nullptr) return "absent";
    return info->state == NarInfoState::kPublished ? "published" : "staged";
  }
  // What a worker's upload comes to; again is no harm.
  absl::Status Upload(const std::string& name) {
    if (daemon_->catalogue.FindPath(OutputOf(name)) != nullptr) return absl::OkStatus();
    NarInfoRecord info{.path = OutputOf(name), .compression = "zstd",
                       .file_hash = nix::HashSha256("file " + name).ToBase32(), .file_size = 10,
                       .nar_hash = nix::HashSha256("nar " + name).ToBase32(), .nar_size = 20};
    if (packages_.Has(name)) {
      for (const auto& loaded : packages_.Closure({name})) {
        const std::string& path = loaded->parsed.outputs.at("out").path;
        if (packages_.Of(name).input_derivations.contains(loaded->path)) info.references.push_back(path);
      }
    }
    HYDRANT_RETURN_IF_ERROR(daemon_->commits.Commit({StageNarInfo{info}}));
    daemon_->catalogue.Put({info});
    return absl::OkStatus();
  }
  // Lets time pass as the main loop sees it, workers silent.
  void Pass(absl::Duration time) {
    for (absl::Duration left = time; left > absl::ZeroDuration(); left -= absl::Seconds(1)) {
      clock_.Advance(std::min(left, absl::Seconds(1)));
      farm().Tick();
    }
  }

  ManualClock clock_;
  FakePresence presence_;
  CountingObserver observer_;
  std::shared_ptr<MemoryDatabase> database_ = std::make_shared<MemoryDatabase>();
  std::unique_ptr<Daemon> daemon_;
  Packages packages_{""};
  std::string revision_ = "r1";
  std::set<std::string> dying_;  // packages on which the evaluator dies
  std::map<std::string, VariantFacts> facts_;  // what is known of packages

 private:
  Outcome OutcomeOf(size_t index, const std::string& name) {
    if (dying_.contains(name)) return {.variant = index, .cause = Cause::kEvaluatorOutOfMemory, .message = "out of memory"};
    if (!packages_.Has(name)) return {.variant = index, .cause = Cause::kMissingAttribute, .message = "missing"};
    Outcome outcome{.variant = index, .derivation = DrvOf(name), .outputs = {{"out", OutputOf(name)}}};
    if (auto facts = facts_.find(name); facts != facts_.end()) outcome.facts = facts->second;
    const std::string environment = name + "-env";
    if (packages_.Has(environment)) {
      outcome.environment = DrvOf(environment);
      outcome.environment_output = OutputOf(environment);
    }
    return outcome;
  }
};

// A worker: holds what it was given until the test ends it.
class TestWorker {
 public:
  TestWorker(std::string name, Coordinator& farm, int slots = 1) : farm_(&farm) {
    request_.name = std::move(name);
    request_.instance = request_.name + "-1";
    request_.offer = {.systems = {"x86_64-linux"}, .cores = 4, .slots = slots};
  }
  WorkerOffer& offer() { return request_.offer; }
  SyncRequest& request() { return request_; }
  void AddGpu(const std::string& architecture) {
    offer().gpus.push_back({.uuid = absl::StrCat(request_.name, "-gpu", offer().gpus.size()), .architecture = architecture,
                            .driver = "535", .simulated = true});
  }
  void Use(Coordinator& farm) { farm_ = &farm; }

  // One call; what is new is held from then on, what was revoked is dropped. The reply's assignments and revocations.
  absl::StatusOr<SyncReply> TrySync() {
    request_.held.clear();
    for (const auto& [what, assignment] : held_) {
      request_.held.push_back({assignment.lease.attempt, assignment.lease.token});
    }
    HYDRANT_ASSIGN_OR_RETURN(SyncReply reply, farm_->Synchronize(request_));
    for (const Assignment& assignment : reply.assignments) held_[NameOf(assignment)] = assignment;
    for (AttemptId revoked : reply.revoked) {
      std::erase_if(held_, [&](const auto& held) { return held.second.lease.attempt == revoked; });
    }
    return reply;
  }
  SyncReply Sync() {
    auto reply = TrySync();
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? *reply : SyncReply();
  }
  // "check:torch-cuda:top left right": what it holds.
  std::string Held() const {
    return absl::StrJoin(held_, " ", [](std::string* out, const auto& held) { absl::StrAppend(out, held.first); });
  }
  const Assignment& Of(const std::string& what) const { return held_.at(what); }
  absl::Status End(const std::string& what, Cause cause, const std::string& message = "") {
    const Assignment assignment = held_.at(what);
    ReportedEnd end{.result = {.cause = cause, .message = message, .building = absl::Seconds(1)}};
    for (const OfferedGpu& gpu : request_.offer.gpus) {
      if (gpu.uuid == assignment.lease.gpu_uuid) end.gpu = gpu;
    }
    absl::Status ended = farm_->ReportEnd(assignment.lease.attempt, assignment.lease.token, end);
    const bool over = ended.ok() || ended.code() == absl::StatusCode::kNotFound || ended.code() == absl::StatusCode::kAborted;
    if (over) held_.erase(what);
    return ended;
  }
  void Forget() { held_.clear(); }
  std::map<std::string, Assignment> held() const { return held_; }

  // "top", of an output or .drv path.
  static std::string NameOf(const std::string& path) {
    std::string name = path.substr(44);
    if (name.ends_with(".drv")) name.resize(name.size() - 4);
    return name;
  }
  static std::string NameOf(const Assignment& assignment) {
    if (assignment.check) return absl::StrCat("check:", assignment.check->name, ":", NameOf(assignment.check->output_path));
    return NameOf(assignment.lease.subject.derivation);
  }

 private:
  Coordinator* farm_;
  SyncRequest request_;
  std::map<std::string, Assignment> held_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_FARM_FIXTURE_H_
