// One line an event, key=value on a terminal or JSON: Log(kInfo, "lease granted", {{"attempt", "a7"}}).
// Never give it a secret: nothing here redacts.
#ifndef HYDRANT_LIB_BASE_LOG_H_
#define HYDRANT_LIB_BASE_LOG_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace hydrant {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

struct LogField {
  LogField(std::string_view key, std::string_view value) : key(key), value(value) {}
  LogField(std::string_view key, const char* value) : key(key), value(value) {}
  LogField(std::string_view key, const std::string& value) : key(key), value(value) {}
  LogField(std::string_view key, long long value) : key(key), value(std::to_string(value)) {}
  LogField(std::string_view key, unsigned long value) : key(key), value(std::to_string(value)) {}
  LogField(std::string_view key, long value) : key(key), value(std::to_string(value)) {}
  LogField(std::string_view key, int value) : key(key), value(std::to_string(value)) {}
  std::string key, value;
};

// Called once from main, before any thread. Under systemd (JOURNAL_STREAM set) lines carry "<N>" priorities.
void ConfigureLog(LogFormat format, LogLevel least);

// Writes one line to standard error in one write call. Any thread.
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace hydrant

#endif  // HYDRANT_LIB_BASE_LOG_H_
