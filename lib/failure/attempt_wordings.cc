#include "lib/failure/wordings.h"

namespace hydrant {
namespace {

constexpr char kNix28[] = "Nix 2.8, observed";
constexpr char kNew[] = "Nix 2.30 and later, source";
constexpr char kHydra[] = "Hydra";
constexpr char kNvcc[] = "nvcc";
constexpr char kGcc[] = "gcc";
constexpr char kBazel[] = "Bazel";

constexpr Wording kAttempt[] = {
    {Cause::kHashMismatch, "hash mismatch in fixed-output derivation", kNix28},
    {Cause::kHashMismatch, "output path '*' has * hash '*' when '*' was expected", "Nix 2.3"},
    {Cause::kTimeout, "^building of '*' from .drv file timed out after", kNix28},
    {Cause::kTimeout, "^building of '*' timed out after", "Nix 2.3 and 2.20"},
    {Cause::kTimeout, "^timed out after * seconds", kNew},
    {Cause::kLogLimit, "killed after writing more than * bytes of log output", kNix28},
    {Cause::kLogLimit, "Log limit exceeded", kHydra},
    {Cause::kOutputLimit, "Output limit exceeded", kHydra},
    {Cause::kMissingFeatures, "is required to build '*', but I am a '", kNix28},
    {Cause::kMissingFeatures, "required system or feature not available", kNew},
    {Cause::kMissingFeatures, "missing system features", kNew},
    {Cause::kMissingFeatures, "^platform mismatch", kNew},
    {Cause::kMissingFeatures, "local builds are disabled", kNew},
    {Cause::kNotDeterministic, "may not be deterministic", kNix28},
    {Cause::kDiskFull, "No space left on device", "errno"},
    {Cause::kDiskFull, "Disk quota exceeded", "errno"},
    {Cause::kOutOfMemory, "Cannot allocate memory", "errno"},
    {Cause::kOutputMissing, "failed to produce output", kNix28},
    {Cause::kBuilderFailed, "file '*' has an unsupported type", kNix28},  // a pipe or socket as output
    {Cause::kCancelled, "interrupted by the user", kNix28},
    {Cause::kFetchFailed, "unable to download '", kNix28},
    {Cause::kFetchFailed, "some substitutes for the outputs of derivation", kNix28},
    {Cause::kTransient, "does not exist, and substitution is disabled", kNix28},
    {Cause::kTransient, "cannot build missing derivation", kNix28},
    {Cause::kTransient, "don't know how to build these paths", kNix28},
    {Cause::kTransient, "unexpected end-of-file", kNix28},
    {Cause::kTransient, "Connection reset by peer", "errno"},
    {Cause::kTransient, "Connection refused", "errno"},
    {Cause::kTransient, "Broken pipe", "errno"},
    {Cause::kTransient, "cannot connect to", kNix28},
    {Cause::kTransient, "SQLite database", kNix28},
    {Cause::kTransient, "executing SQLite", kNix28},
    {Cause::kTransient, "Too many open files", "errno"},
    {Cause::kTransient, "Input/output error", "errno"},
};

constexpr Wording kLog[] = {
    // A full disk first: it makes tools die in many disguises.
    {Cause::kDiskFull, "No space left on device", "errno; ld and Bazel disguise it as a plain failure"},
    {Cause::kDiskFull, "no space left on device", "Go, Rust"},
    {Cause::kDiskFull, "Disk quota exceeded", "errno"},
    {Cause::kOutOfMemory, "died due to signal 9", kNvcc},
    {Cause::kOutOfMemory, "fatal error: Killed signal terminated program", kGcc},
    {Cause::kOutOfMemory, "internal compiler error: Killed", kGcc},
    {Cause::kOutOfMemory, "terminated with signal 9", "collect2"},
    {Cause::kOutOfMemory, "Server terminated abruptly", kBazel},
    {Cause::kOutOfMemory, "Cannot allocate memory", "errno"},
    {Cause::kOutOfMemory, "virtual memory exhausted", kGcc},
    {Cause::kOutOfMemory, "out of memory allocating", kGcc},
    {Cause::kOutOfMemory, "LLVM ERROR: out of memory", "LLVM"},
    {Cause::kOutOfMemory, "std::bad_alloc", "libstdc++"},
    {Cause::kOutOfMemory, "java.lang.OutOfMemoryError", kBazel},
    {Cause::kOutOfMemory, "^MemoryError", "Python"},
    {Cause::kOutOfMemory, "memory allocation of * bytes failed", "Rust"},
    {Cause::kOutOfMemory, "Out of memory: Killed process", "Linux"},
    {Cause::kUnsupportedArchitecture, "Unsupported gpu architecture '", kNvcc},
    {Cause::kUnsupportedArchitecture, "is not defined for option 'gpu-", "ptxas"},
    {Cause::kUnsupportedArchitecture, "unsupported CUDA gpu architecture", "clang"},
    {Cause::kUnsupportedCompiler, "unsupported GNU version", "CUDA crt/host_config.h"},
    {Cause::kUnsupportedCompiler, "unsupported clang version", "CUDA crt/host_config.h"},
    {Cause::kDuplicateModules, "Found duplicated packages in closure for dependency",
     "nixpkgs catch_conflicts"},
    {Cause::kDuplicateModules, "Package duplicates found in closure", "nixpkgs catch_conflicts"},
    {Cause::kDuplicateModules, "collision between `/", "nixpkgs buildEnv, withPackages"},
    {Cause::kDuplicateModules, "collision between '/", "Nix's own buildenv"},
    {Cause::kDuplicateModules, "two given paths contain a conflicting subpath", "nixpkgs buildEnv 2024"},
    {Cause::kLicenceGated, "requires manual nix-prefetch-url", "nixpkgs TensorRT, Nsight"},
    {Cause::kLicenceGated, "Unfortunately, we cannot download file", "nixpkgs requireFile"},
    {Cause::kLogLimit, "Log limit exceeded", kHydra},
    {Cause::kOutputLimit, "Output limit exceeded", kHydra},
    {Cause::kFetchFailed, "cannot download * from any mirror", "nixpkgs fetchurl"},
    {Cause::kFetchFailed, "^curl: (", "curl"},
    {Cause::kFetchFailed, "Could not resolve host", "curl, git"},
    {Cause::kFetchFailed, "^fatal: unable to access '", "git"},
    {Cause::kFetchFailed, "unable to download '", kNix28},
};

constexpr Wording kBuilder[] = {
    // 9 and 15 come from outside; other signals (11, 6, 4) are the program's own.
    {Cause::kKilled, "due to signal 9 ", kNix28},
    {Cause::kKilled, "due to signal 15 ", kNix28},
    {Cause::kKilled, "failed with exit code 137", "a shell's word for signal 9"},
    {Cause::kKilled, "failed with exit code 143", "a shell's word for signal 15"},
    {Cause::kBuilderFailed, "builder for '*' failed", kNix28},
    {Cause::kBuilderFailed, "builder failed", kNew},
    {Cause::kBuilderFailed, "failed with exit code", kNix28},
    // Last: the failure of the dependency itself, where the text has it too, says more.
    {Cause::kDependencyFailed, "dependencies of derivation '*' failed to build", kNix28},
    {Cause::kDependencyFailed, "dependency failed", kNew},
    {Cause::kDependencyFailed, "dependencies failed", kNew},
};

}  // namespace

std::span<const Wording> AttemptWordings() { return kAttempt; }

std::span<const Wording> LogWordings() { return kLog; }

std::span<const Wording> BuilderWordings() { return kBuilder; }

}  // namespace hydrant
