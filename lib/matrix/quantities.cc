#include "lib/matrix/quantities.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

constexpr std::string_view kDigits = "0123456789";

absl::Status BadDuration(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("'", std::string(text),
                                                 "' is not a duration; expected whole numbers with units d, "
                                                 "h, m, s or ms, larger units first, such as \"90d\", "
                                                 "\"12h\", \"1h30m\" or \"10s\""));
}

absl::Status BadSize(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("'", std::string(text),
                                                 "' is not a byte size; expected a number and one of B, kB, "
                                                 "MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB, such as "
                                                 "\"2TB\", \"1500MB\" or \"64MiB\""));
}

// Takes the leading digits; nullopt when there are none or too many.
std::optional<int64_t> TakeNumber(std::string_view* text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || text->front() == '-') return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return value;
}

struct TimeUnit {
  std::string_view name;
  int64_t milliseconds;
};
constexpr TimeUnit kTimeUnits[] = {
    {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};
constexpr int64_t kLongest = int64_t{1000} * 365 * 86'400'000;  // a thousand years, in ms

std::optional<uint64_t> UnitBytes(std::string_view unit) {
  if (unit == "B") return 1;
  constexpr std::string_view kPrefixes = "KMGTP";
  const bool binary = unit.ends_with("iB");
  if (!unit.ends_with('B') || unit.size() != (binary ? 3u : 2u)) return std::nullopt;
  const size_t power = kPrefixes.find(unit[0] == 'k' && !binary ? 'K' : unit[0]);
  if (power == kPrefixes.npos) return std::nullopt;
  uint64_t bytes = 1;
  for (size_t i = 0; i <= power; ++i) bytes *= binary ? 1024 : 1000;
  return bytes;
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDurationText(std::string_view text) {
  std::string_view rest = text;
  int64_t total = 0;
  const TimeUnit* next = std::begin(kTimeUnits);
  if (rest.empty()) return BadDuration(text);
  while (!rest.empty()) {
    const auto number = TakeNumber(&rest);
    const std::string_view unit = rest.substr(0, rest.find_first_of(kDigits));
    while (next != std::end(kTimeUnits) && next->name != unit) ++next;
    if (!number || next == std::end(kTimeUnits)) return BadDuration(text);
    if (*number > (kLongest - total) / next->milliseconds) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", std::string(text), "' is longer than a thousand years"));
    }
    total += *number * next->milliseconds;
    rest.remove_prefix(unit.size());
    ++next;
  }
  return absl::Milliseconds(total);
}

absl::StatusOr<uint64_t> ParseByteSize(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  const bool fractional = digits < text.size() && text[digits] == '.';
  const size_t end = fractional ? std::min(text.find_first_not_of(kDigits, digits + 1), text.size()) : digits;
  const auto unit = UnitBytes(text.substr(end));
  if (digits == 0 || !unit || (fractional && end == digits + 1)) return BadSize(text);

  // Decimals beyond the twelfth are less than a byte of a petabyte's thousandth and do not count.
  constexpr unsigned __int128 kMost = std::numeric_limits<int64_t>::max();
  unsigned __int128 number = 0, scale = 1;
  for (size_t i = 0; i < std::min(end, digits + 1 + 12); ++i) {
    if (text[i] == '.') continue;
    number = number * 10 + static_cast<unsigned>(text[i] - '0');
    if (i > digits) scale *= 10;
    if (number / scale > kMost / *unit) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", std::string(text), "' is more than any disk holds"));
    }
  }
  return static_cast<uint64_t>(number * *unit / scale);
}

}  // namespace hydrant
