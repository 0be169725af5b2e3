#include "daemon/source/git_command.h"

#include <stdlib.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "lib/base/status_macros.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

struct Wording {
  const char* part;  // of a line of git's, ssh's or curl's
  absl::StatusCode code;
  const char* meaning;
};

// The first that occurs counts. Observed with git 2.39; "remote:" lines are the server's own words and are
// not looked at.
constexpr Wording kWordings[] = {
    {"No space left on device", absl::StatusCode::kResourceExhausted, "the disk is full"},
    {"died of signal 25", absl::StatusCode::kResourceExhausted, "it is larger than what is allowed"},
    {"File too large", absl::StatusCode::kResourceExhausted, "it is larger than what is allowed"},
    {"File size limit exceeded", absl::StatusCode::kResourceExhausted, "it is larger than what is allowed"},
    {"ut of memory", absl::StatusCode::kResourceExhausted, "git needs more memory than it may have"},
    {"not our ref", absl::StatusCode::kNotFound, "the server does not have the commit"},
    {"unadvertised object", absl::StatusCode::kFailedPrecondition, "the server gives no commit by itself"},
    {"does not support shallow", absl::StatusCode::kFailedPrecondition,
     "the server gives only whole histories"},
    {"transport '", absl::StatusCode::kInvalidArgument, "this way to a repository is not served"},
    {"Authentication failed", absl::StatusCode::kPermissionDenied, "the server wants credentials"},
    {"could not read Username", absl::StatusCode::kPermissionDenied, "the server wants credentials"},
    {"could not read Password", absl::StatusCode::kPermissionDenied, "the server wants credentials"},
    {"returned error: 401", absl::StatusCode::kPermissionDenied, "the server wants credentials"},
    {"returned error: 403", absl::StatusCode::kPermissionDenied, "the server refuses"},
    {"Host key verification failed", absl::StatusCode::kPermissionDenied, "the host's key is not known here"},
    {"dubious ownership", absl::StatusCode::kPermissionDenied, "the repository belongs to another user"},
    {"Permission denied", absl::StatusCode::kPermissionDenied, "access is refused"},
    {"does not appear to be a git repository", absl::StatusCode::kNotFound, "there is no git repository"},
    {"not found", absl::StatusCode::kNotFound, "there is no git repository"},
    {"returned error: 404", absl::StatusCode::kNotFound, "there is no git repository"},
    {"returned error: 410", absl::StatusCode::kNotFound, "there is no git repository"},
    {"repository not exported", absl::StatusCode::kNotFound, "there is no git repository"},
    {"not valid: is this a git repository", absl::StatusCode::kNotFound, "there is no git repository"},
    {"not a git repository", absl::StatusCode::kDataLoss, "the copy of it here is damaged"},
    {"bad object", absl::StatusCode::kDataLoss, "the copy of it here is damaged"},
    {"is corrupt", absl::StatusCode::kDataLoss, "the copy of it here is damaged"},
    {"unable to read tree", absl::StatusCode::kDataLoss, "the copy of it here is damaged"},
    {"unable to read sha1 file", absl::StatusCode::kDataLoss, "the copy of it here is damaged"},
    {"Could not resolve host", absl::StatusCode::kUnavailable, "the host is not known"},
    {"unable to look up", absl::StatusCode::kUnavailable, "the host is not known"},
    {"unable to access", absl::StatusCode::kUnavailable, "the server does not answer"},
    {"unable to connect", absl::StatusCode::kUnavailable, "the server does not answer"},
    {"Connection refused", absl::StatusCode::kUnavailable, "the server does not answer"},
    {"timed out", absl::StatusCode::kUnavailable, "the server does not answer"},
    {"RPC failed", absl::StatusCode::kUnavailable, "the server broke off"},
    {"early EOF", absl::StatusCode::kUnavailable, "the server broke off"},
    {"hung up", absl::StatusCode::kUnavailable, "the server broke off"},
    {"Connection reset", absl::StatusCode::kUnavailable, "the server broke off"},
    {"Could not read from remote repository", absl::StatusCode::kUnavailable, "the server does not answer"},
};

std::string Clean(const GitAddress& address, absl::string_view line) {
  std::string clean = absl::StrReplaceAll(line, {{address.url, address.shown}});
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  constexpr size_t kMaxLine = 300;
  return clean.size() > kMaxLine ? clean.substr(0, kMaxLine) + "…" : clean;
}

