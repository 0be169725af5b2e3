#include "daemon/record/postgres_cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "daemon/record/postgres_processes.h"
#include "lib/base/backoff.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

constexpr char kSettingsFile[] = "hydrant.conf";
constexpr size_t kLongestSocketPath = 107;  // sun_path holds 108 bytes, the last is NUL
constexpr absl::string_view kSocketName = "/.s.PGSQL.5432";
constexpr absl::Duration kRecovery = absl::Minutes(10);
constexpr absl::Duration kOrphans = absl::Seconds(30);
constexpr absl::Duration kPause = absl::Milliseconds(50);

// Runs one of the server's programs. Unavailable with what it said.
absl::Status RunProgram(const std::vector<std::string>& prefix, std::vector<std::string> command,
                        absl::Duration timeout) {
  Subprocess::Options options;
  options.argv = prefix;
  options.argv.insert(options.argv.end(), command.begin(), command.end());
  const char* path = getenv("PATH");
  // No PG… variable of ours may reach it.
  options.clear_env = true;
  options.env = {{"PATH", path != nullptr ? path : "/usr/bin:/bin"}, {"LC_ALL", "C"}};
  options.directory = std::string("/");
  options.die_with_parent = false;
  HYDRANT_ASSIGN_OR_RETURN(const Completed completed, Run(std::move(options), {}, timeout));
  if (completed.status.ok()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(std::filesystem::path(command[0]).filename().string(), ": ",
                                             completed.status.ToString(), ": ",
                                             absl::StripAsciiWhitespace(completed.err)));
}

std::string LastLines(const std::string& file) {
  const absl::StatusOr<std::string> text = ReadFile(file);
  if (!text.ok()) return "";
  return text->substr(text->size() - std::min<size_t>(text->size(), 1000));
}

// Characters that a list of hosts, pg_ctl's shell or a line of postgresql.conf would not take for themselves.
constexpr char kForbidden[] = ",\"$`\\\n";

// A path as an element of a list setting in postgresql.conf.
std::string QuotedSetting(const std::string& path) {
  return absl::StrCat("'\"", absl::StrReplaceAll(path, {{"'", "''"}}), "\"'");
}

// Ours, and nobody else may enter.
bool IsPrivate(const std::string& folder, uid_t uid) {
  struct stat info {};
  return lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == uid &&
         (info.st_mode & 077) == 0;
}

// True when the process ended within `timeout`, or is no more.
bool EndedWithin(pid_t pid, const std::string& data, absl::Duration timeout) {
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid() || !WorksIn(pid, data)) return true;
  pollfd end{process.get(), POLLIN, 0};
  return poll(&end, 1, static_cast<int>(absl::ToInt64Milliseconds(timeout))) > 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EmbeddedPostgres>> EmbeddedPostgres::Start(Options options) {
  auto cluster = std::unique_ptr<EmbeddedPostgres>(new EmbeddedPostgres(std::move(options)));
  HYDRANT_RETURN_IF_ERROR(cluster->TakeFolder());
  HYDRANT_RETURN_IF_ERROR(cluster->InitCluster());
  HYDRANT_RETURN_IF_ERROR(cluster->ChooseSocketFolder());
  HYDRANT_RETURN_IF_ERROR(cluster->EnsureRunning());
  const absl::Status created = cluster->CreateDatabase("hydrant");
  if (!created.ok() && !absl::IsAlreadyExists(created)) return created;
  cluster->stop_.Reset(eventfd(0, EFD_CLOEXEC));
  if (!cluster->stop_.valid()) return ErrnoStatus(errno, "make an eventfd");
  cluster->watch_ = std::thread([c = cluster.get()] { c->Watch(); });
  return cluster;
}

EmbeddedPostgres::~EmbeddedPostgres() {
  if (stop_.valid()) eventfd_write(stop_.get(), 1);
  if (watch_.joinable()) watch_.join();
}

std::string EmbeddedPostgres::Url(const std::string& database) const {
  return absl::StrCat("host='", absl::StrReplaceAll(socket_folder_, {{"'", "\\'"}}),
                      "' port=5432 user=hydrant dbname=", database);
}

pid_t EmbeddedPostgres::pid() const {
  MutexLock lock(mu_);
  return pid_;
}

