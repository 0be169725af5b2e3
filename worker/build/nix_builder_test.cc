#include "worker/build/nix_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/nix/test_store.h"
#include "worker/build/worker_store.h"

namespace hydrant::worker {
namespace {

using testing::HasSubstr;

// A worker's store under a temporary folder, and derivations whose builder is a line of shell.
class NixBuilderTest : public testing::Test {
 protected:
  NixBuilderTest()
      : store_({.store = nix_.root(),
                .sandbox_paths = {DefaultSandboxShell()},
                .features = {"big-parallel"},
                .systems = {},
                .scratch = nix_.dir() / "home"}) {}

  BuildRequest Request(const std::string& script, const std::string& more = "") {
    const auto path =
        nix_.Instantiate(absl::StrCat("derivation { name = \"it\"; system = builtins.currentSystem; builder "
                                      "= \"/bin/sh\"; args = [ \"-c\" ''",
                                      script, "'' ]; ", more, " }"));
    EXPECT_TRUE(path.ok()) << path.status();
    const auto text = ReadFile(nix_.RealPath(*path));
    return {.derivation_path = *path, .derivation = *nix::ParseDerivation(*text)};
  }

  std::unique_ptr<StoreSession> Session(const AttemptLimits& limits = {}) {
    auto session = OpenSession(store_, limits);
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }

  BuildOutcome Build(const BuildRequest& request) {
    const auto session = Session(request.limits);
    return builder_.Build(
        *session, request, [this](std::string_view text) { log_.append(text); }, cancellation_);
  }