std::map<std::string, std::string> Environment(const GitCommand::Options& options,
                                               const GitAddress& address) {
  std::map<std::string, std::string> env = {
      {"HOME", options.home},
      {"LC_ALL", "C"},
      {"GIT_TERMINAL_PROMPT", "0"},
      {"GIT_ASKPASS", "false"},
      {"SSH_ASKPASS", "false"},
      {"GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=30"},
      {"GIT_CONFIG_NOSYSTEM", "1"},
      {"GIT_CONFIG_GLOBAL", "/dev/null"},
      {"GIT_ATTR_NOSYSTEM", "1"},
      {"GIT_ALLOW_PROTOCOL", address.directory.empty() ? "https:http:ssh:git" : "file"},
      {"PATH", options.search_path},
  };
  const auto pass = [&](const char* name) {
    if (const char* value = getenv(name); value != nullptr) env[name] = value;
  };
  if (options.search_path.empty()) pass("PATH");
  for (const char* name :
       {"TMPDIR", "SSL_CERT_FILE", "https_proxy", "http_proxy", "no_proxy", "SSH_AUTH_SOCK"})
    pass(name);
  if (const char* file = getenv("SSL_CERT_FILE"); file != nullptr) env["GIT_SSL_CAINFO"] = file;
  return env;
}

// Settings that hold whatever a repository's own file says.
constexpr const char* kSettings[] = {
    "core.hooksPath=/dev/null", "core.attributesFile=/dev/null",
    "core.fsmonitor=false",     "core.symlinks=true",
    "core.autocrlf=false",      "credential.helper=",
    "fetch.unpackLimit=1",      "gc.auto=0",
    "submodule.recurse=false",  "advice.detachedHead=false",
    "gc.packRefs=false",        "core.fsync=committed",
    "http.lowSpeedLimit=1000",  "http.lowSpeedTime=60",
    "pack.threads=2",
};

}  // namespace

absl::Status GitError(const GitAddress& address, std::string_view err) {
  absl::string_view last;
  for (absl::string_view line :
       absl::StrSplit(AbslView(err), absl::ByAnyChar("\r\n"), absl::SkipWhitespace())) {
    if (absl::StartsWith(line, "remote:")) continue;
    last = line;
  }
  const auto say = [&](absl::StatusCode code, absl::string_view meaning, absl::string_view line) {
    return absl::Status(
        code, absl::StrCat("git source ", address.shown, ": ", meaning, " (", Clean(address, line), ")"));
  };
  for (const Wording& wording : kWordings) {
    for (absl::string_view line : absl::StrSplit(AbslView(err), absl::ByAnyChar("\r\n"))) {
      if (absl::StartsWith(line, "remote:") || !absl::StrContains(line, wording.part)) continue;
      return say(wording.code, wording.meaning, line);
    }
  }
  return say(absl::StatusCode::kInternal, "git failed", last);
}

GitCommand GitCommand::Until(const std::atomic<bool>& cancelled) const {
  GitCommand bound = *this;
  bound.cancelled_ = &cancelled;
  return bound;
}

absl::StatusOr<std::string> GitCommand::Run(const GitAddress& address, std::vector<std::string> words,
                                            std::map<std::string, std::string> env) const {
  std::vector<std::string> argv = {"prlimit", "--core=0", absl::StrCat("--fsize=", options_.max_file_bytes),
                                   absl::StrCat("--data=", options_.max_memory_bytes), "git"};
  for (const char* setting : kSettings) argv.insert(argv.end(), {"-c", setting});
  argv.insert(argv.end(), std::make_move_iterator(words.begin()), std::make_move_iterator(words.end()));
  env.merge(Environment(options_, address));
  auto done = hydrant::Run({.argv = std::move(argv), .env = std::move(env), .clear_env = true}, {},
                           options_.timeout, size_t{64} << 20, cancelled_);
  if (absl::IsDeadlineExceeded(done.status())) {
    return absl::DeadlineExceededError(absl::StrCat("git source ", address.shown, ": no end within ",
                                                    absl::FormatDuration(options_.timeout)));
  }
  if (absl::IsCancelled(done.status()))
    return absl::CancelledError(absl::StrCat("git source ", address.shown, ": cancelled"));
  if (absl::IsNotFound(done.status()) || (done.ok() && done->status.code == 127)) {
    return absl::FailedPreconditionError(
        "git is not installed: there is no git in PATH (deploy/install-deps run installs it)");
  }
  if (!done.ok()) return done.status();
  if (!done->status.ok()) {
    if (done->err.empty()) absl::StrAppend(&done->err, "git ended with ", done->status.ToString());
    return GitError(address, done->err);
  }
  return std::move(done->out);
}

}  // namespace hydrant