absl::Status EmbeddedPostgres::CreateDatabase(const std::string& name, const std::string& source) {
  std::vector<std::string> command{installation_.programs + "/createdb", "--host=" + socket_folder_,
                                   "--port=5432", "--username=hydrant", "--no-password"};
  if (!source.empty()) command.push_back("--template=" + source);
  command.push_back(name);
  absl::Status status = RunProgram({}, command, absl::Minutes(1));
  if (absl::StrContains(status.message(), "already exists"))
    return absl::AlreadyExistsError(status.message());
  return status;
}

absl::Status EmbeddedPostgres::Stop() {
  if (stop_.valid()) eventfd_write(stop_.get(), 1);
  if (watch_.joinable()) watch_.join();
  // The watch may have been about to start it again: what counts is who is there now.
  const std::optional<PostmasterFile> file = ReadPostmasterFile(data_);
  if (file.has_value() && WorksIn(file->pid, data_)) HYDRANT_RETURN_IF_ERROR(EndServer(file->pid));
  if (socket_folder_ != options_.folder) rmdir(socket_folder_.c_str());
  MutexLock lock(mu_);
  pid_ = 0;
  return absl::OkStatus();
}

absl::Status EmbeddedPostgres::TakeFolder() {
  if (!options_.folder.starts_with('/') || options_.folder.find_first_of(kForbidden) != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("PostgreSQL's folder ", options_.folder,
                                                   ": expected an absolute path without any of , \" $ ` \\"));
  }
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(options_.folder, 0700));
  std::error_code error;
  options_.folder = std::filesystem::canonical(options_.folder, error).string();
  if (error) return absl::FailedPreconditionError(absl::StrCat("PostgreSQL's folder: ", error.message()));
  data_ = options_.folder + "/data";
  log_ = options_.folder + "/server.log";
  if (!FileExists(options_.folder + "/lock") && !std::filesystem::is_empty(options_.folder, error)) {
    return absl::FailedPreconditionError(absl::StrCat(
        options_.folder,
        ": is not empty and not a cluster that hydrantd made; name an empty or an absent folder"));
  }
  lock_.Reset(open((options_.folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_.valid()) return ErrnoStatus(errno, "open " + options_.folder + "/lock");
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    const absl::StatusOr<std::string> holder = ReadFile(options_.folder + "/lock");
    return absl::FailedPreconditionError(absl::StrCat("another hydrantd is active (pid ",
                                                      holder.value_or("unknown"),
                                                      ") and owns the PostgreSQL in ", options_.folder));
  }
  const std::string own_pid = absl::StrCat(getpid());
  if (ftruncate(lock_.get(), 0) != 0 || pwrite(lock_.get(), own_pid.data(), own_pid.size(), 0) < 0) {
    return ErrnoStatus(errno, "write " + options_.folder + "/lock");
  }
  if (chmod(options_.folder.c_str(), 0700) != 0) return ErrnoStatus(errno, "make private " + options_.folder);
  return absl::OkStatus();
}

absl::Status EmbeddedPostgres::InitCluster() {
  std::optional<int> version;
  if (const absl::StatusOr<std::string> text = ReadFile(data_ + "/PG_VERSION"); text.ok()) {
    version = 0;
    if (!absl::SimpleAtoi(*text, &*version)) {
      return absl::FailedPreconditionError(absl::StrCat(data_, "/PG_VERSION: expected a number, it has \"",
                                                        absl::StripAsciiWhitespace(*text), "\""));
    }
  }
  absl::StatusOr<PostgresInstallation> installation = FindPostgres(version);
  if (!installation.ok()) return Annotate(installation.status(), "the cluster in " + options_.folder);
  installation_ = *std::move(installation);
  HYDRANT_ASSIGN_OR_RETURN(identity_, ChoosePostgresIdentity(options_.folder, data_));
  if (version.has_value()) return absl::OkStatus();
  // Beside its place, so that a cluster is whole or absent.
  const std::string unfinished = data_ + ".new";
  HYDRANT_RETURN_IF_ERROR(RemoveTree(unfinished));
  std::vector<std::string> command{installation_.programs + "/initdb",
                                   "--pgdata=" + unfinished,
                                   "--username=hydrant",
                                   "--auth=trust",
                                   "--encoding=UTF8",
                                   "--locale=C"};
  if (!options_.durable) command.push_back("--no-sync");
  HYDRANT_RETURN_IF_ERROR(RunProgram(identity_.prefix, command, kRecovery));
  const std::string settings = unfinished + "/postgresql.conf";
  HYDRANT_ASSIGN_OR_RETURN(std::string text, ReadFile(settings));
  absl::StrAppend(&text, "\ninclude_if_exists = '", kSettingsFile, "'  # hydrantd writes it at each start\n");
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(settings, text));
  if (rename(unfinished.c_str(), data_.c_str()) != 0) return ErrnoStatus(errno, "rename " + unfinished);
  return absl::OkStatus();
}

