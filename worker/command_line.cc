#include "worker/command_line.h"

#include <CLI/CLI.hpp>

namespace hydrant::worker {

std::variant<CommandLine, int> ParseCommandLine(int argc, char** argv, std::string_view version) {
  CommandLine line;
  std::string log_format = "text", output = "table";
  CLI::App app("Builds, checks and pushes what a hydrantd gives it. Connects out; nobody connects to it.",
               "hydrant-worker");
  app.set_version_flag("--version", "hydrant-worker " + std::string(version));
  app.add_option("--config", line.config, "configuration file (TOML)");
  app.add_option("--server", line.server, "hydrantd's gRPC address, HOST:PORT");
  app.add_option("--name", line.name, "stable name; default: the host's");
  app.add_option("--store", line.store, "\"daemon\" or a folder whose Nix store is used");
  app.add_option("--slots", line.slots, "attempts at once")->check(CLI::Range(1, 10000));
  app.add_option("--token-file", line.token_file, "file with the token; else the variable HYDRANT_TOKEN");
  app.add_option("--metrics", line.metrics, "serve Prometheus metrics on HOST:PORT");
  app.add_flag("--once", line.once, "leave when there was no work for --idle");
  app.add_option("--idle", line.idle, "for --once, such as 30s")->capture_default_str();
  app.add_option("--drain-on", line.drain_on,
                 "signal on which what runs is finished first; any later one gives it back")
      ->check(CLI::IsMember({"SIGTERM", "SIGINT", "SIGUSR1", "none"}))
      ->capture_default_str();
  app.add_option("--log-format", log_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  CLI::App* probe =
      app.add_subcommand("probe", "print what this worker would offer, and what keeps it from working");
  probe->add_option("--output", output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  probe->fallthrough();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (probe->parsed()) line.command = CommandLine::Command::kProbe;
  line.json = output == "json";
  line.log_format = log_format == "json" ? LogFormat::kJson : LogFormat::kText;
  return line;
}

}  // namespace hydrant::worker
