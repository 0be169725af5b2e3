#include "daemon/record/postgres_processes.h"

#include <filesystem>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant {

std::optional<PostmasterFile> ParsePostmasterFile(std::string_view text) {
  // pid, data folder, start time, port, first socket folder, …: "src/include/utils/pidfile.h" of PostgreSQL.
  const std::vector<std::string> lines = absl::StrSplit(AbslView(text), '\n');
  PostmasterFile file;
  if (lines.size() < 2 || !absl::SimpleAtoi(lines[0], &file.pid) || file.pid <= 0) return std::nullopt;
  if (lines.size() > 4) file.socket_folder = lines[4];
  return file;
}

std::optional<PostmasterFile> ReadPostmasterFile(const std::string& data) {
  const absl::StatusOr<std::string> text = ReadFile(data + "/postmaster.pid");
  if (!text.ok()) return std::nullopt;
  return ParsePostmasterFile(*text);
}

bool IsRunning(pid_t pid) {
  // "PID (NAME) STATE …", and NAME may hold anything: proc(5).
  const absl::StatusOr<std::string> stat = ReadFile(absl::StrCat("/proc/", pid, "/stat"));
  if (!stat.ok()) return false;
  const size_t name_end = stat->rfind(')');
  return name_end != std::string::npos && name_end + 2 < stat->size() && (*stat)[name_end + 2] != 'Z' &&
         (*stat)[name_end + 2] != 'X';
}

bool WorksIn(pid_t pid, const std::string& data) {
  std::error_code error;
  return std::filesystem::read_symlink(absl::StrCat("/proc/", pid, "/cwd"), error) == data;
}

std::vector<pid_t> ProcessesIn(const std::string& data) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(entry.path().filename().string(), &pid) && WorksIn(pid, data)) found.push_back(pid);
  }
  return found;
}

}  // namespace hydrant