// Where the server listens that is there; else in the cluster's own folder; where that has too long a name
// for a socket, in a short private one, which a server that died may have left to us. Chosen once: clients
// know it.
absl::Status EmbeddedPostgres::ChooseSocketFolder() {
  socket_folder_ = options_.folder;
  const std::optional<PostmasterFile> before = ReadPostmasterFile(data_);
  const std::string left = before.has_value() ? before->socket_folder : "";
  const bool too_long = options_.folder.size() + kSocketName.size() > kLongestSocketPath;
  if (!left.empty() && IsPrivate(left, identity_.uid) && (too_long || WorksIn(before->pid, data_))) {
    socket_folder_ = left;
  } else if (too_long) {
    std::string made = "/tmp/hydrant-postgres-XXXXXX";
    if (mkdtemp(made.data()) == nullptr)
      return ErrnoStatus(errno, absl::StrCat("make for PostgreSQL's socket ", made));
    socket_folder_ = made;
    Log(LogLevel::kInfo, "a socket's path holds 107 bytes: postgres listens elsewhere",
        {{"folder", options_.folder}, {"socket_folder", socket_folder_}});
  }
  return absl::OkStatus();
}

absl::Status EmbeddedPostgres::PrepareSocketFolder() const {
  if (socket_folder_ == options_.folder) return absl::OkStatus();
  // Whoever cleans /tmp may have taken it.
  if (mkdir(socket_folder_.c_str(), 0700) != 0 && errno != EEXIST)
    return ErrnoStatus(errno, "make " + socket_folder_);
  if (chown(socket_folder_.c_str(), identity_.uid, identity_.gid) != 0) {
    return ErrnoStatus(errno, absl::StrCat("give to the server's user ", socket_folder_));
  }
  if (IsPrivate(socket_folder_, identity_.uid)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(socket_folder_, ": is not private"));
}

absl::Status EmbeddedPostgres::WriteSettings() const {
  std::string text = absl::StrCat(
      "# Written by hydrantd at each start.\n"
      "listen_addresses = ''\n"
      "port = 5432\n"
      "unix_socket_directories = ",
      QuotedSetting(socket_folder_),
      "\n"
      "unix_socket_permissions = 0700\n"
      "max_connections = 30\n"
      "log_checkpoints = off\n"
      "jit = off\n");
  if (!options_.durable) absl::StrAppend(&text, "fsync = off\nfull_page_writes = off\n");
  return WriteFileAtomically(absl::StrCat(data_, "/", kSettingsFile), text);
}

absl::Status EmbeddedPostgres::EnsureRunning() {
  const absl::Time deadline = absl::Now() + kRecovery;
  bool launched = false;
  while (absl::Now() < deadline) {
    const std::optional<PostmasterFile> file = ReadPostmasterFile(data_);
    if (!file.has_value() || !WorksIn(file->pid, data_)) {
      if (launched) break;  // it was there, and went
      HYDRANT_RETURN_IF_ERROR(LaunchServer());
      launched = true;
      continue;
    }
    if (!file->socket_folder.empty() &&
        PQping((Url("postgres") + " connect_timeout=2").c_str()) == PQPING_OK) {
      Log(LogLevel::kInfo, launched ? "postgres started" : "postgres taken over",
          {{"pid", file->pid}, {"folder", options_.folder}, {"as", identity_.words}});
      MutexLock lock(mu_);
      pid_ = file->pid;
      return absl::OkStatus();
    }
    absl::SleepFor(kPause);  // it starts, recovers, or is about to end
  }
  return absl::UnavailableError(absl::StrCat("PostgreSQL in ", options_.folder,
                                             " does not answer; its log ends with: ", LastLines(log_)));
}

