// A small process starts the measured one: what a child's peak memory counts from is its parent's at the
// fork, and the driver's interpreter would hide small peers.
#include <errno.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "tests/bench/nix/verbs.h"

extern char** environ;

namespace hydrant::nix::bench {
namespace {

double Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double Seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

}  // namespace

absl::Status Measure(const Arguments& arguments) {
  FILE* result = fdopen(std::atoi(arguments[0].c_str()), "w");
  if (result == nullptr) return ErrnoStatus(errno, "open the result's descriptor");
  std::vector<char*> argv;
  for (size_t i = 1; i < arguments.size(); ++i) argv.push_back(const_cast<char*>(arguments[i].c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclose(&actions, fileno(result));
  const double start = Now();
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return ErrnoStatus(error, absl::StrCat("start ", arguments[1]));
  int status = 0;
  rusage used{};
  while (wait4(pid, &status, 0, &used) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, absl::StrCat("wait for ", arguments[1]));
  }
  std::fprintf(result,
               "{\"wall\": %.6f, \"user\": %.6f, \"system\": %.6f, \"peak_kib\": %ld, \"status\": %d}\n",
               Now() - start, Seconds(used.ru_utime), Seconds(used.ru_stime), used.ru_maxrss, status);
  std::fclose(result);
  return absl::OkStatus();
}

}  // namespace hydrant::nix::bench
