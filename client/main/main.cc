// hydrant: the command line of a farm.
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/console.h"
#include "client/format/text.h"
#include "client/grpc_client.h"
#include "client/main/command_line.h"
#include "lib/base/clock.h"

namespace hydrant::client {
namespace {

Environment ReadEnvironment() {
  Environment environment;
  for (const char* name : {"HYDRANT_SERVER", "HYDRANT_TOKEN", "XDG_CONFIG_HOME", "HOME", "NO_COLOR",
                           "COLUMNS", "TERM", "LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const char* value = std::getenv(name); value != nullptr) environment[name] = value;
  }
  return environment;
}

Exit Fail(Console& console, const absl::Status& status) {
  console.Err(absl::StrCat("hydrant: ", CleanLines(std::string(status.message())), "\n"));
  return ExitOf(status);
}

Exit Main(int argc, const char* const* argv) {
  const Environment environment = ReadEnvironment();
  StdConsole console(environment);
  absl::StatusOr<CommandLine> line = ParseCommandLine(argc, argv);
  if (!line.ok()) return Fail(console, line.status());
  if (!line->verb) {
    console.Out(line->text);
    return Exit::kOk;
  }
  const SystemClock clock;
  Session session({.connect = [&]() -> absl::StatusOr<std::unique_ptr<Client>> {
                     absl::StatusOr<ServerSettings> settings = ReadSettings(line->server, environment);
                     if (!settings.ok()) return settings.status();
                     return MakeGrpcClient(*settings);
                   },
                   .console = &console,
                   .clock = &clock,
                   .form = line->form});
  const absl::StatusOr<Exit> exit = line->verb(session);
  if (!exit.ok()) return Fail(console, exit.status());
  if (!console.ok()) return Fail(console, absl::DataLossError("standard output cannot be written"));
  return *exit;
}

}  // namespace
}  // namespace hydrant::client

int main(int argc, char** argv) {
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);  // errors come back as statuses, and are told once
  return static_cast<int>(hydrant::client::Main(argc, argv));
}
