#include "daemon/evaluate/eval_jobs_probe.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/evaluate/driver_request.h"
#include "daemon/evaluate/evaluator_death.h"
#include "daemon/evaluate/run_folder.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(1);
constexpr size_t kLastWords = 500;  // bytes

}  // namespace

std::vector<std::string> LookupArguments(const std::map<std::string, std::string>& env) {
  std::vector<std::string> arguments;
  const auto path = env.find("NIX_PATH");
  if (path == env.end()) return arguments;
  for (const absl::string_view entry : absl::StrSplit(path->second, ':', absl::SkipEmpty())) {
    arguments.push_back("-I");
    arguments.emplace_back(entry);
  }
  return arguments;
}

absl::Status CheckIsRestricted(const std::string& program, std::map<std::string, std::string> env,
                               const std::string& folder) {
  HYDRANT_ASSIGN_OR_RETURN(const auto shown, RunFolder::Make(folder));
  HYDRANT_ASSIGN_OR_RETURN(const auto hidden, RunFolder::Make(folder));
  const std::string open = NewMark(), secret = NewMark(), expression = shown->path() + "/probe.nix";
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(shown->path() + "/open", open));
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(hidden->path() + "/secret", secret));
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(
      expression, absl::StrCat("{ }: { open = throw (builtins.readFile ./open); secret = throw (builtins.readFile \"",
                               hidden->path(), "/secret\"); }")));
  env["NIX_PATH"] = "probe=" + shown->path();
  std::vector<std::string> argv = {program, "--workers", "1"};
  for (std::string& argument : LookupArguments(env)) argv.push_back(std::move(argument));
  argv.push_back(expression);
  auto done = Run({.argv = std::move(argv), .env = std::move(env), .clear_env = true}, {}, kPatience);
  const std::string setting = absl::StrCat("[nix] evaluator = \"", program, "\": ");
  if (!done.ok()) return absl::FailedPreconditionError(absl::StrCat(setting, done.status().message()));
  const std::string said = done->out + done->err;
  if (absl::StrContains(said, secret)) {
    return absl::FailedPreconditionError(
        absl::StrCat(setting, "it lets a tree read any file that hydrantd may read, as versions before 2.30 do, which undo "
                              "Nix's restrict-eval; take 2.30 or later, or \"nix\""));
  }
  if (absl::StrContains(said, open)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      setting, "it does not evaluate here (", done->status.ToString(), "): ",
      PrintableText(said.substr(said.size() - std::min(said.size(), kLastWords)))));
}

}  // namespace hydrant
