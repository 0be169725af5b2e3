// What nix_bench can do, a function a verb: each does one operation of lib/nix on its arguments and standard
// streams, so that the process can be measured against a peer's. Verbs print what the driver reads; nothing
// here judges a figure.
#ifndef HYDRANT_TESTS_BENCH_NIX_VERBS_H_
#define HYDRANT_TESTS_BENCH_NIX_VERBS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace hydrant::nix::bench {

using Arguments = std::vector<std::string>;  // without the verb, as many as the verb's usage has

// NAR: PATH; DEST; PATH; PATH HASH-PARTS (a file of lines); HASH-PARTS; nothing.
absl::Status Dump(const Arguments& arguments);
absl::Status Restore(const Arguments& arguments);
absl::Status Hash(const Arguments& arguments);
absl::Status Scan(const Arguments& arguments);
absl::Status Verify(const Arguments& arguments);
absl::Status List(const Arguments& arguments);

// Codecs, from standard input to standard output: LEVEL THREADS; CODEC THREADS (more than 1: zstd from a
// file).
absl::Status Compress(const Arguments& arguments);
absl::Status Decompress(const Arguments& arguments);

// ROOT DRV REPEAT: loads the closure so often; prints counts and the CPU seconds of one load.
absl::Status Closure(const Arguments& arguments);

// Through a daemon for the store under ROOT; settings are in the environment. ROOT PATH: its archive to
// nowhere.
absl::Status NarFromPath(const Arguments& arguments);
// ROOT PATH: adds an archive from standard input; facts of it as `PATH HASH SIZE` (verify prints the last
// two).
absl::Status AddNar(const Arguments& arguments);
// ROOT, derivations on standard input: one after another with BuildDerivation.
absl::Status BuildEach(const Arguments& arguments);
// ROOT JOBS, derivations on standard input: all with one BuildPathsWithResults.
absl::Status BuildAll(const Arguments& arguments);

// RESULT-FD COMMAND…: runs the command and writes what it used to the descriptor as JSON.
absl::Status Measure(const Arguments& arguments);

// BYTES: a pseudo-random, half compressible stream; as the archive of one file of so many bytes.
absl::Status SampleStream(const Arguments& arguments);
absl::Status SampleNar(const Arguments& arguments);

}  // namespace hydrant::nix::bench

#endif  // HYDRANT_TESTS_BENCH_NIX_VERBS_H_
