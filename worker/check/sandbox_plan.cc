#include "worker/check/sandbox_plan.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant::worker {
namespace {

constexpr uid_t kNobody = 65534;
constexpr const char* kDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

class Planner {
 public:
  Planner(const SandboxSpec& spec, SandboxPlan& plan) : spec_(spec), plan_(plan) {}

  absl::Status Plan() {
    plan_.root = Text(spec_.root);
    plan_.user_namespace = spec_.user_namespace || geteuid() != 0;
    plan_.uid = plan_.gid = kNobody;
    Mount("tmpfs", spec_.root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=16m");
    HYDRANT_RETURN_IF_ERROR(MountAll());
    Folder("/proc");
    Mount("proc", Inside("/proc"), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
    Folder("/dev/shm");
    Mount("tmpfs", Inside("/dev/shm"), "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
    for (const auto& [target, link] :
         {std::pair("/proc/self/fd", "/dev/fd"), std::pair("/proc/self/fd/0", "/dev/stdin"),
          std::pair("/proc/self/fd/1", "/dev/stdout"), std::pair("/proc/self/fd/2", "/dev/stderr")}) {
      plan_.steps.push_back(
          {.kind = SandboxStep::Kind::kSymlink, .path = Text(Inside(link)), .source = Text(target)});
    }
    Mount(nullptr, spec_.root, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr);
    Command();
    return absl::OkStatus();
  }

 private:
  const char* Text(std::string text) { return plan_.texts.emplace_back(std::move(text)).c_str(); }
  std::string Inside(std::string_view path) const { return absl::StrCat(spec_.root, AbslView(path)); }

  void Mount(const char* source, const std::string& on, const char* type, unsigned long flags,
             const char* data) {
    plan_.steps.push_back({.kind = SandboxStep::Kind::kMount,
                           .path = Text(on),
                           .source = source == nullptr ? nullptr : Text(source),
                           .type = type,
                           .flags = flags,
                           .data = data});
  }

  // With those above it.
  void Folder(const std::string& path) {
    for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
      const std::string above = path.substr(0, slash);
      if (made_.insert(above).second) {
        plan_.steps.push_back({.kind = SandboxStep::Kind::kMakeFolder, .path = Text(Inside(above))});
      }
      if (slash == std::string::npos) return;
    }
  }

  absl::Status Bind(const SandboxMount& mount) {
    struct stat found;
    struct statvfs fs;
    if (stat(mount.source.c_str(), &found) != 0 || statvfs(mount.source.c_str(), &fs) != 0) {
      return ErrnoStatus(errno, "mount " + mount.source);
    }
    const bool device = S_ISCHR(found.st_mode);
    if (S_ISDIR(found.st_mode)) {
      Folder(mount.target);
    } else {
      const size_t slash = mount.target.rfind('/');
      if (slash > 0) Folder(mount.target.substr(0, slash));
      plan_.steps.push_back({.kind = SandboxStep::Kind::kMakeFile, .path = Text(Inside(mount.target))});
    }
    Mount(mount.source.c_str(), Inside(mount.target), nullptr, MS_BIND | MS_REC, nullptr);
    if (device) return absl::OkStatus();
    // In a user namespace the flags that the mount has already must be kept.
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV;
    if (!mount.writable) flags |= MS_RDONLY;
    if (fs.f_flag & ST_NOEXEC) flags |= MS_NOEXEC;
    if (fs.f_flag & ST_NOATIME) flags |= MS_NOATIME;
    if (fs.f_flag & ST_NODIRATIME) flags |= MS_NODIRATIME;
    if (fs.f_flag & ST_RELATIME) flags |= MS_RELATIME;
    Mount(nullptr, Inside(mount.target), nullptr, flags, nullptr);
    return absl::OkStatus();
  }

  absl::Status MountAll() {
    for (const char* device : kDevices) HYDRANT_RETURN_IF_ERROR(Bind({.source = device, .target = device}));
    HYDRANT_RETURN_IF_ERROR(Bind({.source = spec_.temporary, .target = "/tmp", .writable = true}));
    for (const SandboxMount& mount : spec_.mounts) HYDRANT_RETURN_IF_ERROR(Bind(mount));
    return absl::OkStatus();
  }

  void Command() {
    for (const std::string& argument : spec_.command) plan_.argv.push_back(const_cast<char*>(Text(argument)));
    for (const auto& [name, value] : spec_.env) {
      plan_.envp.push_back(const_cast<char*>(Text(absl::StrCat(name, "=", value))));
    }
    const std::string& program = spec_.command[0];
    const auto path = spec_.env.find("PATH");
    if (program.find('/') != std::string::npos || path == spec_.env.end()) {
      plan_.candidates.push_back(plan_.argv[0]);
    } else {
      for (const auto folder : absl::StrSplit(path->second, ':', absl::SkipEmpty())) {
        plan_.candidates.push_back(const_cast<char*>(Text(absl::StrCat(folder, "/", program))));
      }
    }
    for (auto* list : {&plan_.argv, &plan_.envp, &plan_.candidates}) list->push_back(nullptr);
  }

  const SandboxSpec& spec_;
  SandboxPlan& plan_;
  std::set<std::string> made_;
};

}  // namespace

absl::StatusOr<SandboxPlan> PlanSandbox(const SandboxSpec& spec) {
  if (spec.command.empty()) return absl::InvalidArgumentError("the command is empty");
  SandboxPlan plan;
  HYDRANT_RETURN_IF_ERROR(Planner(spec, plan).Plan());
  return plan;
}

std::string SandboxPlan::Describe(int step) const {
  switch (step) {
    case kNamespace:
      return "map the user";
    case kRoot:
      return "enter the new root";
    case kRights:
      return "give up rights";
    case kExec:
      return absl::StrCat("start ", argv[0]);
    default:
      break;
  }
  const SandboxStep& what = steps[static_cast<size_t>(step)];
  return absl::StrCat(what.kind == SandboxStep::Kind::kMount ? "mount " : "make ", what.path);
}

}  // namespace hydrant::worker
