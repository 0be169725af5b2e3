#include "daemon/record/postgres_text.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr absl::string_view kTimeFormat = "%Y-%m-%d %H:%M:%E6S+00";

absl::Status NotA(std::string_view what, std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("read \"", AbslView(text.substr(0, 80)), "\" as ", AbslView(what)));
}

// The element at the front of `rest`, up to and without the `,` or `}` after it.
std::optional<std::string> TakeElement(std::string_view& rest) {
  std::string element;
  if (!rest.starts_with('"')) {
    const size_t end = rest.find_first_of(",{}\"\\");
    if (end == std::string_view::npos || end == 0 || rest[end] == '{') return std::nullopt;
    element = rest.substr(0, end);
    rest.remove_prefix(end);
    if (absl::EqualsIgnoreCase(element, "null")) return std::nullopt;
    return element;
  }
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return element;
    }
    if (rest[i] == '\\' && ++i == rest.size()) break;
    element += rest[i];
  }
  return std::nullopt;
}

}  // namespace

void ArrayText::Separate() {
  if (text_.size() > 1) text_ += ',';
}

void ArrayText::Add(std::string_view element) {
  Separate();
  text_ += '"';
  for (const char c : element) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
}

void ArrayText::AddNull() {
  Separate();
  text_ += "NULL";
}

std::string ArrayText::Take() {
  std::string result = std::move(text_);
  text_ = "{";
  return result += '}';
}

std::string ArrayOf(std::span<const std::string> elements) {
  ArrayText array;
  for (const std::string& element : elements) array.Add(element);
  return array.Take();
}

absl::StatusOr<std::vector<std::string>> ParseArray(std::string_view text) {
  std::vector<std::string> elements;
  if (text == "{}") return elements;
  std::string_view rest = text;
  if (!rest.starts_with('{')) return NotA("an array of texts", text);
  do {
    rest.remove_prefix(1);
    std::optional<std::string> element = TakeElement(rest);
    if (!element.has_value()) return NotA("an array of texts", text);
    elements.push_back(*std::move(element));
  } while (rest.starts_with(','));
  if (rest != "}") return NotA("an array of texts", text);
  return elements;
}

std::string TimeText(absl::Time time) {
  if (time == absl::InfiniteFuture()) return "infinity";
  if (time == absl::InfinitePast()) return "-infinity";
  return absl::FormatTime(kTimeFormat, time, absl::UTCTimeZone());
}

absl::StatusOr<absl::Time> ParseTimeText(std::string_view text) {
  if (text == "infinity") return absl::InfiniteFuture();
  if (text == "-infinity") return absl::InfinitePast();
  absl::Time time;
  absl::string_view rest = AbslView(text);
  if (!absl::ConsumeSuffix(&rest, "+00") || !absl::ParseTime("%Y-%m-%d %H:%M:%E*S", rest, &time, nullptr)) {
    return NotA("a time in UTC", text);
  }
  return time;
}

std::string BytesText(std::string_view bytes) {
  return absl::StrCat("\\x", absl::BytesToHexString(AbslView(bytes)));
}

absl::StatusOr<std::string> ParseBytes(std::string_view text) {
  if (!text.starts_with("\\x") || text.size() % 2 != 0 ||
      text.find_first_not_of("0123456789abcdefABCDEF", 2) != std::string_view::npos) {
    return NotA("bytes in hexadecimal", text);
  }
  return absl::HexStringToBytes(AbslView(text.substr(2)));
}

}  // namespace hydrant
