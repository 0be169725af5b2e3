// What a trigger costs once its revision was evaluated, from Trigger to the full grid, and the difference of two
// evaluations: coordinator, evaluation cache, closure and PostgreSQL are the real ones; the evaluator, the source and the
// caches upstream answer at once.
//
// usage: retrigger_bench [VARIANTS] [DERIVATIONS]      default: 2000 20000
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "daemon/cache/nar_intake.h"
#include "daemon/coordinator/comparison.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/evaluation_run.h"
#include "daemon/evaluate/cached_evaluator.h"
#include "daemon/record/postgres_cluster.h"
#include "daemon/record/postgres_store.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "lib/nix/hash.h"
#include "tests/fakes/fake_presence.h"
#include "tests/fakes/fake_signer.h"
#include "tests/fakes/manual_clock.h"
#include "tests/fakes/memory_blob_store.h"

namespace hydrant {
namespace {

constexpr int kPackages = 100;

void Require(const absl::Status& status) {
  if (status.ok()) return;
  fprintf(stderr, "retrigger_bench: %s\n", status.ToString().c_str());
  exit(1);
}
template <typename T>
T Take(absl::StatusOr<T> value) {
  Require(value.status());
  return *std::move(value);
}

// A generated graph: each derivation needs up to five of those before it; the last ones are the variants'.
class Graph {
 public:
  Graph(const std::string& store, size_t variants, size_t derivations)
      : store_(store), variants_(variants), salts_(derivations, 0) {
    std::mt19937 random(1);
    for (size_t i = 0; i < derivations; ++i) {
      std::vector<size_t>& inputs = inputs_.emplace_back();
      for (size_t n = std::min<size_t>(i, 5); n > 0; --n) inputs.push_back(random() % std::min(i, derivations - variants));
    }
    Write();
  }
  // Changes so many of the variants' own derivations.
  void Change(size_t count) {
    for (size_t i = 0; i < count; ++i) ++salts_[salts_.size() - 1 - i];
    Write();
  }
  Outcome OutcomeOf(size_t variant) const {
    const size_t at = salts_.size() - variants_ + variant % variants_;
    return {.variant = variant, .derivation = paths_[at], .outputs = {{"out", OutputOf(at)}}};
  }
  std::vector<std::string> Outputs() const {
    std::vector<std::string> outputs;
    for (size_t i = 0; i < salts_.size(); ++i) outputs.push_back(OutputOf(i));
    return outputs;
  }

 private:
  static std::string PathOf(const std::string& text, const std::string& name) {
    return absl::StrCat("/nix/store/", nix::ToBase32(nix::HashSha256(text).view().substr(0, 20)), "-", name);
  }
  std::string OutputOf(size_t i) const { return PathOf(absl::StrCat("out ", i, " ", salts_[i]), absl::StrCat("package-", i)); }
  void Write() {
    paths_.resize(salts_.size());
    for (size_t i = 0; i < salts_.size(); ++i) {
      const std::string name = absl::StrCat("package-", i);
      nix::Derivation derivation{.system = "x86_64-linux", .builder = "/bin/sh"};
      derivation.outputs["out"] = {.path = OutputOf(i)};
      for (size_t input : inputs_[i]) derivation.input_derivations[paths_[input]] = {"out"};
      derivation.environment = {{"name", name}, {"out", OutputOf(i)}, {"script", std::string(2000, 'x')}};
      paths_[i] = PathOf(absl::StrCat("drv ", i, " ", salts_[i]), name + ".drv");
      if (!FileExists(store_ + paths_[i])) Require(WriteFile(store_ + paths_[i], nix::PrintDerivation(derivation)));
    }
  }
  static absl::Status WriteFile(const std::string& path, const std::string& bytes) {
    FILE* file = fopen(path.c_str(), "w");
    if (file == nullptr) return ErrnoStatus(errno, "write " + path);
    fwrite(bytes.data(), 1, bytes.size(), file);
    return fclose(file) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "write " + path);
  }

