// What changed between two evaluations, from what the farm has recorded.
#include "daemon/coordinator/comparison.h"

#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// Real derivations: their paths follow from what they are made of.
class ComparisonTest : public FarmTest {
 protected:
  using Loaded = std::shared_ptr<const LoadedDerivation>;

  Loaded Make(const std::string& name, const std::vector<Loaded>& inputs = {}, const std::string& flags = "") {
    nix::Derivation derivation{.system = "x86_64-linux", .builder = "/bin/sh", .environment = {{"name", name}, {"flags", flags}}};
    std::string made = name + flags;
    for (const Loaded& input : inputs) {
      derivation.input_derivations[input->path] = {"out"};
      made += input->path;
    }
    derivation.outputs["out"] = {.path = Path(made, name)};
    auto loaded = std::make_shared<const LoadedDerivation>(
        LoadedDerivation{Path("drv" + made, name + ".drv"), nix::PrintDerivation(derivation), derivation});
    made_.push_back(loaded);
    return loaded;
  }
  // Evaluates the matrix with these as its packages' outcomes; what has none is missing.
  EvaluationId EvaluateAs(const std::map<std::string, Loaded>& packages, const std::string& matrix = "m") {
    const EvaluationId id = Trigger(matrix);
    const EvaluationTask task = **farm().TakeRequested();
    EXPECT_TRUE(farm().SetRevision(id, absl::StrCat("r", id.value)).ok());
    OutcomeBatch batch;
    batch.derivations = made_;
    for (const Loaded& loaded : made_) batch.steps.insert(loaded->path);
    for (const std::string& path : held_) batch.held[path] = "https://cache";
    for (size_t index : task.variants) {
      const auto found = packages.find(task.declared->expansion.variants[index].package);
      if (found == packages.end()) {
        batch.outcomes.push_back({.variant = index, .cause = Cause::kMissingAttribute, .message = "missing"});
      } else {
        batch.outcomes.push_back({.variant = index, .derivation = found->second->path,
                                  .outputs = {{"out", found->second->parsed.outputs.at("out").path}}});
      }
    }
    EXPECT_TRUE(farm().AddOutcomes(id, batch).ok());
    EXPECT_TRUE(farm().FinishEvaluation(id, absl::OkStatus()).ok());
    made_.clear();
    return id;
  }
  ComparisonView Compare(EvaluationId before, EvaluationId after) {
    auto view = Comparison({.coordinator = farm()}).Compare(before, after);
    EXPECT_TRUE(view.ok()) << view.status();
    return view.ok() ? *std::move(view) : ComparisonView();
  }
  // torch above magma above cudnn, jax above cudnn, hello alone.
  EvaluationId EvaluateWithCudnn(const std::string& version) {
    const Loaded cudnn = Make("cudnn-" + version), magma = Make("magma-2.7", {cudnn});
    return EvaluateAs({{"torch", Make("torch-2.1", {cudnn, magma})}, {"jax", Make("jax-0.4", {magma})}, {"hello", Make("hello-2.12")}});
  }

  std::vector<std::string> held_;  // .drv paths whose outputs a cache has

 private:
  static std::string Path(const std::string& made, const std::string& name) {
    return absl::StrCat("/nix/store/", nix::ToBase32(nix::HashSha256(made).view().substr(0, 20)), "-", name);
  }
  std::vector<Loaded> made_;
};

std::vector<std::pair<std::string, int64_t>> CausesOf(const ComparisonView& view) {
  std::vector<std::pair<std::string, int64_t>> causes;
  for (const ChangeCauseView& cause : view.causes) causes.emplace_back(cause.text, cause.variants);
  return causes;
}

TEST_F(ComparisonTest, ManyVariantsOfOneCauseAreToldOnceAndEachHasItsWay) {
  Declare("m", {"torch", "jax", "hello"});
  const EvaluationId before = EvaluateWithCudnn("8.9.7"), after = EvaluateWithCudnn("9.1.0");
  const ComparisonView view = Compare(before, after);
  EXPECT_THAT(CausesOf(view), ElementsAre(Pair("cudnn 8.9.7 → 9.1.0", 2)));
  EXPECT_EQ(view.causes[0].kind, "version");
  EXPECT_THAT(view.totals, ElementsAre(Pair("changed", 2), Pair("gone", 0), Pair("new", 0), Pair("unchanged", 1)));
  ASSERT_EQ(view.changes.size(), 2u);
  EXPECT_EQ(view.changes[0].after->record.package, "torch");
  EXPECT_THAT(view.changes[0].chain, ElementsAre("torch-2.1", "cudnn-9.1.0"));
  EXPECT_THAT(view.changes[1].chain, ElementsAre("jax-0.4", "magma-2.7", "cudnn-9.1.0"));
  EXPECT_THAT(Compare(after, before).causes[0].text, "cudnn 9.1.0 → 8.9.7");
}

