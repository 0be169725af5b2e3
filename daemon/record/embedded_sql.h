// The .sql files of queries/ and schema/, as they were at build time. Knows nothing of what is in them.
#ifndef HYDRANT_DAEMON_RECORD_EMBEDDED_SQL_H_
#define HYDRANT_DAEMON_RECORD_EMBEDDED_SQL_H_

#include <span>
#include <string_view>

namespace hydrant {

struct EmbeddedFile {
  std::string_view name;  // "0001_first.sql"
  std::string_view text;
  std::string_view sha256;  // hexadecimal
};

// In order of name.
std::span<const EmbeddedFile> QueryFiles();
std::span<const EmbeddedFile> SchemaFiles();

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_EMBEDDED_SQL_H_
