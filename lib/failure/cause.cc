#include "lib/failure/cause.h"

#include <array>
#include <cstddef>

namespace hydrant {
namespace {

enum Nature {
  kRefusal,         // an answer of the evaluation: there is no derivation to remember or to try again
  kEvaluatorDeath,  // no answer: evaluate again
  kPackage,         // another try gives the same
  kFarm,            // another try may mend it
  kNeither,         // neither remembered nor tried again by itself
};

struct Row {
  Cause cause;
  std::string_view name;
  Nature nature;
  std::string_view reason;
};

constexpr Row kRows[] = {
    {Cause::kNone, "", kNeither, "no failure"},
    {Cause::kUnfree, "unfree", kRefusal, "licence gate"},
    {Cause::kBroken, "broken", kRefusal, "meta.broken or a problem of that kind"},
    {Cause::kUnsupportedSystem, "unsupported_system", kRefusal, "meta.platforms"},
    {Cause::kInsecure, "insecure", kRefusal, "meta.knownVulnerabilities"},
    {Cause::kAssertion, "assertion", kRefusal, "assert"},
    {Cause::kThrow, "throw", kRefusal, "throw"},
    {Cause::kAbort, "abort", kRefusal, "abort"},
    {Cause::kMissingAttribute, "missing_attribute", kRefusal, "not in this revision"},
    {Cause::kTypeError, "type_error", kRefusal, "a fault in the expression"},
    {Cause::kRecursion, "recursion", kRefusal, "a fault in the expression"},
    {Cause::kStackOverflow, "stack_overflow", kRefusal, "unbounded recursion: the same at every try"},
    {Cause::kRemoved, "removed", kRefusal, "an alias that throws"},
    {Cause::kInterpreterDisabled, "interpreter_disabled", kRefusal, "the Python set refuses"},
    {Cause::kCapability, "capability", kRefusal, "CUDA and capability do not go together"},
    {Cause::kRule, "rule", kRefusal, "a rule of the farm"},
    {Cause::kExcluded, "excluded", kRefusal, "[[exclude]]"},
    {Cause::kIfdForbidden, "ifd_forbidden", kRefusal, "[nixpkgs] ifd = false"},
    {Cause::kNotADerivation, "not_a_derivation", kRefusal, "the attribute is something else"},
    {Cause::kSyntaxError, "syntax_error", kRefusal, "a fault in the expression"},
    {Cause::kMissingFile, "missing_file", kRefusal, "not in this revision"},
    {Cause::kFetchFailed, "fetch_failed", kEvaluatorDeath,
     "the network; of an attempt too, where another try may mend it"},
    {Cause::kEvaluatorOutOfMemory, "evaluator_out_of_memory", kEvaluatorDeath, "memory of the farm"},
    {Cause::kEvaluatorTimeout, "evaluator_timeout", kEvaluatorDeath, "time of the farm"},
    {Cause::kUnknown, "unknown", kEvaluatorDeath, "nothing is known, so nothing may be concluded"},
    {Cause::kBuilderFailed, "builder_failed", kPackage, "same inputs, same builder"},
    {Cause::kKilled, "killed", kFarm, "somebody outside ended it"},
    {Cause::kOutOfMemory, "out_of_memory", kFarm, "another worker has more, or fewer neighbours"},
    {Cause::kDiskFull, "disk_full", kFarm, "another worker has more"},
    {Cause::kTimeout, "timeout", kPackage, "would use the whole limit again; retry after raising it"},
    {Cause::kHashMismatch, "hash_mismatch", kPackage, "upstream moved, or the hash is wrong"},
    {Cause::kUnsupportedArchitecture, "unsupported_architecture", kPackage, "this nvcc never learns it"},
    {Cause::kUnsupportedCompiler, "unsupported_compiler", kPackage, "this nvcc never accepts it"},
    {Cause::kMissingFeatures, "missing_features", kNeither,
     "the worker's offer was wrong: placement's matter"},
    {Cause::kLogLimit, "log_limit", kPackage, "would write as much again"},
    {Cause::kOutputLimit, "output_limit", kPackage, "would write as much again"},
    {Cause::kOutputMissing, "output_missing", kPackage, "the builder does not make it"},
    {Cause::kDuplicateModules, "duplicate_modules", kPackage, "two variants in one environment"},
    {Cause::kLicenceGated, "licence_gated", kPackage, "nobody can fetch it unattended"},
    {Cause::kDependencyFailed, "dependency_failed", kNeither, "the root's matter"},
    {Cause::kTransient, "transient", kFarm, "said to be so"},
    {Cause::kLost, "lost", kFarm, "the worker went away"},
    {Cause::kUploadFailed, "upload_failed", kFarm, "network or store; the output is there"},
    {Cause::kCancelled, "cancelled", kNeither, "somebody wanted it"},
    {Cause::kCheckFailed, "check_failed", kNeither, "remembered by the check's own key"},
    {Cause::kAuditFailed, "audit_failed", kNeither, "judged from the derivation, or from the output, which stays staged"},
    {Cause::kNotDeterministic, "not_deterministic", kPackage, "two builds differ"},
    {Cause::kDriverTooOld, "driver_too_old", kNeither, "placement: another driver"},
    {Cause::kNoKernelImage, "no_kernel_image", kNeither, "remembered by the check's own key"},
    {Cause::kPtxTooNew, "ptx_too_new", kNeither, "placement: another driver"},
    {Cause::kLibraryMissing, "library_missing", kNeither, "remembered by the check's own key"},
    {Cause::kCpuFallback, "cpu_fallback", kNeither, "remembered by the check's own key"},
    {Cause::kGpuOutOfMemory, "gpu_out_of_memory", kNeither, "placement: more GPU memory"},
    {Cause::kDeviceLost, "device_lost", kFarm, "the GPU's fault: another one"},
    {Cause::kWrongResult, "wrong_result", kNeither, "remembered by the check's own key"},
};

constexpr bool RowsStandInEnumOrder() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (static_cast<size_t>(kRows[i].cause) != i) return false;
  }
  return kRows[std::size(kRows) - 1].cause == Cause::kWrongResult;
}
static_assert(RowsStandInEnumOrder(), "one row a cause, in the order of the enum");

const Row& RowOf(Cause cause) { return kRows[static_cast<size_t>(cause)]; }

}  // namespace

std::string_view CauseName(Cause cause) { return RowOf(cause).name; }

std::optional<Cause> ParseCause(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.cause;
  }
  return std::nullopt;
}

bool IsEvaluatorDeath(Cause cause) { return RowOf(cause).nature == kEvaluatorDeath; }

bool IsPackageFault(Cause cause) { return RowOf(cause).nature == kPackage; }

bool IsRetryable(Cause cause) { return RowOf(cause).nature == kFarm || cause == Cause::kFetchFailed; }

std::string_view FaultName(Cause cause) {
  if (cause == Cause::kUnknown) return "unknown";
  switch (RowOf(cause).nature) {
    case kRefusal: return "refusal";
    case kEvaluatorDeath: return "evaluator";
    case kPackage: return "package";
    case kFarm: return "farm";
    case kNeither: return "none";
  }
  return "";
}

std::string_view CauseReason(Cause cause) { return RowOf(cause).reason; }

}  // namespace hydrant
