// hydrantd: what the command line asks for. The farm itself is made in wiring.cc.
#include <stdio.h>

#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "daemon/config_reader.h"
#include "daemon/init.h"
#include "daemon/wiring.h"
#include "lib/base/log.h"

namespace hydrant {
namespace {

constexpr int kWorkFailed = 1, kUsage = 2;

int Fail(const absl::Status& status, int code) {
  fprintf(stderr, "hydrantd: %s\n", std::string(status.message()).c_str());
  return code;
}

int CheckConfig(const std::string& file) {
  absl::StatusOr<std::string> text = EffectiveConfig(file);
  if (!text.ok()) return Fail(text.status(), kUsage);
  fputs(text->c_str(), stdout);
  return 0;
}

int Init(const std::string& directory, const std::string& key_name) {
  absl::StatusOr<Initialised> made = InitDirectory(directory, key_name);
  if (!made.ok()) return Fail(made.status(), kUsage);
  printf("configuration  %s\npublic key     %s\noperator token %s\n\nThe token is shown this once. Start: hydrantd --config %s\n",
         made->config.c_str(), made->public_key.c_str(), made->token.c_str(), made->config.c_str());
  return 0;
}

int TokenNew(const std::string& tokens, const std::string& name, const std::string& role) {
  absl::StatusOr<std::string> token = IssueToken(tokens, name, role);
  if (!token.ok()) return Fail(token.status(), kUsage);
  printf("%s\n", token->c_str());
  return 0;
}

int Serve(const std::string& config) {
  absl::StatusOr<DaemonOptions> options = ReadDaemonOptions(config);
  if (!options.ok()) return Fail(options.status(), kUsage);
  absl::Status served = ServeFarm(*options);
  if (!served.ok()) return Fail(served, served.code() == absl::StatusCode::kInvalidArgument ? kUsage : kWorkFailed);
  return 0;
}

}  // namespace

int Main(int argc, char** argv) {
  CLI::App app("The scheduler of a Hydrant farm: evaluates matrices, leases steps to workers, serves the binary cache.", "hydrantd");
  app.set_version_flag("--version", std::string("hydrantd ") + HYDRANT_VERSION);
  std::string config, log_format = "text", log_level = "info", file, directory, key_name = "hydrant-1", name, role, tokens;
  app.add_option("--config", config, "configuration file (TOML)");
  app.add_option("--log-format", log_format, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
  app.add_option("--log-level", log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))->capture_default_str();
  CLI::App* check = app.add_subcommand("check-config", "validate a configuration and print what it means");
  check->add_option("FILE", file, "configuration file")->required();
  CLI::App* init = app.add_subcommand("init", "make a folder with a configuration, a cache key and an operator's token");
  init->add_option("DIR", directory, "the folder")->required();
  init->add_option("--key-name", key_name, "name of the cache's key, such as cache.example.org-1")->capture_default_str();
  CLI::App* token = app.add_subcommand("token", "tokens of users and workers")->require_subcommand(1);
  CLI::App* fresh = token->add_subcommand("new", "add a token and print it, this once");
  fresh->add_option("NAME", name, "whose it is")->required();
  fresh->add_option("--role", role, "reader, submitter, operator or worker")->required()
      ->check(CLI::IsMember({"reader", "submitter", "operator", "worker"}));
  fresh->add_option("--tokens", tokens, "the file of [auth] tokens")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  const std::map<std::string, LogLevel> levels = {{"debug", LogLevel::kDebug}, {"info", LogLevel::kInfo},
                                                  {"warning", LogLevel::kWarning}, {"error", LogLevel::kError}};
  ConfigureLog(log_format == "json" ? LogFormat::kJson : LogFormat::kText, levels.at(log_level));
  if (check->parsed()) return CheckConfig(file);
  if (init->parsed()) return Init(directory, key_name);
  if (fresh->parsed()) return TokenNew(tokens, name, role);
  if (config.empty()) return Fail(absl::InvalidArgumentError("expected --config FILE; `hydrantd init DIR` makes one"), kUsage);
  return Serve(config);
}

}  // namespace hydrant

int main(int argc, char** argv) { return hydrant::Main(argc, argv); }