absl::Status EmbeddedPostgres::LaunchServer() {
  HYDRANT_RETURN_IF_ERROR(ClearStaleFiles());
  HYDRANT_RETURN_IF_ERROR(PrepareSocketFolder());
  HYDRANT_RETURN_IF_ERROR(WriteSettings());
  // pg_ctl gives the server a session of its own: it outlives us.
  const absl::Status started =
      RunProgram(identity_.prefix,
                 {installation_.programs + "/pg_ctl", "--pgdata=" + data_, "--log=" + log_, "--wait",
                  absl::StrCat("--timeout=", absl::ToInt64Seconds(kRecovery)), "start"},
                 kRecovery + absl::Minutes(1));
  if (started.ok()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("start PostgreSQL in ", options_.folder, ": ", started.message(),
                                             "; its log ends with: ", LastLines(log_)));
}

// A killed postmaster's children end by themselves, and no new one starts before. Its lock files are left to
// PostgreSQL, which knows when they are stale, but for one case: their number is a process that is no server
// of ours, or one that is dead and that nobody has reaped.
absl::Status EmbeddedPostgres::ClearStaleFiles() const {
  const absl::Time deadline = absl::Now() + kOrphans;
  std::vector<pid_t> orphans = ProcessesIn(data_);
  while (!orphans.empty()) {
    if (absl::Now() > deadline) {
      return absl::UnavailableError(
          absl::StrCat("start PostgreSQL in ", options_.folder,
                       ": processes of the server before still work there: ", absl::StrJoin(orphans, " ")));
    }
    absl::SleepFor(kPause);
    orphans = ProcessesIn(data_);
  }
  const std::optional<PostmasterFile> file = ReadPostmasterFile(data_);
  if (!file.has_value() || kill(file->pid, 0) != 0) return absl::OkStatus();
  Log(LogLevel::kInfo, "stale postmaster.pid removed", {{"folder", data_}, {"pid", file->pid}});
  HYDRANT_RETURN_IF_ERROR(RemoveTree(absl::StrCat(socket_folder_, kSocketName, ".lock")));
  return RemoveTree(data_ + "/postmaster.pid");
}

void EmbeddedPostgres::Watch() {
  Backoff backoff;
  backoff.most = absl::Seconds(10);
  std::minstd_rand random(std::random_device{}());
  int failures = 0;
  while (true) {
    const pid_t watched = pid();
    const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, watched, 0)));
    if (process.valid() && WorksIn(watched, data_)) {
      pollfd events[2] = {{process.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
      if (poll(events, 2, -1) < 0 && errno == EINTR) continue;
      if (events[1].revents != 0) return;
    }
    if (StopAskedWithin(failures == 0 ? absl::ZeroDuration() : backoff.Delay(failures, random))) return;
    if (failures == 0)
      Log(LogLevel::kError, "postgres ended, it is started again",
          {{"pid", watched}, {"folder", options_.folder}});
    {
      MutexLock lock(mu_);
      pid_ = 0;
    }
    const absl::Status started = EnsureRunning();
    failures = started.ok() ? 0 : failures + 1;
    if (!started.ok())
      Log(LogLevel::kError, "postgres does not start", {{"error", StdView(started.message())}});
  }
}

bool EmbeddedPostgres::StopAskedWithin(absl::Duration time) const {
  pollfd stop{stop_.get(), POLLIN, 0};
  return poll(&stop, 1, static_cast<int>(absl::ToInt64Milliseconds(time))) > 0;
}

absl::Status EmbeddedPostgres::EndServer(pid_t pid) const {
  kill(pid, SIGINT);  // fast
  if (EndedWithin(pid, data_, absl::Seconds(30))) return absl::OkStatus();
  kill(pid, SIGQUIT);  // immediate: it recovers at the next start
  if (EndedWithin(pid, data_, absl::Seconds(10))) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("PostgreSQL's process ", pid, " in ", options_.folder, " does not end"));
}

}  // namespace hydrant