TEST_F(ComparisonTest, AfterARestartTheRecordIsEnough) {
  Declare("m", {"torch", "jax", "hello"});
  const EvaluationId before = EvaluateWithCudnn("8.9.7"), after = EvaluateWithCudnn("9.1.0");
  Restart();
  EXPECT_THAT(CausesOf(Compare(before, after)), ElementsAre(Pair("cudnn 8.9.7 → 9.1.0", 2)));
}

TEST_F(ComparisonTest, AnEvaluationAgainstItselfChangedNothing) {
  Declare("m", {"torch", "jax", "hello"});
  const EvaluationId id = EvaluateWithCudnn("8.9.7");
  const ComparisonView view = Compare(id, id);
  EXPECT_THAT(view.changes, IsEmpty());
  EXPECT_EQ(view.totals.at("unchanged"), 3);
}

TEST_F(ComparisonTest, VariantsThatCameWentOrEvaluateNoMoreAreTold) {
  Declare("m", {"a", "b"});
  const EvaluationId before = EvaluateAs({{"a", Make("a-1")}, {"b", Make("b-1")}});
  Declare("n", {"b", "c"});
  const EvaluationId after = EvaluateAs({{"c", Make("c-1")}}, "n");
  const ComparisonView view = Compare(before, after);
  EXPECT_THAT(view.totals, ElementsAre(Pair("changed", 1), Pair("gone", 1), Pair("new", 1), Pair("unchanged", 0)));
  EXPECT_THAT(CausesOf(view), ElementsAre(Pair("it evaluates no more: missing_attribute: missing", 1)));
  EXPECT_EQ(view.causes[0].kind, "evaluation");
  EXPECT_EQ(view.changes.back().change, "gone");
  EXPECT_FALSE(Compare(before, before).causes.size());
}

TEST_F(ComparisonTest, AnEvaluationThatIsNotThereIsNamed) {
  Declare("m", {"a"});
  const EvaluationId id = EvaluateAs({{"a", Make("a-1")}});
  const auto view = Comparison({.coordinator = farm()}).Compare({99}, id);
  EXPECT_EQ(view.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(view.status().message()), HasSubstr("99"));
}

TEST_F(ComparisonTest, TheNearestCachedVariantIsTheOneWithTheFewestOtherInputs) {
  Declare("m", {"near", "far", "other", "wanted"});
  const Loaded cudnn = Make("cudnn-8.9.7"), nccl = Make("nccl-2.18"), extra = Make("extra-1");
  const Loaded near = Make("torch-2.1", {cudnn, nccl}, "-DA=1"), far = Make("torch-2.1", {extra}, "-DA=1");
  const Loaded wanted = Make("torch-2.1", {cudnn, nccl}, "-DA=2"), other = Make("other-1", {cudnn, nccl});
  held_ = {near->path, far->path};
  EvaluateAs({{"near", near}, {"far", far}, {"other", other}, {"wanted", wanted}});
  Comparison comparison({.coordinator = farm()});
  const auto nearest = comparison.NearestCached(wanted->path);
  ASSERT_TRUE(nearest.ok()) << nearest.status();
  EXPECT_EQ(nearest->variant, "near@x86_64-linux");
  EXPECT_EQ(nearest->text, "torch: environment variable flags: -DA=1 → -DA=2");
  EXPECT_EQ(comparison.NearestCached(near->path)->text, "");
  EXPECT_THAT(std::string(comparison.NearestCached(other->path).status().message()),
              HasSubstr("nothing that is called other is cached"));
  EXPECT_THAT(std::string(comparison.NearestCached(OutputOf("x.drv")).status().message()), HasSubstr("is not known"));
}

}  // namespace
}  // namespace hydrant
