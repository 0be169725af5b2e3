// The worker's configuration file under its flags, checked, as plain options.
#ifndef HYDRANT_WORKER_CONFIG_READER_H_
#define HYDRANT_WORKER_CONFIG_READER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/worker_options.h"

namespace hydrant::worker {

// InvalidArgument names file, line or flag, and what was expected. Without a token_file the token is
// `token_variable`. The name's default and measured values are left to the caller.
absl::StatusOr<WorkerOptions> ReadWorkerOptions(const CommandLine& line, std::string_view token_variable);

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_CONFIG_READER_H_
