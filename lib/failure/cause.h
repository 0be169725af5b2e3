// Why a variant, an attempt or a check did not succeed, as data: one word a cause, the same in proto, SQL,
// CLI and metrics. Knows nothing of who found it out.
#ifndef HYDRANT_LIB_FAILURE_CAUSE_H_
#define HYDRANT_LIB_FAILURE_CAUSE_H_

#include <optional>
#include <string_view>

namespace hydrant {

enum class FailureStage { kEvaluation, kAttempt, kCheck };

// kNone: no failure. A word that stands in two stages' lists (timeout, fetch_failed) is one value, told apart
// by its stage.
enum class Cause {
  kNone,
  // At evaluation or by rule.
  kUnfree,
  kBroken,
  kUnsupportedSystem,
  kInsecure,
  kAssertion,
  kThrow,
  kAbort,
  kMissingAttribute,
  kTypeError,
  kRecursion,
  kStackOverflow,
  kRemoved,
  kInterpreterDisabled,
  kCapability,
  kRule,
  kExcluded,
  kIfdForbidden,
  kNotADerivation,
  kSyntaxError,
  kMissingFile,
  kFetchFailed,
  kEvaluatorOutOfMemory,
  kEvaluatorTimeout,
  kUnknown,
  // Of an attempt.
  kBuilderFailed,
  kKilled,
  kOutOfMemory,
  kDiskFull,
  kTimeout,
  kHashMismatch,
  kUnsupportedArchitecture,
  kUnsupportedCompiler,
  kMissingFeatures,
  kLogLimit,
  kOutputLimit,
  kOutputMissing,
  kDuplicateModules,
  kLicenceGated,
  kDependencyFailed,
  kTransient,
  kLost,
  kUploadFailed,
  kCancelled,
  kCheckFailed,
  kAuditFailed,
  kNotDeterministic,
  // Of a check.
  kDriverTooOld,
  kNoKernelImage,
  kPtxTooNew,
  kLibraryMissing,
  kCpuFallback,
  kGpuOutOfMemory,
  kDeviceLost,
  kWrongResult,
};

// "unfree", "builder_failed", …; "" for kNone. ParseCause gives nullopt for a word that is in no list.
std::string_view CauseName(Cause cause);
std::optional<Cause> ParseCause(std::string_view name);

// A cause of an evaluation that died rather than answered: the variant is *failed* and the evaluation
// *incomplete*, never *impossible*; never cached.
bool IsEvaluatorDeath(Cause cause);

// The package's own fault: remembered by derivation, not tried again until `retry`. Everything else is the
// farm's.
bool IsPackageFault(Cause cause);

// A farm's fault that another try may mend (lost, transient, upload_failed, disk_full, killed, out_of_memory,
// fetch_failed, device_lost).
bool IsRetryable(Cause cause);

// Whose matter it is: "refusal" (an answer of the evaluation), "evaluator", "package", "farm" or "none" (another
// step's, placement's or the check's own), "unknown". And the reason in a few words.
std::string_view FaultName(Cause cause);
std::string_view CauseReason(Cause cause);

}  // namespace hydrant

#endif  // HYDRANT_LIB_FAILURE_CAUSE_H_
