// Texts that speak of a failure without being one: each must keep the class that it has without those words.
#include <string>

#include "gtest/gtest.h"
#include "lib/failure/classify.h"

namespace hydrant {
namespace {

struct Innocent {
  const char* what;
  const char* line;  // of the log of a build that failed for a reason of its own
};

constexpr Innocent kInnocents[] = {
    {"GoogleTest begins a test", "[ RUN      ] CudaAllocator.std::bad_alloc"},
    {"GoogleTest's test passed", "[       OK ] Disk.No space left on device (3 ms)"},
    {"pytest's test passed", "tests/test_oom.py::test_raises[CUDA out of memory] PASSED [ 42%]"},
    {"pytest's last test passed", "tests/test_oom.py::test_raises[Cannot allocate memory] PASSED"},
    {"Go's test passed", "--- PASS: TestENOSPC/no_space_left_on_device (0.00s)"},
    {"Go begins a test", "=== RUN   TestENOSPC/no space left on device"},
    {"Rust's test passed", "test alloc::memory allocation of 8 bytes failed ... ok"},
    {"TAP's test passed", "ok 12 - curl reports Could not resolve host"},
    {"CTest's test passed", " 3/7 Test #3: LLVM ERROR: out of memory ........   Passed    0.02 sec"},
    {"a test's name with 'out of memory'", "test_out_of_memory (tests.AllocatorTest)"},
    {"unittest's test passed", "test_oom (t.T) raises std::bad_alloc ... ok"},
    {"a time limit of the package's own", "make[2]: *** [check] test timed out after 3 seconds"},
    {"a collision of names", "warning: collision between variable and function names"},
    {"a licence that is installed", "Installing: share/licenses/EULA.txt"},
    {"a program's own signal", "Segmentation fault (core dumped)"},
    {"a compiler's choice of memory", "checking for out of memory handler... yes"},
    {"a linker's failure without a reason", "collect2: error: ld returned 1 exit status"},
    {"an assertion of the package's own", "assertion 'a == b' failed"},
    {"a socket in a test", "test_client: Connection refused, as expected"},
};

constexpr char kFailed[] = "error: builder for '/nix/store/x.drv' failed with exit code 1";

TEST(Misreading, WhatALogMentionsIsNotWhyTheBuildFailed) {
  for (const Innocent& innocent : kInnocents) {
    EXPECT_EQ(ClassifyAttempt(3, kFailed, innocent.line).cause, Cause::kBuilderFailed) << innocent.what;
  }
}

TEST(Misreading, NorInAPastedText) {
  for (const Innocent& innocent : kInnocents) {
    const std::string text = std::string(innocent.line) + "\n" + kFailed +
                             ";\n       last 1 log lines:\n       > " + innocent.line +
                             "\n       For full logs, run 'nix log /nix/store/x.drv'.\n";
    const Guess guess = ClassifyText(text);
    EXPECT_EQ(guess.classified.cause, Cause::kBuilderFailed)
        << innocent.what << ": " << guess.classified.message;
    EXPECT_EQ(ClassifyAttemptText(text).cause, Cause::kBuilderFailed) << innocent.what;
  }
}

TEST(Misreading, AnEvaluationErrorMayQuoteAnything) {
  for (const char* words :
       {"it has an unfree license, they say", "we were killed by signal 9", "the worker is lost",
        "attribute 'x' missing is what it printed", "assertion failed, said the user"}) {
    const Cause cause =
        ClassifyEvaluation(std::string("error: evaluation aborted with the following error message: '") +
                           words + "'")
            .cause;
    EXPECT_TRUE(cause == Cause::kAbort || cause == Cause::kEvaluatorOutOfMemory)
        << words << ": " << CauseName(cause);
  }
}

TEST(Misreading, AFailedTestStillCounts) {
  EXPECT_EQ(
      ClassifyAttempt(3, kFailed, "tests/test_io.py::test_write FAILED - No space left on device").cause,
      Cause::kDiskFull);
  EXPECT_EQ(ClassifyAttempt(3, kFailed, "not ok 3 - Cannot allocate memory").cause, Cause::kOutOfMemory);
}

TEST(Misreading, AFailedBuildThatNamesAllGoalsIsNoThrow) {
  const Guess guess = ClassifyText("error: build of '/nix/store/a.drv', '/nix/store/b.drv' failed");
  EXPECT_EQ(guess.classified.cause, Cause::kUnknown);
}

}  // namespace
}  // namespace hydrant
