// The processes of one cluster, as the system shows them: its lock file postmaster.pid, and who works in its
// data folder.
#ifndef HYDRANT_DAEMON_RECORD_POSTGRES_PROCESSES_H_
#define HYDRANT_DAEMON_RECORD_POSTGRES_PROCESSES_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydrant {

struct PostmasterFile {
  pid_t pid = 0;
  std::string socket_folder;  // empty: not listening yet
};

// Nothing when it is no such file, or not written to its first line yet.
std::optional<PostmasterFile> ParsePostmasterFile(std::string_view text);
std::optional<PostmasterFile> ReadPostmasterFile(const std::string& data);

// Whether `pid` lives here; one that is dead and that nobody has reaped does not.
bool IsRunning(pid_t pid);

// Whether `pid` lives and works in `data`, as a postmaster and its children do; a number that another process
// has now does not.
bool WorksIn(pid_t pid, const std::string& data);

// All that work in `data`, those without a postmaster too.
std::vector<pid_t> ProcessesIn(const std::string& data);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_POSTGRES_PROCESSES_H_
