// The rules over closures that Nix made of the test tree: nothing to say of what is whole, and each planted
// leak with the way through which it comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "daemon/audit/closure_audit.h"
#include "daemon/evaluate/derivation_closure.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr char kTree[] = HYDRANT_SOURCE_DIR "/tests/nixpkgs";
// In the order of Variant.
constexpr char kExpression[] = R"(
  { tree }:
  let
    with_ = config: import tree { config = { allowUnfree = true; cudaSupport = true; } // config; };
    pkgs = with_ { };
    runfile = with_ { cudaFlavour = "runfile"; };
    ps = pkgs.python312Packages;
    old = ps.jaxlib.override { cudaPackages = pkgs.cudaPackages_11_8; };
    torch = ps.torch;
    environment = modules: pkgs.python312.withPackages (_: modules);
  in [
    torch
    (environment [ torch ps.hello-cuda ps.brax ])
    runfile.python312Packages.cupy
    ps.jax-both
    (environment [ ps.hello-cuda old ])
    (environment [ torch old ])
    (environment [ torch runfile.python312Packages.cupy ])
  ])";
enum Variant { kTorch, kWhole, kRunfile, kBoth, kTwoJaxlibs, kLeak, kTwoFlavours };

class RealClosureTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    TestDir dir;
    const auto done = hydrant::Run({.argv = {std::string(kTree) + "/in-store", dir.path(), "nix-instantiate",
                                             "-E", kExpression, "--arg", "tree", kTree}});
    ASSERT_TRUE(done.ok()) << done.status();
    ASSERT_TRUE(done->status.ok()) << done->err;
    variants_ = new std::vector<std::string>;
    audit_ = new ClosureAudit;
    std::istringstream lines(done->out);
    for (std::string line; std::getline(lines, line);) variants_->push_back(line);
    DerivationClosure closure(dir / "store");
    const auto all = closure.LoadAll(*variants_);
    ASSERT_TRUE(all.ok()) << all.status();
    for (const auto& loaded : *all) Take(*loaded);
  }
  static void TearDownTestSuite() {
    delete audit_;
    delete variants_;
  }
  static void Take(const LoadedDerivation& loaded) {
    ClosureAudit::Facts facts{.path = loaded.path, .fixed_output = loaded.parsed.fixed_output()};
    for (const auto& [input, outputs] : loaded.parsed.input_derivations) facts.inputs.push_back(input);
    for (const auto& [name, output] : loaded.parsed.outputs) facts.outputs.push_back(output.path);
    for (const auto& [name, value] : loaded.parsed.environment) facts.environment.emplace_back(name, value);
    audit_->Take(facts);
  }
  static std::vector<Finding> Judge(Variant variant) {
    const std::vector<std::string_view> torch = {(*variants_)[kTorch]};
    const ClosureAudit::Libraries own = audit_->UsedByMost(torch);
    return audit_->Judge(
        {.derivation = (*variants_)[variant], .cuda = CudaVersion{12, 2}, .libraries = &own});
  }
  static std::vector<std::string> Rules(Variant variant) {
    std::vector<std::string> rules;
    for (const Finding& finding : Judge(variant)) rules.push_back(finding.rule);
    return rules;
  }

  static ClosureAudit* audit_;
  static std::vector<std::string>* variants_;
};
ClosureAudit* RealClosureTest::audit_ = nullptr;
std::vector<std::string>* RealClosureTest::variants_ = nullptr;

auto Is(const char* rule, std::vector<std::string> path) {
  return AllOf(Field(&Finding::rule, rule), Field(&Finding::path, path));
}

TEST_F(RealClosureTest, OfWhatIsWholeThereIsNothingToSay) {
  EXPECT_THAT(Judge(kTorch), IsEmpty());
  EXPECT_THAT(Judge(kWhole), IsEmpty());
  // Its libraries are of another set, but of one flavour.
  EXPECT_THAT(Rules(kRunfile), testing::Each("named_package"));
}

TEST_F(RealClosureTest, TwoJaxlibsInOneClosureAreTold) {
  EXPECT_THAT(Judge(kBoth), ElementsAre(Is("duplicate_modules",
                                           {"python3.12-jax-both-0.4.1", "python3.12-jax-cpu-tools-0.4.1",
                                            "python3.12-jaxlib-0.4.1"})));
  EXPECT_THAT(Rules(kTwoJaxlibs), Contains("duplicate_modules"));
}

TEST_F(RealClosureTest, AReleaseThatLeaksInIsToldWithItsLibraries) {
  const auto found = Judge(kLeak);
  EXPECT_THAT(found, Contains(Is("two_cuda_releases",
                                 {"python3-3.12.4-env", "python3.12-jaxlib-0.4.1", "cudatoolkit-11.8.0"})));
  for (const char* library : {"cudnn is cudnn-", "nccl is nccl-", "cudatoolkit is cudatoolkit-11.8.0"}) {
    EXPECT_THAT(found, Contains(AllOf(Field(&Finding::rule, "named_package"),
                                      Field(&Finding::message, testing::StartsWith(library)))));
  }
  EXPECT_THAT(Rules(kLeak), testing::Not(Contains("duplicate_modules")));
}

TEST_F(RealClosureTest, TwoFlavoursAreTold) {
  EXPECT_THAT(Rules(kTwoFlavours), Contains("two_cuda_flavours"));
}

}  // namespace
}  // namespace hydrant
