#include "lib/base/log.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "lib/base/sigpipe_block.h"

namespace hydrant {
namespace {

LogFormat g_format = LogFormat::kText;
LogLevel g_least = LogLevel::kInfo;
bool g_journal = false;

constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
constexpr const char* kPriorities[] = {"<7>", "<6>", "<4>", "<3>"};

// systemd names the device and inode of the stream that it reads; standard error may have been redirected
// since.
bool StandardErrorIsJournal() {
  const char* stream = getenv("JOURNAL_STREAM");
  struct stat info {};
  unsigned long long device = 0, inode = 0;
  return stream != nullptr && std::sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
         fstat(STDERR_FILENO, &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

// The length of the valid UTF-8 sequence at `i`, 0 when there is none.
size_t Utf8Length(std::string_view s, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(k < s.size() ? s[k] : 0); };
  const unsigned char lead = byte(i);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : (lead & 0xF0) == 0xE0       ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  for (size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(i + 1);
  const bool overlong_or_surrogate = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
                                     (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90);
  return overlong_or_surrogate ? 0 : length;
}

void AppendQuoted(std::string& out, std::string_view s) {
  out += '"';
  for (size_t i = 0; i < s.size();) {
    const size_t length = Utf8Length(s, i);
    if (s[i] == '"' || s[i] == '\\') {
      out += '\\';
      out += s[i];
    } else if (s[i] == '\n') {
      out += "\\n";
    } else if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (static_cast<unsigned char>(s[i]) < 0x20 || s[i] == 0x7F) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned char>(s[i]));
    } else {
      out.append(s, i, length);
    }
    i += length == 0 ? 1 : length;
  }
  out += '"';
}

void AppendValue(std::string& out, std::string_view s) {
  bool plain = !s.empty();
  for (const char c : s) plain = plain && c > ' ' && c < 0x7F && c != '"' && c != '=' && c != '\\';
  if (plain) {
    out.append(s);
  } else {
    AppendQuoted(out, s);
  }
}

std::string TextLine(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  std::string line;
  if (g_journal) {
    line = kPriorities[static_cast<int>(level)];
  } else {
    line = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ ", absl::Now(), absl::UTCTimeZone());
    line += kNames[static_cast<int>(level)];
    line += ' ';
  }
  for (const char c : event) line += c == '\n' ? ' ' : c;
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    AppendValue(line, field.value);
  }
  return line;
}

std::string JsonLine(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  std::string line = g_journal ? kPriorities[static_cast<int>(level)] : "";
  line +=
      absl::FormatTime("{\"time\":\"%Y-%m-%dT%H:%M:%E3SZ\",\"level\":\"", absl::Now(), absl::UTCTimeZone());
  line += kNames[static_cast<int>(level)];
  line += "\",\"event\":";
  AppendQuoted(line, event);
  for (const LogField& field : fields) {
    line += ',';
    AppendQuoted(line, field.key);
    line += ':';
    AppendQuoted(line, field.value);
  }
  return line + "}";
}

}  // namespace

void ConfigureLog(LogFormat format, LogLevel least) {
  g_format = format;
  g_least = least;
  g_journal = StandardErrorIsJournal();
}

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (level < g_least) return;
  std::string line =
      g_format == LogFormat::kJson ? JsonLine(level, event, fields) : TextLine(level, event, fields);
  line += '\n';
  SigpipeBlock no_sigpipe;
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // nobody is left to be told
}

}  // namespace hydrant