  nix::TestStore nix_;
  WorkerStore store_;
  NixBuilder builder_;
  Cancellation cancellation_;
  std::string log_;
};

TEST_F(NixBuilderTest, BuildsAndTellsLogAndUse) {
  const BuildRequest request = Request("echo one; echo two; echo made > $out");
  const BuildOutcome outcome = Build(request);
  EXPECT_EQ(outcome.cause, Cause::kNone) << outcome.message;
  EXPECT_EQ(outcome.nix_status, 0);
  EXPECT_EQ(log_, "one\ntwo\n");
  EXPECT_EQ(outcome.log_bytes, 8);
  EXPECT_EQ(*ReadFile(store_.RealPath(request.derivation.outputs.at("out").path)), "made\n");
  EXPECT_TRUE(*builder_.IsBuilt(*Session(), request.derivation));
}

TEST_F(NixBuilderTest, WhatWasNotBuiltIsNotBuilt) {
  EXPECT_FALSE(*builder_.IsBuilt(*Session(), Request("exit 0").derivation));
}

TEST_F(NixBuilderTest, AFailingBuilderIsThePackagesFault) {
  const BuildOutcome outcome = Build(Request("echo before; exit 3"));
  EXPECT_EQ(outcome.cause, Cause::kBuilderFailed) << outcome.message;
  EXPECT_EQ(outcome.nix_status, 3);
  EXPECT_EQ(log_, "before\n");
  EXPECT_FALSE(outcome.message.empty());
}

TEST_F(NixBuilderTest, AnOutputThatWasNotMadeIsMissing) {
  const BuildOutcome outcome = Build(Request("exit 0"));
  EXPECT_EQ(outcome.cause, Cause::kOutputMissing) << outcome.message;
}

TEST_F(NixBuilderTest, AFeatureThatIsNotOfferedIsNamed) {
  const BuildOutcome outcome = Build(Request("echo > $out", "requiredSystemFeatures = [ \"cuda\" ];"));
  EXPECT_EQ(outcome.cause, Cause::kMissingFeatures) << outcome.message;
  EXPECT_EQ(Build(Request("echo > $out", "requiredSystemFeatures = [ \"big-parallel\" ];")).cause,
            Cause::kNone);
}

TEST_F(NixBuilderTest, ALogOverItsLimitEndsTheBuild) {
  BuildRequest request = Request("while :; do echo 0123456789; done");
  request.limits.max_log_bytes = 10000;
  const BuildOutcome outcome = Build(request);
  EXPECT_EQ(outcome.cause, Cause::kLogLimit) << outcome.message;
  EXPECT_LE(log_.size(), 10000u);
}

TEST_F(NixBuilderTest, ABuildOverItsTimeEnds) {
  BuildRequest request = Request("while :; do :; done");
  request.limits.timeout = absl::Seconds(1);
  EXPECT_EQ(Build(request).cause, Cause::kTimeout);
}

TEST_F(NixBuilderTest, ASilentBuildEnds) {
  BuildRequest request = Request("echo first; while :; do :; done");
  request.limits.max_silent = absl::Seconds(1);
  EXPECT_EQ(Build(request).cause, Cause::kTimeout);
  EXPECT_EQ(log_, "first\n");
}

TEST_F(NixBuilderTest, ABuildOverItsMemoryEnds) {
  BuildRequest request = Request(
      "x=01234567; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; "
      "do x=$x$x; done; while :; do :; done");
  request.limits.memory_bytes = 64 << 20;
  const BuildOutcome outcome = Build(request);
  EXPECT_EQ(outcome.cause, Cause::kOutOfMemory) << outcome.message;
  EXPECT_GT(outcome.max_memory_bytes, 64 << 20);
}

TEST_F(NixBuilderTest, OutputsOverTheirLimitAreRefused) {
  BuildRequest request = Request("echo 0123456789 > $out");
  request.limits.max_output_bytes = 100;
  EXPECT_EQ(Build(request).cause, Cause::kOutputLimit);
}

TEST_F(NixBuilderTest, ACancelledBuildLeavesNoProcess) {
  const std::string mark = absl::StrCat("mark-", getpid(), "-of-this-test");
  const BuildRequest request = Request("echo started; while :; do : " + mark + "; done");
  const auto session = Session();
  const BuildOutcome outcome = builder_.Build(
      *session, request, [this](std::string_view) { cancellation_.Cancel(); }, cancellation_);
  EXPECT_EQ(outcome.cause, Cause::kCancelled);
  const auto seen =
      hydrant::Run({.argv = {"/bin/sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"}});
  EXPECT_THAT(seen->out, testing::Not(HasSubstr(mark)));
}

TEST_F(NixBuilderTest, ADerivationClosureIsAddedReferencesFirst) {
  const BuildRequest dependency = Request("echo > $out");
  const BuildRequest dependant =
      Request("echo > $out", absl::StrCat("dep = \"", dependency.derivation.outputs.at("out").path, "\";"));
  nix::TestStore other;
  const WorkerStore fresh(
      {.store = other.root(), .sandbox_paths = {DefaultSandboxShell()}, .scratch = other.dir() / "home"});
  const auto session = OpenSession(fresh, {});
  ASSERT_TRUE(session.ok());
  EXPECT_FALSE(*builder_.HasDerivation(**session, dependency.derivation_path));
  const std::string text = *ReadFile(nix_.RealPath(dependency.derivation_path));
  const absl::Status added = builder_.AddDerivations(
      **session, {{.path = dependency.derivation_path, .aterm = text, .references = {}}});
  EXPECT_TRUE(added.ok()) << added;
  EXPECT_TRUE(*builder_.HasDerivation(**session, dependency.derivation_path));
  const absl::Status wrong = builder_.AddDerivations(
      **session, {{.path = dependant.derivation_path, .aterm = text + " ", .references = {}}});
  EXPECT_TRUE(absl::IsInvalidArgument(wrong)) << wrong;
}

TEST_F(NixBuilderTest, AStoreOfOurOwnTrustsUs) {
  const auto version = store_.CheckTrust();
  ASSERT_TRUE(version.ok()) << version.status();
  EXPECT_THAT(*version, HasSubstr("."));
}

}  // namespace
}  // namespace hydrant::worker