  const std::string store_;
  const size_t variants_;
  std::vector<int> salts_;
  std::vector<std::vector<size_t>> inputs_;
  std::vector<std::string> paths_;
};

class GraphEvaluator final : public Evaluator {
 public:
  explicit GraphEvaluator(const Graph& graph) : graph_(graph) {}
  absl::Status Evaluate(const EvaluationInput& input, const std::function<void(std::vector<Outcome>)>& take,
                        const std::atomic<bool>&) override {
    std::map<size_t, std::vector<Outcome>> slices;
    for (size_t variant : input.variants) {
      slices[input.expansion.variants[variant].slice].push_back(graph_.OutcomeOf(variant));
    }
    evaluated += input.variants.size();
    for (auto& [slice, outcomes] : slices) take(std::move(outcomes));
    return absl::OkStatus();
  }
  absl::StatusOr<DerivedList> DerivePackages(const EvaluationInput&, const std::atomic<bool>&) override {
    return absl::UnimplementedError("its packages are declared");
  }
  void Release(const std::string&) override {}
  size_t evaluated = 0;

 private:
  const Graph& graph_;
};

class NamedSource final : public TreeSource {
 public:
  absl::StatusOr<Tree> Snapshot(const SourceSpec&, const SourcePoint&, const std::string&, const std::atomic<bool>&) override {
    return Tree{.path = "/", .revision = revision};
  }
  void Release(const std::string&) override {}
  std::string revision = "r1";
};

// Its parts are a daemon's; made anew it is the next daemon on the same record.
struct Farm {
  Farm(const std::string& url, const std::string& dir, Evaluator& evaluator, TreeSource& source)
      : store(Take(PostgresStore::Open({.url = url, .observer = [this](std::string_view statement, double seconds) {
                                          sql[std::string(statement)] += seconds;
                                        }}))),
        publisher({commits, catalogue, intake, signer, clock, [](const std::string&) { return false; }}),
        coordinator({.store = commits, .catalogue = catalogue, .publisher = publisher, .clock = clock,
                     .farm = {.system = "x86_64-linux"}, .commits = &commits}),
        cache(Take(EvaluationCache::Open({.folder = dir + "/evaluations"}))),
        cached({.evaluator = evaluator, .cache = *cache, .store_root = dir,
                .identity = []() -> absl::StatusOr<std::string> { return "generated"; }}),
        closure(dir),
        import([]() -> absl::StatusOr<std::unique_ptr<nix::DaemonClient>> { return absl::NotFoundError("no Nix"); },
               intake, publisher),
        run({.coordinator = coordinator, .source = source, .evaluator = cached, .closure = closure,
             .presence = presence, .catalogue = catalogue, .import = import}) {}

