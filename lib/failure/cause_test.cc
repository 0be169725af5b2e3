#include "lib/failure/cause.h"

#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

// The lists of the interface, as they stand there.
constexpr char kEvaluationCauses[] =
    "unfree broken unsupported_system insecure assertion throw abort missing_attribute type_error recursion "
    "stack_overflow removed interpreter_disabled capability rule excluded ifd_forbidden not_a_derivation "
    "fetch_failed "
    "evaluator_out_of_memory evaluator_timeout unknown unsupported_compiler syntax_error missing_file";
constexpr char kAttemptCauses[] =
    "builder_failed killed out_of_memory disk_full timeout hash_mismatch unsupported_architecture "
    "missing_features "
    "log_limit output_limit output_missing duplicate_modules fetch_failed licence_gated dependency_failed "
    "transient lost "
    "upload_failed cancelled check_failed audit_failed not_deterministic";
constexpr char kCheckCauses[] =
    "driver_too_old no_kernel_image ptx_too_new library_missing cpu_fallback gpu_out_of_memory device_lost "
    "timeout "
    "wrong_result";

class CauseNames : public testing::TestWithParam<const char*> {};

TEST_P(CauseNames, OfTheInterfaceGoBothWays) {
  std::istringstream words(GetParam());
  for (std::string word; words >> word;) {
    const auto cause = ParseCause(word);
    ASSERT_TRUE(cause.has_value()) << word;
    EXPECT_EQ(CauseName(*cause), word);
  }
}

INSTANTIATE_TEST_SUITE_P(Lists, CauseNames, testing::Values(kEvaluationCauses, kAttemptCauses, kCheckCauses));

TEST(Cause, EveryValueHasANameThatLeadsBack) {
  for (int i = 0; i <= static_cast<int>(Cause::kWrongResult); ++i) {
    const auto cause = static_cast<Cause>(i);
    EXPECT_EQ(ParseCause(CauseName(cause)), cause) << i;
  }
}

TEST(Cause, AWordOfNoListIsRefused) {
  EXPECT_EQ(ParseCause("unfreee"), std::nullopt);
  EXPECT_EQ(ParseCause("Unfree"), std::nullopt);
}

TEST(Cause, ADeadEvaluatorIsNeitherRememberedNorARefusal) {
  for (Cause cause :
       {Cause::kEvaluatorOutOfMemory, Cause::kEvaluatorTimeout, Cause::kFetchFailed, Cause::kUnknown}) {
    EXPECT_TRUE(IsEvaluatorDeath(cause)) << CauseName(cause);
    EXPECT_FALSE(IsPackageFault(cause)) << CauseName(cause);
  }
  EXPECT_FALSE(IsEvaluatorDeath(Cause::kUnfree));
  EXPECT_FALSE(IsEvaluatorDeath(Cause::kStackOverflow));
}

TEST(Cause, WhatTheFarmBrokeMayBeTriedAgainAndWhatThePackageBrokeIsRemembered) {
  for (Cause cause : {Cause::kLost, Cause::kTransient, Cause::kUploadFailed, Cause::kDiskFull, Cause::kKilled,
                      Cause::kOutOfMemory, Cause::kFetchFailed}) {
    EXPECT_TRUE(IsRetryable(cause)) << CauseName(cause);
  }
  for (Cause cause :
       {Cause::kBuilderFailed, Cause::kHashMismatch, Cause::kUnsupportedArchitecture, Cause::kTimeout,
        Cause::kUnsupportedCompiler, Cause::kOutputMissing, Cause::kDuplicateModules, Cause::kLicenceGated,
        Cause::kLogLimit, Cause::kOutputLimit, Cause::kNotDeterministic}) {
    EXPECT_TRUE(IsPackageFault(cause)) << CauseName(cause);
  }
}

TEST(Cause, NothingIsBothThePackagesFaultAndRetryable) {
  for (int i = 0; i <= static_cast<int>(Cause::kWrongResult); ++i) {
    const auto cause = static_cast<Cause>(i);
    EXPECT_FALSE(IsPackageFault(cause) && IsRetryable(cause)) << CauseName(cause);
  }
}

}  // namespace
}  // namespace hydrant
