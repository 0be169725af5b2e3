#include "worker/probe/machine_probe.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace hydrant::worker {
namespace {

int Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

std::string System() {
  struct utsname name {};
  uname(&name);
  const std::string machine = name.machine;
  // Nix's word for all of them.
  const bool x86_32 = machine == "i386" || machine == "i486" || machine == "i586";
  return absl::StrCat(x86_32 ? "i686" : machine, "-linux");
}

}  // namespace

MachineFacts ProbeMachine() {
  MachineFacts facts;
  facts.cores = Cores();
  facts.memory_bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  facts.system = System();
  facts.features = {"benchmark", "big-parallel"};
  if (access("/dev/kvm", R_OK | W_OK) == 0) {
    facts.features.push_back("kvm");
    facts.features.push_back("nixos-test");
  }
  return facts;
}

int64_t FreeDiskBytes(std::string path) {
  for (;;) {
    struct statvfs fs;
    if (statvfs(path.empty() ? "/" : path.c_str(), &fs) == 0) {
      return static_cast<int64_t>(fs.f_bavail) * static_cast<int64_t>(fs.f_frsize);
    }
    if (path.empty() || path == "/") return 0;
    const size_t slash = path.rfind('/');
    path = slash == std::string::npos ? "" : path.substr(0, slash);
  }
}

std::string HostName() {
  char buffer[256] = "";
  gethostname(buffer, sizeof buffer - 1);
  std::string name;
  for (const char c : absl::AsciiStrToLower(buffer)) {
    const bool allowed = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-';
    if (name.empty() && !absl::ascii_isalnum(static_cast<unsigned char>(c))) continue;
    name += allowed ? c : '-';
  }
  return name.empty() ? "worker" : name.substr(0, 63);
}

}  // namespace hydrant::worker
