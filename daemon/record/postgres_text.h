// Values in the text form that PostgreSQL reads and writes. Knows no connection.
#ifndef HYDRANT_DAEMON_RECORD_POSTGRES_TEXT_H_
#define HYDRANT_DAEMON_RECORD_POSTGRES_TEXT_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hydrant {

// An array, element by element: {"a","b\"c",NULL}.
class ArrayText {
 public:
  void Add(std::string_view element);
  void AddNull();
  std::string Take();  // leaves an empty array

 private:
  void Separate();
  std::string text_ = "{";
};

std::string ArrayOf(std::span<const std::string> elements);
// InvalidArgument when it is no array of one dimension without NULLs.
absl::StatusOr<std::vector<std::string>> ParseArray(std::string_view text);

// timestamptz, cut to the microsecond; InfiniteFuture and InfinitePast are 'infinity' and '-infinity'. Read
// with TimeZone UTC.
std::string TimeText(absl::Time time);
absl::StatusOr<absl::Time> ParseTimeText(std::string_view text);

// bytea in hexadecimal: \x00ff.
std::string BytesText(std::string_view bytes);
absl::StatusOr<std::string> ParseBytes(std::string_view text);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_POSTGRES_TEXT_H_
