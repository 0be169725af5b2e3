#include "daemon/evaluate/evaluator_death.h"

#include <signal.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

constexpr size_t kLastWords = 500;

// The bytes of the character that begins `text`, 0 when none does. Overlong forms and surrogates: Unicode 15,
// table 3-7.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    return follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    return follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3)
               ? 4
               : 0;
  }
  return 0;
}

// A control character of Unicode that a terminal obeys or that turns the text around: U+0080 to U+009F,
// U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
bool IsUnseenControl(std::string_view character) {
  if (character.size() == 2) return character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
  if (character.size() != 3 || character[0] != '\xe2') return false;
  const auto last = static_cast<unsigned char>(character[2]);
  if (character[1] == '\x81') return 0xa6 <= last && last <= 0xa9;
  return character[1] == '\x80' && (last == 0x8e || last == 0x8f || (0xa8 <= last && last <= 0xae));
}

std::string LastWords(std::string_view words) {
  while (words.ends_with('\n')) words.remove_suffix(1);
  if (words.empty()) return "it said nothing";
  return absl::StrCat(
      "its last words: ",
      PrintableText(StripAnsi(words.substr(words.size() - std::min(words.size(), kLastWords)))));
}

constexpr std::string_view kRun = "/runs/run-";
constexpr size_t kRandom = 7;  // of the folder's name, with the slash behind it

// What lies in the folder of one run as the matrix names it: otherwise each run would word an error anew.
std::string WithoutRunFolder(std::string text) {
  for (size_t run = text.find(kRun); run != text.npos; run = text.find(kRun)) {
    const size_t before = text.find_last_of(" '\"(", run);
    const size_t begin = before == text.npos ? 0 : before + 1;
    text.erase(begin, std::min(run + kRun.size() + kRandom, text.size()) - begin);
  }
  return text;
}

// FILE:LINE:COLUMN, as Nix tells it under the error in line `number`, "at FILE:LINE:COLUMN:"; "" when it does
// not.
std::string PlaceAfter(std::string_view words, size_t number) {
  constexpr std::string_view kAt = "at ";
  constexpr size_t kLook = 3;
  size_t line_number = 0;
  for (std::string_view rest = words; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1);
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (++line_number <= number || line_number > number + kLook) continue;
    const std::string text = StripAnsi(line);
    line = text;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.starts_with(kAt) || !line.ends_with(':')) continue;
    line = line.substr(kAt.size(), line.size() - kAt.size() - 1);
    return WithoutRunFolder(PrintableText(line));
  }
  return "";
}

std::string MemoryMessage(uint64_t memory) {
  if (memory == 0) return "needs more memory than there is";
  return absl::StrCat("needs more than the ", memory / 1'000'000,
                      " MB that an evaluator may use ([nix] evaluator_memory)");
}

}  // namespace

std::string PrintableText(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const unsigned char first = static_cast<unsigned char>(text[0]);
    const bool control = length == 1 && (first < 0x20 || first == 0x7f) && first != '\n' && first != '\t';
    if (length == 0 || control || IsUnseenControl(text.substr(0, length))) {
      result.push_back('?');
    } else {
      result.append(text.substr(0, length));
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

std::string LateMessage(absl::Duration evaluation_timeout) {
  return absl::StrCat("not evaluated when the evaluation had run for ",
                      absl::FormatDuration(evaluation_timeout), " ([nix] evaluation_timeout)");
}

Classified ClassifyWords(std::string_view words) {
  Classified why = ClassifyEvaluation(words);
  why.message = WithoutRunFolder(PrintableText(why.message));
  if (why.cause == Cause::kSyntaxError) {
    const std::string place = PlaceAfter(words, why.line);
    if (!place.empty()) absl::StrAppend(&why.message, " (", place, ")");
  }
  // Nix: "access to URI 'X' is forbidden in restricted mode".
  if (why.cause == Cause::kRule && why.message.find("access to URI") != std::string::npos) {
    why.message +=
        "; a matrix asks for addresses with [nixpkgs] allowed_uris, and the farm permits them with [nix] "
        "allowed_uris";
  }
  return why;
}

Death ExplainDeath(const LineProcessEnd& end, std::string_view words, const EvaluatorBounds& bounds) {
  if (end.kind == LineProcessEnd::Kind::kOutOfPatience) {
    const char* why =
        bounds.by_median ? " (ten times the median of the variants before it; at least [nix] variant_timeout)"
                         : " ([nix] variant_timeout)";
    const std::string message =
        absl::StrCat("no result within ", absl::FormatDuration(bounds.patience), why, "; ", LastWords(words));
    return {{Cause::kEvaluatorTimeout, message}, false};
  }
  Classified why = ClassifyWords(words);
  if (why.cause == Cause::kEvaluatorOutOfMemory) return {{why.cause, MemoryMessage(bounds.memory)}, true};
  const int signal = end.status.signal.value_or(0);
  if (signal == SIGKILL) {
    const char* message = "the evaluator was killed by signal 9, as the kernel does when memory runs out";
    return {{Cause::kEvaluatorOutOfMemory, message}, true};
  }
  if (why.cause != Cause::kUnknown) return {why, false};
  if (signal == SIGSEGV || signal == SIGBUS) {
    const std::string message =
        absl::StrCat("stack overflow: the evaluator ended by ", end.status.ToString());
    return {{Cause::kStackOverflow, message}, false};
  }
  const std::string how = end.status.ToString();
  return {
      {Cause::kUnknown, absl::StrCat("the evaluator ended without a result (", how, "); ", LastWords(words))},
      signal != 0};
}

}  // namespace hydrant
