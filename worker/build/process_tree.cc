#include "worker/build/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hydrant::worker {
namespace {

struct ProcessStat {
  pid_t pid = 0, parent = 0;
  uint64_t own_ticks = 0, waited_ticks = 0, start = 0, pages = 0;
};

// Fields of proc(5) "stat"; the name in brackets may hold anything, so what follows the last bracket is read.
std::optional<ProcessStat> ReadStat(pid_t pid) {
  char path[64], line[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), &std::fclose);
  if (!file || std::fgets(line, sizeof line, file.get()) == nullptr) return std::nullopt;
  const std::string text = line;
  const size_t end = text.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  ProcessStat stat{.pid = pid};
  unsigned long long user, system;
  long long waited_user, waited_system;
  unsigned long long start, pages;
  int parent;
  const int n = std::sscanf(
      text.c_str() + end + 1,
      " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d %*d %*d %llu %*u %llu",
      &parent, &user, &system, &waited_user, &waited_system, &start, &pages);
  if (n != 7) return std::nullopt;
  stat.parent = parent;
  stat.own_ticks = user + system;
  stat.waited_ticks = waited_user + waited_system;
  stat.start = start;
  stat.pages = pages;
  return stat;
}

std::vector<ProcessStat> AllProcesses() {
  std::vector<ProcessStat> result;
  std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), &closedir);
  if (!folder) return result;
  while (const dirent* entry = readdir(folder.get())) {
    const int pid = atoi(entry->d_name);
    if (pid <= 0) continue;
    if (auto stat = ReadStat(pid)) result.push_back(*stat);
  }
  return result;
}

absl::Duration Ticks(uint64_t ticks) {
  return absl::Seconds(1) * static_cast<int64_t>(ticks) / sysconf(_SC_CLK_TCK);
}

}  // namespace

ProcessTree::ProcessTree(pid_t root) : root_(root) {
  if (const auto stat = root_ > 0 ? ReadStat(root_) : std::nullopt) cpu_at_start_ = Ticks(stat->waited_ticks);
}

ProcessUse ProcessTree::Sample() {
  ProcessUse use;
  if (root_ <= 0) return use;
  const std::vector<ProcessStat> all = AllProcesses();
  std::set<pid_t> family = {root_};
  for (bool grew = true; grew;) {
    grew = false;
    for (const ProcessStat& stat : all) {
      if (family.contains(stat.parent) && family.insert(stat.pid).second) grew = true;
    }
  }
  uint64_t ticks = 0;
  for (const ProcessStat& stat : all) {
    if (!family.contains(stat.pid)) continue;
    ticks += stat.waited_ticks;
    if (stat.pid == root_) continue;
    ticks += stat.own_ticks;
    use.memory_bytes += static_cast<int64_t>(stat.pages) * sysconf(_SC_PAGESIZE);
    seen_[stat.pid] = stat.start;
  }
  cpu_ = std::max(cpu_, Ticks(ticks) - cpu_at_start_);
  use.cpu = cpu_;
  max_memory_bytes_ = std::max(max_memory_bytes_, use.memory_bytes);
  return use;
}

void ProcessTree::KillSurvivors() {
  for (const auto& [pid, start] : seen_) {
    const auto stat = ReadStat(pid);
    if (stat && stat->start == start) kill(pid, SIGKILL);
  }
}

}  // namespace hydrant::worker
