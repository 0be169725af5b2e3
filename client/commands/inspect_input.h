// What the inspect verbs read: files, standard input, paths of a store that lies below another root. Knows
// nothing of formats.
#ifndef HYDRANT_CLIENT_COMMANDS_INSPECT_INPUT_H_
#define HYDRANT_CLIENT_COMMANDS_INSPECT_INPUT_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hydrant::client {

// Where `path` lies on this machine's disk: below `root` when it is one of /nix/store and a root is given.
std::string PathOnDisk(const std::string& root, const std::string& path);

// "x.drv" of "x.drv!out" and "x.drv^out", as Nix prints and takes the outputs of a derivation.
std::string WithoutOutputs(const std::string& derivation);

// The whole file, or standard input for "-". Errors name it; OutOfRange when it is longer than `limit` bytes.
absl::StatusOr<std::string> ReadInput(const std::string& path, size_t limit);

// InvalidArgument when standard input is a terminal. `example` shows the right call.
absl::Status ExpectPipedInput(const std::string& example);

// An error of what stands in `path`, which is no error of usage: the verb's work failed.
absl::Status Malformed(const std::string& path, const absl::Status& status);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_COMMANDS_INSPECT_INPUT_H_
