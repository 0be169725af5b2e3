#include "daemon/audit/closure_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/audit/test_closure.h"

namespace hydrant {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

auto Is(const char* rule, std::vector<std::string> path) {
  return AllOf(Field(&Finding::rule, rule), Field(&Finding::path, path),
               Field(&Finding::severity, Severity::kWarn));
}

class ClosureAuditTest : public testing::Test {
 protected:
  std::string Add(const std::string& name, const TestDerivation& derivation = {}) {
    return closure_.Add(name, derivation);
  }
  TestClosure closure_;
};

TEST_F(ClosureAuditTest, TwoCopiesOfAModuleAreToldWithBothWays) {
  const std::string cuda = Add("python3.12-jaxlib-0.4.1", {.salt = "cuda"}),
                    cpu = Add("python3.12-jaxlib-0.4.1", {.salt = "cpu"});
  const std::string tools = Add("python3.12-tools-1.0", {.passed_on = {cpu}});
  const std::string both = Add("python3.12-both-1.0", {.passed_on = {cuda, tools}});
  const auto found = closure_.Judge(both);
  ASSERT_THAT(found, ElementsAre(Is("duplicate_modules", {"python3.12-both-1.0", "python3.12-tools-1.0",
                                                          "python3.12-jaxlib-0.4.1"})));
  EXPECT_THAT(found[0].message,
              HasSubstr("python3.12-both-1.0 → python3.12-jaxlib-0.4.1, and python3.12-jaxlib-0.4.1 ("));
  EXPECT_THAT(closure_.Judge(tools), IsEmpty());
}

TEST_F(ClosureAuditTest, WhatAnEnvironmentHoldsCounts) {
  const std::string old = Add("python3.12-numpy-1.26.4"), now = Add("python3.12-numpy-2.1.0");
  const std::string scipy = Add("python3.12-scipy-1.0", {.passed_on = {old}});
  const std::string environment = Add("python3-3.12.4-env", {{scipy, now}});
  EXPECT_THAT(closure_.Judge(environment),
              ElementsAre(Is("duplicate_modules",
                             {"python3-3.12.4-env", "python3.12-scipy-1.0", "python3.12-numpy-1.26.4"})));
}

TEST_F(ClosureAuditTest, ThePackageItselfIsOneOfTheCopies) {
  const std::string old = Add("python3.12-torch-2.4.0");
  const std::string vision = Add("python3.12-vision-1.0", {.passed_on = {old}});
  EXPECT_THAT(closure_.Judge(Add("python3.12-pytorch-2.5.0", {.passed_on = {vision}})),
              ElementsAre(Field(&Finding::rule, "duplicate_modules")));
}

TEST_F(ClosureAuditTest, AModuleOfTwoInterpretersIsNoCopy) {
  const std::string two = Add("python2.7-numpy-1.14.2"), three = Add("python3.6-numpy-1.14.2");
  EXPECT_THAT(closure_.Judge(Add("python3.6-both-1.0", {.passed_on = {two, three}})), IsEmpty());
}

TEST_F(ClosureAuditTest, WhatIsOnlyNeededToBuildIsNoCopy) {
  const std::string boot = Add("python3.12-setuptools-69.0", {.salt = "boot"}),
                    full = Add("python3.12-setuptools-69.0", {{boot}});
  const std::string wheel = Add("python3.12-wheel-0.4", {{boot}});
  EXPECT_THAT(closure_.Judge(Add("python3.12-x-1.0", {{wheel, boot}, {full}})), IsEmpty());
}

TEST_F(ClosureAuditTest, OneFetchedInTwoWaysIsNoCopy) {
  // Equal outputs: the same package, whatever made it.
  ClosureAudit audit;
  const std::string output = "/nix/store/0000000000000000000000000000aaaa-python3.12-a-1";
  const std::string base = "/nix/store/0000000000000000000000000000";
  for (const char* hash : {"0001", "0002"}) {
    audit.Take({.path = base + hash + "-python3.12-a-1.drv", .outputs = {output}});
  }
  const std::string one = base + "0001-python3.12-a-1.drv", two = base + "0002-python3.12-a-1.drv",
                    top = base + "0003-python3-3.12.4-env.drv";
  audit.Take({.path = top, .inputs = {one, two}});
  EXPECT_THAT(audit.Judge({.derivation = top}), IsEmpty());
}

TEST_F(ClosureAuditTest, TwoReleasesAreToldWithTheWayOfTheOneThatIsNotTheSlices) {
  const std::string own = Add("cudatoolkit-12.2.2"), leaked = Add("cuda_cudart-11.8.89");
  const std::string magma = Add("magma-2.7.1", {{leaked}});
  const std::string torch = Add("python3.12-torch-2.5.0", {{own, magma}});
  const auto found = closure_.Judge(torch, CudaVersion{12, 2});
  ASSERT_THAT(found, ElementsAre(Is("two_cuda_releases",
                                    {"python3.12-torch-2.5.0", "magma-2.7.1", "cuda_cudart-11.8.89"})));
  EXPECT_EQ(found[0].message,
            "CUDA 12.2 and CUDA 11.8 meet: CUDA 12.2 through python3.12-torch-2.5.0 → cudatoolkit-12.2.2; "
            "CUDA 11.8 through python3.12-torch-2.5.0 → magma-2.7.1 → cuda_cudart-11.8.89");
  // A slice of the default release has the nearest.
  EXPECT_THAT(closure_.Judge(torch), ElementsAre(Is("two_cuda_releases", found[0].path)));
  EXPECT_THAT(closure_.Judge(magma, CudaVersion{11, 8}), IsEmpty());
}

TEST_F(ClosureAuditTest, TheWayIsTheShortest) {
  const std::string own = Add("cudatoolkit-12.2.2"), leaked = Add("cudatoolkit-11.8.0");
  const std::string far = Add("b-1", {{Add("a-1", {{leaked}})}}), near = Add("z-1", {{leaked}});
  EXPECT_THAT(closure_.Judge(Add("top-1", {{own, far, near}}), CudaVersion{12, 2}),
              ElementsAre(Is("two_cuda_releases", {"top-1", "z-1", "cudatoolkit-11.8.0"})));
}

TEST_F(ClosureAuditTest, PartsOfOneReleaseAndLibrariesWithVersionsOfTheirOwnAreNoSecondRelease) {
  const std::string top = Add(
      "top-1",
      {{Add("cuda_nvcc-12.9.86"), Add("cuda_cudart-12.9.79"), Add("cudnn-8.9.7"), Add("cuda12.9-nccl-2.27.3"),
        Add("cuda_compat-580.65.06"), Add("cudatoolkit-11.8.0.tar.gz", {.fixed_output = true})}});
  EXPECT_THAT(closure_.Judge(top, CudaVersion{12, 9}), IsEmpty());
}

TEST_F(ClosureAuditTest, AClosureThatHasOnlyAnotherReleaseIsNotWhatWasAsked) {
  const std::string viewer = Add("gpu-viewer-1.0", {{Add("cudatoolkit-11.8.0")}});
  EXPECT_THAT(closure_.Judge(viewer, CudaVersion{12, 2}),
              ElementsAre(Is("cuda_version", {"gpu-viewer-1.0", "cudatoolkit-11.8.0"})));
  EXPECT_THAT(closure_.Judge(viewer), IsEmpty());
}

TEST_F(ClosureAuditTest, RedistAndRunfileThatMeetAreTold) {
  const std::string archive = Add("cuda_cudart-linux-x86_64-11.8.89-archive.tar.xz", {.fixed_output = true}),
                    installer = Add("cuda_11.8.0_520.61.05_linux.run", {.fixed_output = true}),
                    cudnn = Add("cudnn-linux-x86_64-8.9.7.29_cuda11-archive.tar.xz", {.fixed_output = true});
  const std::string runfile = Add("cudatoolkit-11.8.0", {{installer}}),
                    part = Add("cuda_cudart-11.8.89", {{archive}}), library = Add("cudnn-8.9.7", {{cudnn}});
  EXPECT_THAT(closure_.Judge(Add("mixed-1", {{runfile, part}})),
              ElementsAre(AllOf(Field(&Finding::rule, "two_cuda_flavours"),
                                Field(&Finding::message,
                                      AllOf(HasSubstr("redist through mixed-1 → cuda_cudart-11.8.89"),
                                            HasSubstr("runfile through mixed-1 → cudatoolkit-11.8.0"))))));
  EXPECT_THAT(closure_.Judge(Add("whole-1", {{runfile, library}})), IsEmpty());
}

TEST_F(ClosureAuditTest, ALibraryThatIsNotTheSlicesOwnIsTold) {
  const std::string own = Add("cudnn-9.1.0"), other = Add("cudnn-8.9.7"), nccl = Add("nccl-2.21.5-1");
  const ClosureAudit::Libraries libraries = {{"cudnn", {own}}, {"magma", {}}};
  EXPECT_THAT(closure_.Judge(Add("good-1", {{own, nccl}}), {}, &libraries), IsEmpty());
  const auto found = closure_.Judge(Add("bad-1", {{nccl, Add("between-1", {{other}})}}), {}, &libraries);
  ASSERT_THAT(found, ElementsAre(Is("named_package", {"bad-1", "between-1", "cudnn-8.9.7"})));
  EXPECT_THAT(found[0].message, HasSubstr("the slice's own is cudnn-9.1.0 ("));
}

TEST_F(ClosureAuditTest, ASliceMayHaveMoreThanOneOfAName) {
  const std::string shared = Add("magma-2.7.1"), still = Add("magma-2.7.1", {.salt = "static"});
  const ClosureAudit::Libraries libraries = {{"magma", {shared, still}}};
  EXPECT_THAT(closure_.Judge(Add("top-1", {{still}}), {}, &libraries), IsEmpty());
}

TEST_F(ClosureAuditTest, WhereTheSlicesOwnAreNotKnownTheyAreWhatMostOfItsVariantsUse) {
  const std::string one = Add("nccl-2.20-1"), other = Add("nccl-2.21-1");
  const std::string odd = Add("odd-1", {{one}}), a = Add("a-1", {{other}}), b = Add("b-1", {{other}});
  const ClosureAudit::Libraries libraries =
      closure_.audit.UsedByMost(std::vector<std::string_view>{odd, a, b, "/nix/store/unknown.drv"});
  EXPECT_THAT(libraries, ElementsAre(std::pair("nccl", std::vector{other})));
  EXPECT_THAT(closure_.Judge(odd, {}, &libraries),
              ElementsAre(Is("named_package", {"odd-1", "nccl-2.20-1"})));
  EXPECT_THAT(closure_.Judge(a, {}, &libraries), IsEmpty());
}

TEST_F(ClosureAuditTest, WhatIsNotKnownIsNotJudged) {
  EXPECT_FALSE(closure_.audit.Knows("/nix/store/none.drv"));
  EXPECT_THAT(closure_.Judge("/nix/store/none.drv"), IsEmpty());
  const std::string top =
      Add("top-1", {{"/nix/store/0000000000000000000000000000aaaa-cudatoolkit-11.8.0.drv"}});
  EXPECT_TRUE(closure_.audit.Knows(top));
  EXPECT_THAT(closure_.Judge(top, CudaVersion{12, 2}), IsEmpty());
}

TEST_F(ClosureAuditTest, ALongWayIsCutInItsMiddle) {
  std::string at = Add("cudatoolkit-11.8.0");
  for (int i = 0; i < 100; ++i) at = Add("link-" + std::to_string(i), {{at}});
  const auto found = closure_.Judge(at, CudaVersion{12, 2});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path.size(), 20u);
  EXPECT_EQ(found[0].path.front(), "link-99");
  EXPECT_EQ(found[0].path.back(), "cudatoolkit-11.8.0");
}

TEST_F(ClosureAuditTest, AClosureFullOfLibrariesStaysSmall) {
  std::vector<std::string> many;
  for (int i = 0; i < 500; ++i) many.push_back(Add("cudnn-9." + std::to_string(i)));
  const ClosureAudit::Libraries libraries = {{"cudnn", {many[0]}}};
  EXPECT_THAT(closure_.Judge(Add("top-1", {many}), {}, &libraries), testing::SizeIs(testing::Le(64)));
}

}  // namespace
}  // namespace hydrant
