#include "lib/failure/wordings.h"

namespace hydrant {
namespace {

constexpr char kNix28[] = "Nix 2.8, observed";
constexpr char kNew[] = "Nix 2.20 and later, source";
constexpr char kCheckMeta[] = "nixpkgs check-meta.nix";
constexpr char kProblems[] = "nixpkgs problems (RFC 127)";
constexpr char kBackend[] = "nixpkgs cuda-modules: backendStdenv, cuda_nvcc";
constexpr char kEvalJobs[] = "nix-eval-jobs, source";
constexpr char kAlias[] = "nixpkgs aliases.nix";

constexpr Wording kDeath[] = {
    {Cause::kEvaluatorOutOfMemory, "GC Warning: Out of Memory", "Boehm GC, observed"},
    {Cause::kEvaluatorOutOfMemory, "error: out of memory", kNix28},
    {Cause::kEvaluatorOutOfMemory, "std::bad_alloc", kNix28},
    {Cause::kEvaluatorOutOfMemory, "worker got killed by SIGKILL", kEvalJobs},
    {Cause::kEvaluatorOutOfMemory, "killed by signal 9", kEvalJobs},
    {Cause::kStackOverflow, "error: stack overflow", kNix28},
    {Cause::kStackOverflow, "worker got killed by SIGSEGV", kEvalJobs},
};

constexpr Wording kEvaluation[] = {
    {Cause::kStackOverflow, "^stack overflow", kNix28},
    {Cause::kStackOverflow, "max-call-depth exceeded", kNew},
    {Cause::kRecursion, "infinite recursion encountered", kNix28},
    {Cause::kTypeError, "Function called without required argument", "nixpkgs callPackageWith"},
    {Cause::kAbort, "^evaluation aborted with the following error message", kNix28},
    {Cause::kCapability, "Requested CUDA capabilities which are too", kBackend},
    {Cause::kCapability, "Requested unrecognized CUDA capabilities", kBackend},
    {Cause::kCapability, "Jetson CUDA capabilities (*) require", kBackend},
    {Cause::kCapability, "Jetson CUDA capabilities (*) cannot be specified with other", kBackend},
    {Cause::kCapability, "Jetson devices cannot be targeted with non-Jetson", "nixpkgs 2023 flags.nix"},
    {Cause::kCapability, "No supported GPU targets specified", "nixpkgs torch"},
    {Cause::kUnsupportedCompiler, "no supported host compiler found", kBackend},
    {Cause::kUnsupportedCompiler, "Couldn't find a host compiler compatible with NVCC", kBackend},
    {Cause::kUnfree, "has an unfree license", kCheckMeta},
    {Cause::kUnfree, "has a blocklisted license", kCheckMeta},
    {Cause::kInsecure, "is marked as insecure", kCheckMeta},
    {Cause::kBroken, "is marked as broken", kCheckMeta},
    {Cause::kUnsupportedSystem, "is not supported on '", kCheckMeta},
    {Cause::kUnsupportedSystem, "is not available on the requested hostPlatform", kCheckMeta},
    {Cause::kRemoved, "(kind \"removal\")", kProblems},
    {Cause::kInsecure, "(kind \"insecure\")", kProblems},
    {Cause::kBroken, "(kind \"broken\")", kProblems},
    {Cause::kUnsupportedSystem, "(kind \"unsupported\")", kProblems},
    {Cause::kInterpreterDisabled, "not supported for interpreter", "nixpkgs mk-python-derivation"},
    {Cause::kIfdForbidden, "allow-import-from-derivation", kNix28},
    {Cause::kIfdForbidden, "cannot substitute path '*' - no write access to the Nix store", kNix28},
    {Cause::kAssertion, "^assertion '*' failed", kNix28},
    {Cause::kAssertion, "^assertion failed", kNew},
    {Cause::kNotADerivation, "does not evaluate to a derivation", kNix28},
    {Cause::kNotADerivation, "is not a derivation", kNew},
    {Cause::kMissingAttribute, "^attribute '*' missing", kNix28},
    {Cause::kMissingAttribute, "attribute '*' in selection path '*' not found", kNix28},
    {Cause::kMissingAttribute, "does not provide attribute", kNix28},
    {Cause::kSyntaxError, "^syntax error", kNix28},
    {Cause::kSyntaxError, "^undefined variable", kNix28},
    // Faults of the farm or of a build inside the evaluation: nothing is known of the package.
    {Cause::kUnknown, "No space left on device", "errno"},
    {Cause::kUnknown, "Cannot allocate memory", "errno"},
    {Cause::kUnknown, "Too many open files", "errno"},
    {Cause::kUnknown, "Permission denied", "errno"},
    {Cause::kUnknown, "Read-only file system", "errno"},
    {Cause::kUnknown, "Input/output error", "errno"},
    {Cause::kUnknown, "Connection refused", "errno"},
    {Cause::kUnknown, "Connection reset by peer", "errno"},
    {Cause::kUnknown, "Broken pipe", "errno"},
    {Cause::kUnknown, "cannot connect to", kNix28},
    {Cause::kUnknown, "unexpected end-of-file", kNix28},
    {Cause::kUnknown, "SQLite database", kNix28},
    {Cause::kUnknown, "executing SQLite", kNix28},
    {Cause::kUnknown, "interrupted by the user", kNix28},
    {Cause::kUnknown, "cached failure of attribute", kNix28},
    {Cause::kUnknown, "^path '*' is not valid", kNix28},
    {Cause::kUnknown, "^builder for '*' failed", kNix28},
    {Cause::kUnknown, "^Cannot build '", kNew},
    {Cause::kUnknown, "dependencies of derivation '*' failed to build", kNix28},
    {Cause::kUnknown, "^build of '*' failed", kNix28},
    {Cause::kUnknown, "is required to build '", kNix28},
    {Cause::kUnknown, "from .drv file timed out after", kNix28},
    {Cause::kUnknown, "hash mismatch in fixed-output derivation", kNix28},
    {Cause::kUnknown, "killed after writing more than", kNix28},
    {Cause::kUnknown, "failed to produce output path", kNix28},
    {Cause::kFetchFailed, "^unable to download '", kNix28},
    {Cause::kFetchFailed, "hash mismatch in file downloaded from", kNix28},
    {Cause::kFetchFailed, "NAR hash mismatch", kNix28},
    {Cause::kFetchFailed, "Could not resolve host", "curl"},
    {Cause::kFetchFailed, "program 'git' failed", kNix28},
    {Cause::kFetchFailed, "Failed to fetch git repository", kNew},
    {Cause::kMissingFile, "No such file or directory", kNix28},
    {Cause::kMissingFile, "was not found in the Nix search path", kNix28},
    {Cause::kMissingFile, "^path '*' does not exist", kNew},
    {Cause::kTypeError, "attempt to call something which is not a function", kNix28},
    {Cause::kTypeError, "called without required argument", kNix28},
    {Cause::kTypeError, "called with unexpected argument", kNix28},
    {Cause::kTypeError, "value is * while * was expected", kNix28},
    {Cause::kTypeError, "^expected a* but found ", kNew},
    {Cause::kTypeError, "^cannot add ", kNix28},
    {Cause::kTypeError, "^cannot coerce ", kNix28},
    {Cause::kTypeError, "^cannot compare ", kNix28},
    {Cause::kTypeError, "^cannot convert ", kNix28},
    {Cause::kTypeError, "^cannot decode ", kNix28},
    {Cause::kTypeError, "^division by zero", kNix28},
    {Cause::kTypeError, "^list index * is out of bounds", kNix28},
    {Cause::kTypeError, "called on an empty list", kNix28},
    {Cause::kTypeError, "doesn't represent an absolute path", kNix28},
    {Cause::kTypeError, "cannot be represented as", kNix28},
    {Cause::kTypeError, "^invalid regular expression", kNix28},
    {Cause::kTypeError, "is not allowed to refer to a store path", kNix28},
    {Cause::kTypeError, "^[json.exception.", "Nix 2.8: builtins.fromJSON of something else"},
    {Cause::kAssertion, " is not equal to ", kNew},
    // Last: prose of a throw, so whatever is exact comes before.
    {Cause::kRemoved, "has been removed", kAlias},
    {Cause::kRemoved, "have been removed", kAlias},
    {Cause::kRemoved, "was removed", kAlias},
    {Cause::kRemoved, "is now part of", kAlias},
    {Cause::kRemoved, "has been renamed to", kAlias},
    {Cause::kRemoved, "was renamed to", kAlias},
    {Cause::kRemoved, "has been replaced", kAlias},
    {Cause::kRemoved, "has been superseded", kAlias},
};

}  // namespace

std::span<const Wording> EvaluatorDeathWordings() { return kDeath; }

std::span<const Wording> EvaluationWordings() { return kEvaluation; }

}  // namespace hydrant
