// The command line: words into a verb with its options. The only place that knows CLI11, which is slow to
// compile.
#ifndef HYDRANT_CLIENT_MAIN_COMMAND_LINE_H_
#define HYDRANT_CLIENT_MAIN_COMMAND_LINE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "client/exit.h"
#include "client/session.h"
#include "client/settings.h"

namespace hydrant::client {

struct CommandLine {
  ServerArguments server;
  OutputForm form = OutputForm::kTable;
  std::function<absl::StatusOr<Exit>(Session&)> verb;  // null: `text` is the answer (--help, --version)
  std::string text;
};

// InvalidArgument says what is wrong with the words and which --help explains them.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_MAIN_COMMAND_LINE_H_
