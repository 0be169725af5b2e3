// hydrant-worker's flags.
#ifndef HYDRANT_WORKER_COMMAND_LINE_H_
#define HYDRANT_WORKER_COMMAND_LINE_H_

#include <string_view>
#include <variant>

#include "worker/worker_options.h"

namespace hydrant::worker {

// The flags, or the exit status when --help or --version was printed (0) or the usage was wrong (2, said on
// standard error).
std::variant<CommandLine, int> ParseCommandLine(int argc, char** argv, std::string_view version);

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_COMMAND_LINE_H_