  std::map<std::string, double> sql;  // seconds by statement
  std::unique_ptr<PostgresStore> store;
  UnknownCommitWatch commits{*store};
  ManualClock clock;
  Catalogue catalogue;
  MemoryBlobStore blobs;
  NarIntake intake{blobs};
  FakeSigner signer;
  FakePresence presence;
  Publisher publisher;
  Coordinator coordinator;
  std::unique_ptr<EvaluationCache> cache;
  CachedEvaluator cached;
  DerivationClosure closure;
  StoreImport import;
  EvaluationRun run;
  Comparison comparison{{.coordinator = coordinator, .store = &closure}};
};

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Bench {
 public:
  Bench(size_t variants, size_t derivations)
      : variants_(variants), graph_(Made(dir_), variants, derivations), evaluator_(graph_),
        postgres_(Take(EmbeddedPostgres::Start({.folder = dir_ / "postgres"}))) {}

  ~Bench() {
    farm_.reset();
    Require(postgres_->Stop());
  }

  void Run() {
    printf("| what | wall ms | own CPU ms | in SQL ms | evaluated |\n|---|---|---|---|---|\n");
    Start("start, nothing recorded");
    std::string toml = "name = \"m\"\nsource.path = \"/src\"\n[axes]\npackage = [";
    for (int i = 0; i < kPackages; ++i) absl::StrAppend(&toml, i > 0 ? ", " : "", "\"p", i, "\"");
    absl::StrAppend(&toml, "]\n[axes.more]\nx = [");
    for (size_t i = 0; i < variants_ / kPackages; ++i) absl::StrAppend(&toml, i > 0 ? ", " : "", "\"s", i, "\"");
    absl::StrAppend(&toml, "]\n");
    Require(farm_->coordinator.Apply({.toml = toml, .directory = "/", .file = "m.toml"}, false).status());
    Trigger("first trigger");
    for (int i = 0; i < 3; ++i) Trigger("again, nothing built yet");
    graph_.Change(variants_ / 10);  // 1 % of all derivations, when a tenth of them are variants'
    source_.revision = "r2";
    Trigger("a nearby revision: 1 % of the derivations changed");
    Compare("the difference of these two, first");
    Compare("the difference of these two, again");
    Start("start with all that recorded");
    Trigger("again, first after the start");
    std::vector<NarInfoRecord> held;
    for (const std::string& output : graph_.Outputs()) held.push_back({.path = output, .state = NarInfoState::kPublished});
    farm_->catalogue.Put(held);
    Trigger("first with everything in the cache");
    for (int i = 0; i < 3; ++i) Trigger("again, everything in the cache");
  }

 private:
  static std::string Made(const TestDir& dir) {
    Require(MakeDirectories(dir / "nix/store"));
    return dir.path();
  }
  void Measure(const std::string& what, const std::function<void()>& act) {
    const size_t evaluated = evaluator_.evaluated;
    if (farm_) farm_->sql.clear();
    const absl::Time begun = absl::Now();
    const double cpu = CpuSeconds();
    act();
    const double wall = absl::ToDoubleMilliseconds(absl::Now() - begun), used = 1e3 * (CpuSeconds() - cpu);
    double sql = 0;
    std::string parts;
    for (const auto& [statement, seconds] : farm_->sql) {
      sql += 1e3 * seconds;
      if (seconds > 0.005) absl::StrAppend(&parts, parts.empty() ? ": " : ", ", statement, " ", static_cast<int>(1e3 * seconds));
    }
    printf("| %s | %.0f | %.0f | %.0f%s | %zu |\n", what.c_str(), wall, used, sql, parts.c_str(),
           evaluator_.evaluated - evaluated);
    fflush(stdout);
  }
  void Start(const std::string& what) {
    farm_.reset();
    Measure(what, [&] {
      farm_ = std::make_unique<Farm>(postgres_->Url(), dir_.path(), evaluator_, source_);
      Require(farm_->coordinator.Start());
      farm_->run.Recall();
    });
  }
  void Trigger(const std::string& what) {
    Measure(what, [&] {
      Require(farm_->coordinator.Trigger({.matrix = "m"}).status());
      const auto task = Take(farm_->coordinator.TakeRequested());
      farm_->run.Run(*task, stop_);
      const auto grid = Take(farm_->coordinator.Grid("m", {}));
      if (grid.variants.size() != variants_) Require(absl::InternalError("the grid is not full"));
      for (const GridVariant& variant : grid.variants) {
        if (variant.record.derivation.empty()) Require(absl::InternalError(variant.record.id + ": " + variant.record.message));
      }
    });
  }

  // Of the newest evaluation and the one before.
  void Compare(const std::string& what) {
    Measure(what, [&] {
      const std::vector<EvaluationRecord> newest = Take(farm_->coordinator.Evaluations("m"));
      const ComparisonView view = Take(farm_->comparison.Compare(newest[1].id, newest[0].id));
      if (view.changes.size() != variants_ / 10) Require(absl::InternalError("not what changed"));
    });
  }

  TestDir dir_;
  const size_t variants_;
  Graph graph_;
  GraphEvaluator evaluator_;
  NamedSource source_;
  const std::unique_ptr<EmbeddedPostgres> postgres_;
  std::unique_ptr<Farm> farm_;
  std::atomic<bool> stop_ = false;
};

}  // namespace
}  // namespace hydrant

int main(int argc, char** argv) {
  const size_t variants = argc > 1 ? static_cast<size_t>(atoi(argv[1])) : 2000;
  const size_t derivations = argc > 2 ? static_cast<size_t>(atoi(argv[2])) : 20000;
  if (variants < 100 || variants % 100 != 0 || derivations < 2 * variants) {
    fprintf(stderr, "usage: retrigger_bench [VARIANTS] [DERIVATIONS]: hundreds of variants, more than twice as many derivations\n");
    return 2;
  }
  hydrant::Bench(variants, derivations).Run();
  return 0;
}
