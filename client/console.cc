#include "client/console.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace hydrant::client {
namespace {

std::string Get(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

bool IsUtf8(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = absl::AsciiStrToLower(Get(environment, name));
    if (!value.empty()) return absl::StrContains(value, "utf-8") || absl::StrContains(value, "utf8");
  }
  return false;
}

constexpr int kPipeWidth = 160;  // of a pipe or file: wide enough for most grids, narrow enough to read

int WidthOf(int fd, const Environment& environment) {
  int columns = 0;
  if (absl::SimpleAtoi(Get(environment, "COLUMNS"), &columns) && columns > 0) return columns;
  winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return isatty(fd) ? 80 : kPipeWidth;
}

Screen ScreenOf(int fd, const Environment& environment) {
  const bool terminal = isatty(fd) == 1 && Get(environment, "TERM") != "dumb";
  return {.terminal = terminal,
          .colour = terminal && Get(environment, "NO_COLOR").empty(),
          .utf8 = IsUtf8(environment),
          .width = WidthOf(fd, environment),
          .zone = absl::LocalTimeZone()};
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

StdConsole::StdConsole(const Environment& environment)
    : out_(ScreenOf(STDOUT_FILENO, environment)), err_(ScreenOf(STDERR_FILENO, environment)) {}

void StdConsole::Out(std::string_view text) { ok_ = WriteAll(STDOUT_FILENO, text) && ok_; }
void StdConsole::Err(std::string_view text) { WriteAll(STDERR_FILENO, text); }

}  // namespace hydrant::client
