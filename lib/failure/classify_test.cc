#include "lib/failure/classify.h"

#include <string>

#include "gtest/gtest.h"

namespace hydrant {
namespace {

TEST(StripAnsi, TakesColoursTitlesLinksAndNuls) {
  EXPECT_EQ(StripAnsi("\x1b[31;1merror:\x1b[0m x"), "error: x");
  EXPECT_EQ(StripAnsi("\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"), "textlink");
  EXPECT_EQ(StripAnsi(std::string("a\0b", 3)), "ab");
  EXPECT_EQ(StripAnsi("\x1b(Bplain\x1b=\r\nnext"), "plain\nnext");
}

TEST(StripAnsi, AnEndOfLineIsFoundAcrossWhatIsTakenOut) {
  EXPECT_EQ(StripAnsi(std::string("a\r\0\nb", 5)), "a\nb");
  EXPECT_EQ(StripAnsi("a\r\x1b[0m\nb\r\r\nc\rd"), "a\nb\nc\rd");
}

TEST(StripAnsi, KeepsUtf8WhoseBytesLookLikeC1Controls) { EXPECT_EQ(StripAnsi("‘x’ has ß"), "‘x’ has ß"); }

TEST(StripAnsi, ASequenceThatIsCutOffHidesNoMoreThanItsLine) {
  EXPECT_EQ(StripAnsi("\x1b]0;never ended\nerror: x"), "\nerror: x");
  EXPECT_EQ(StripAnsi("text\x1b"), "text");
  EXPECT_EQ(StripAnsi("text\x1b["), "text");
}

TEST(ClassifyEvaluation, TheLastErrorOfATraceDecides) {
  const auto classified = ClassifyEvaluation(
      "error:\n       … while evaluating the attribute 'drvPath'\n         at /n/x.nix:12:3:\n"
      "           11|   throw \"attribute 'a' missing\"\n       error: infinite recursion encountered\n");
  EXPECT_EQ(classified.cause, Cause::kRecursion);
  EXPECT_EQ(classified.message, "infinite recursion encountered");
}

TEST(ClassifyEvaluation, AWarningBeforeTheErrorDoesNotDecide) {
  EXPECT_EQ(ClassifyEvaluation(
                "evaluation warning: CUDA versions older than 12.0 will be removed in Nixpkgs 25.05\n"
                "warning: error: unable to download 'https://x': timeout; retrying in 300 ms\n"
                "error: attribute 'x' missing\n")
                .cause,
            Cause::kMissingAttribute);
}

TEST(ClassifyEvaluation, AnErrorThatNobodyKnowsIsAThrow) {
  const auto classified = ClassifyEvaluation("trace: hello\nerror: no such luck\n\n       at /x.nix:1:1:\n");
  EXPECT_EQ(classified.cause, Cause::kThrow);
  EXPECT_EQ(classified.message, "no such luck");
}

TEST(ClassifyEvaluation, AThrowAndAnAbortGoOnOverTheirLines) {
  EXPECT_EQ(ClassifyEvaluation("error: torch needs a GPU\n         set one:\n\n       cudaSupport = true;\n\n"
                               "       at /x.nix:1:1:\n            1| x\n       more\nwarning: y\n")
                .message,
            "torch needs a GPU set one: cudaSupport = true;");
  EXPECT_EQ(ClassifyEvaluation("error:\n       … while calling the 'throw' builtin\n         at /x.nix:1:1:\n"
                               "            1| throw\n             | ^\n\n       error: one\n       two\n")
                .message,
            "one two");
  const auto aborted = ClassifyEvaluation(
      "error: evaluation aborted with the following error message: 'one\n       infinite recursion "
      "encountered'\n");
  EXPECT_EQ(aborted.cause, Cause::kAbort);
  EXPECT_EQ(aborted.message,
            "evaluation aborted with the following error message: 'one infinite recursion encountered'");
  EXPECT_EQ(ClassifyEvaluation("error: a\n       " + std::string(5000, 'b')).message.size(), 1000 + 3);
}

TEST(ClassifyEvaluation, AFaultOfTheFarmIsNotTakenForAThrow) {
  EXPECT_EQ(ClassifyEvaluation("error: writing to file: No space left on device").cause, Cause::kUnknown);
  EXPECT_EQ(ClassifyEvaluation("error: cannot connect to socket at '/x': Connection refused").cause,
            Cause::kUnknown);
}

TEST(ClassifyEvaluation, ATextWithoutAnErrorIsUnknown) {
  EXPECT_EQ(ClassifyEvaluation("").cause, Cause::kUnknown);
  EXPECT_EQ(ClassifyEvaluation("\x1b[0m\n\n").message, "");
  EXPECT_EQ(ClassifyEvaluation("something happened").message, "something happened");
}

TEST(ClassifyEvaluation, TheMemoryOfTheEvaluatorOutranksWhatItPrintedBefore) {
  EXPECT_EQ(ClassifyEvaluation("error: attribute 'x' missing\n"
                               "GC Warning: Out of Memory! Heap size: 499 MiB. Returning NULL!\n")
                .cause,
            Cause::kEvaluatorOutOfMemory);
  EXPECT_EQ(ClassifyEvaluation("terminate called after throwing an instance of 'std::bad_alloc'\n  what():  "
                               "std::bad_alloc\n")
                .cause,
            Cause::kEvaluatorOutOfMemory);
}

TEST(ClassifyEvaluation, WhatATreeSaysOfDeathsIsNone) {
  EXPECT_EQ(ClassifyEvaluation("trace: w\nGC Warning: Out of Memory! said a log\nerror: attribute 'x' missing\n").cause,
            Cause::kMissingAttribute);
  EXPECT_EQ(ClassifyEvaluation("error: cannot add a string to an integer\n\n       at /x.nix:2:7:\n\n"
                               "            1| # dies of std::bad_alloc, killed by signal 9\n"
                               "            2|   a = 1 + \"a\";\n")
                .cause,
            Cause::kTypeError);
  EXPECT_EQ(ClassifyEvaluation("error: attribute 'std::bad_alloc' missing").cause, Cause::kMissingAttribute);
  EXPECT_EQ(ClassifyEvaluation("error: getting status of '/x/Permission denied': No such file or directory").cause,
            Cause::kMissingFile);
  EXPECT_EQ(ClassifyEvaluation("trace: warning: x\n  Package 'foo' is marked as broken\nerror: no such luck").cause,
            Cause::kThrow);
}

TEST(ClassifyEvaluation, AThrowThatQuotesOutOfMemoryIsAThrow) {
  EXPECT_EQ(ClassifyEvaluation("error: this machine is out of memory").cause, Cause::kThrow);
}

constexpr char kFailed[] = "error: builder for '/nix/store/x.drv' failed with exit code 1";

TEST(ClassifyAttempt, AnExactStatusOutranksText) {
  EXPECT_EQ(ClassifyAttempt(8, kFailed, "No space left on device").cause, Cause::kTimeout);
  EXPECT_EQ(ClassifyAttempt(10, kFailed, "").cause, Cause::kDependencyFailed);
  EXPECT_EQ(ClassifyAttempt(11, kFailed, "").cause, Cause::kLogLimit);
  EXPECT_EQ(ClassifyAttempt(12, kFailed, "").cause, Cause::kNotDeterministic);
  EXPECT_EQ(ClassifyAttempt(15, "", "").cause, Cause::kHashMismatch);
}

TEST(ClassifyAttempt, TheLogOutranksAPlainFailure) {
  const auto classified =
      ClassifyAttempt(3, kFailed, "compiling\ncp: error writing 'x': No space left on device\n");
  EXPECT_EQ(classified.cause, Cause::kDiskFull);
  EXPECT_EQ(classified.message, "cp: error writing 'x': No space left on device");
}

TEST(ClassifyAttempt, ALogThatNixQuotesInItsErrorCountsAsLog) {
  const std::string error = std::string(kFailed) +
                            ";\n       last 2 log lines:\n       > test timed out after 3 seconds\n"
                            "       > nvcc error : 'cicc' died due to signal 9 (Kill signal)\n";
  EXPECT_EQ(ClassifyAttempt(3, error, "").cause, Cause::kOutOfMemory);
}

TEST(ClassifyAttempt, APackagesOwnTimeoutIsAPlainFailure) {
  const auto classified = ClassifyAttempt(3, std::string(kFailed) + ";", "test timed out after 3 seconds\n");
  EXPECT_EQ(classified.cause, Cause::kBuilderFailed);
  EXPECT_EQ(classified.message, "builder for '/nix/store/x.drv' failed with exit code 1");
}

TEST(ClassifyAttempt, ASignalFromOutsideIsKilledUnlessTheLogSpeaksOfMemory) {
  constexpr char kSignal[] = "error: builder for 'D' failed due to signal 9 (Killed)";
  EXPECT_EQ(ClassifyAttempt(3, kSignal, "linking\n").cause, Cause::kKilled);
  EXPECT_EQ(ClassifyAttempt(3, kSignal, "g++: fatal error: Killed signal terminated program cc1plus").cause,
            Cause::kOutOfMemory);
  EXPECT_EQ(
      ClassifyAttempt(3, "error: builder for 'D' failed due to signal 11 (Segmentation fault)", "").cause,
      Cause::kBuilderFailed);
}

TEST(ClassifyAttempt, AStatusWithoutWordsStillHasACause) {
  EXPECT_EQ(ClassifyAttempt(3, "", "").cause, Cause::kBuilderFailed);
  EXPECT_EQ(ClassifyAttempt(6, "", "").cause, Cause::kTransient);
  EXPECT_EQ(ClassifyAttempt(9, "something new", "").cause, Cause::kTransient);
  EXPECT_EQ(ClassifyAttempt(14, "", "").cause, Cause::kFetchFailed);
  EXPECT_EQ(ClassifyAttempt(-1, "something new", "").cause, Cause::kUnknown);
  for (int success : {0, 1, 2, 13})
    EXPECT_EQ(ClassifyAttempt(success, "", "").cause, Cause::kNone) << success;
}

TEST(ClassifyAttempt, AnEndlessLineIsCutBetweenCharacters) {
  std::string error = "error: builder for '";
  for (int i = 0; i < 2000; ++i) error += "ß";
  const auto classified = ClassifyAttempt(3, error + "' failed with exit code 1", "");
  EXPECT_EQ(classified.cause, Cause::kBuilderFailed);
  EXPECT_LE(classified.message.size(), 1003u);
  EXPECT_EQ(static_cast<unsigned char>(classified.message[classified.message.size() - 4]), 0x9f)
      << "ß is c3 9f";
}

TEST(ClassifyCheck, WithoutAKnownSymptomTheLastLineSpeaks) {
  const auto classified =
      ClassifyCheck("Traceback:\n  File \"<string>\", line 1\nAssertionError: 3 != 4\n\n");
  EXPECT_EQ(classified.cause, Cause::kWrongResult);
  EXPECT_EQ(classified.message, "AssertionError: 3 != 4");
}

TEST(ClassifyText, FindsTheStageOfAPastedText) {
  EXPECT_EQ(ClassifyText("error: infinite recursion encountered").stage, FailureStage::kEvaluation);
  EXPECT_EQ(ClassifyText("cp: error writing x: No space left on device").classified.cause, Cause::kDiskFull);
  EXPECT_EQ(
      ClassifyText("error: hash mismatch in fixed-output derivation 'D':\n  specified: a").classified.cause,
      Cause::kHashMismatch);
  EXPECT_EQ(ClassifyText("RuntimeError: CUDA out of memory.").stage, FailureStage::kCheck);
  EXPECT_EQ(ClassifyText("error: no such luck").classified.cause, Cause::kThrow);
  EXPECT_EQ(ClassifyText("all is well").classified.cause, Cause::kUnknown);
}

TEST(ClassifyText, KnowsTheClassOfEachKindWithoutBeingToldItsStage) {
  const struct {
    const char* cause;
    const char* text;
  } kTexts[] = {
      {"unfree",
       "error: Package ‘cudatoolkit-11.6.1’ in /n/p.nix:3 has an unfree license (‘unfree’), refusing to "
       "evaluate."},
      {"unfree",
       "\x1b[31;1merror:\x1b[0m Refusing to evaluate package 'cuda_nvcc-12.9' in x.nix:1 because it has an "
       "unfree "
       "license (‘CUDA EULA’)"},
      {"broken", "error: Package ‘hello-2.10’ in /n/p.nix:15 is marked as broken, refusing to evaluate."},
      {"unsupported_system",
       "error: Package ‘cudatoolkit-9.2’ in /n/p.nix:189 is not supported on ‘aarch64-linux’"},
      {"missing_attribute", "error: attribute 'cudaPackages_12_9' missing"},
      {"assertion", "error: assertion '(cudaSupport -> ((magma).cudaPackages == cudaPackages))' failed"},
      {"recursion", "error: infinite recursion encountered"},
      {"out_of_memory", "nvcc error   : '\"$CICC_PATH/cicc\"' died due to signal 9 (Kill signal)"},
      {"disk_full", "cp: error writing x: No space left on device"},
      {"hash_mismatch",
       "error: hash mismatch in fixed-output derivation 'D':\n  specified: sha256-A\n  got: sha256-B"},
      {"timeout", "error: building of 'D' from .drv file timed out after 3 seconds of silence"},
      {"unsupported_architecture", "nvcc fatal   : Unsupported gpu architecture 'compute_53'"},
      {"missing_features",
       "error: a 'x86_64-linux' with features {cuda} is required to build 'D', but I am a 'x86_64-linux' "
       "with features {benchmark}"},
      {"builder_failed", "error: builder for 'D' failed with exit code 3"},
      {"killed", "error: builder for 'D' failed due to signal 9 (Killed)"},
      {"no_kernel_image",
       "RuntimeError: CUDA error: no kernel image is available for execution on the device"},
  };
  for (const auto& [cause, text] : kTexts)
    EXPECT_EQ(CauseName(ClassifyText(text).classified.cause), cause) << text;
}

}  // namespace
}  // namespace hydrant
