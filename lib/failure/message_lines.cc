#include "lib/failure/message_lines.h"

#include <initializer_list>

#include "lib/failure/strip_ansi.h"

namespace hydrant {
namespace {

bool TakePrefix(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\v\f";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// ‘ ’ as '.
void PutPlainQuotes(std::string_view text, std::string* plain) {
  constexpr std::string_view kBegin = "\xe2\x80";
  plain->clear();
  while (true) {
    const size_t at = text.find(kBegin);
    plain->append(text.substr(0, at));
    if (at == text.npos) return;
    text.remove_prefix(at);
    const bool quote = text.size() > 2 && (text[2] == '\x98' || text[2] == '\x99');
    plain->append(quote ? "'" : text.substr(0, 2));
    text.remove_prefix(quote ? 3 : 2);
  }
}

// "  12|   source" and "    |   ^".
bool IsExcerpt(std::string_view line) {
  const size_t bar = line.find_first_not_of("0123456789 ");
  return bar != std::string_view::npos && line[bar] == '|';
}

// What GoogleTest, pytest -v, Go, TAP, CTest and Rust's harness print of a test that begins or passed.
bool IsGoodTest(std::string_view line) {
  for (std::string_view begin : {"[ RUN ", "[       OK ]", "=== RUN", "--- PASS", "=== PAUSE", "=== CONT",
                                 "ok ", "PASS:", "PASSED ", "Start "}) {
    if (line.starts_with(begin)) return true;
  }
  for (std::string_view end : {" PASSED", " ... ok", " ... ignored", " OK", " Passed"}) {
    if (line.ends_with(end)) return true;
  }
  const bool numbered = line.find(" Test ") != line.npos && line.find("   Passed ") != line.npos;  // CTest
  return numbered || line.find(" PASSED [") != line.npos || line.find(" PASSED  [") != line.npos;
}

LinePart PartOf(std::string_view* line) {
  if (TakePrefix(line, "error:")) return LinePart::kErrorHead;
  const bool quoted = TakePrefix(line, ">");
  if (IsGoodTest(Trimmed(*line))) return LinePart::kGoodTest;
  if (quoted) return LinePart::kLog;
  for (std::string_view mark :
       {"warning:", "evaluation warning:", "trace:", "… ", "at /", "at «", "(use '--show-trace'"}) {
    if (line->starts_with(mark)) return LinePart::kSurrounding;
  }
  return IsExcerpt(*line) ? LinePart::kSurrounding : LinePart::kText;
}

}  // namespace

// False when the line says nothing.
bool MessageLineReader::Fill(std::string_view raw) {
  StripAnsi(raw.substr(0, kLongestLine), &clean_);
  std::string_view line = Trimmed(clean_);
  if (line.empty()) return false;
  const bool indented = clean_.front() == ' ';
  line_.part = PartOf(&line);
  line = Trimmed(line);
  for (std::string_view mark : {"- ", "Reason: "}) {
    if (line_.part == LinePart::kText) TakePrefix(&line, mark);
  }
  in_error_ = line_.part == LinePart::kErrorHead || (in_error_ && indented);
  line_.of_error = in_error_;
  line_.text = line;
  PutPlainQuotes(line, &line_.plain);
  return true;
}

const MessageLine* MessageLineReader::Next() {
  while (!rest_.empty()) {
    const size_t end = rest_.find_first_of("\n\r");  // a progress bar's CR ends its line too
    line_.number = number_;
    const bool says_something = Fill(rest_.substr(0, end));
    if (end != rest_.npos && rest_[end] == '\n') ++number_;
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    if (says_something) return &line_;
  }
  return nullptr;
}

}  // namespace hydrant
