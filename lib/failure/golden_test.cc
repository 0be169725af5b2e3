// Every text of tests/golden/failure has the class that its file names. A file: header lines "key: value"
// (class, stage, source, and for an attempt status), a blank line, the text; for an attempt a line "-- log
// --" divides Nix's words from the builder's.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/failure/classify.h"

namespace hydrant {
namespace {

namespace fs = std::filesystem;

struct GoldenCase {
  std::string file;
  std::map<std::string, std::string> header;
  std::string text, log;
};

std::string TakeLine(std::string* text) {
  const size_t end = text->find('\n');
  std::string line = text->substr(0, end);
  text->erase(0, end == std::string::npos ? end : end + 1);
  return line;
}

GoldenCase ReadCase(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string rest((std::istreambuf_iterator<char>(in)), {});
  GoldenCase result{path.filename().string()};
  while (!rest.empty()) {
    const std::string line = TakeLine(&rest);
    if (line.empty()) break;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) result.header[line.substr(0, colon)] = line.substr(colon + 2);
  }
  constexpr char kLogMark[] = "-- log --\n";
  const size_t mark = rest.find(kLogMark);
  result.text = rest.substr(0, mark);
  if (mark != std::string::npos) result.log = rest.substr(mark + sizeof(kLogMark) - 1);
  return result;
}

std::vector<GoldenCase> AllCases() {
  std::vector<GoldenCase> cases;
  for (const auto& entry : fs::directory_iterator(fs::path(HYDRANT_SOURCE_DIR) / "tests/golden/failure")) {
    cases.push_back(ReadCase(entry.path()));
  }
  return cases;
}

Classified Classify(const GoldenCase& golden) {
  const std::string& stage = golden.header.at("stage");
  if (stage == "evaluation") return ClassifyEvaluation(golden.text);
  if (stage == "check") return ClassifyCheck(golden.text);
  const auto status = golden.header.find("status");
  return ClassifyAttempt(status == golden.header.end() ? -1 : std::stoi(status->second), golden.text,
                         golden.log);
}

TEST(GoldenFailures, EachFileSaysItsClassStageAndSource) {
  for (const GoldenCase& golden : AllCases()) {
    for (const char* key : {"class", "stage", "source"}) {
      EXPECT_TRUE(golden.header.contains(key)) << golden.file << " has no " << key;
    }
  }
}

TEST(GoldenFailures, EachTextHasTheClassThatItsFileNames) {
  for (const GoldenCase& golden : AllCases()) {
    const Classified classified = Classify(golden);
    EXPECT_EQ(CauseName(classified.cause), golden.header.at("class"))
        << golden.file << ": " << classified.message;
    const auto message = golden.header.find("message");
    if (message != golden.header.end()) {
      EXPECT_EQ(classified.message, message->second) << golden.file;
    }
    EXPECT_THAT(classified.message,
                testing::AllOf(testing::Not(testing::IsEmpty()), testing::Not(testing::HasSubstr("\x1b"))))
        << golden.file;
  }
}

// The same text as other versions, terminals and systems would write it.
struct Dress {
  const char* name;
  std::string (*put_on)(std::string);
};

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

constexpr Dress kDresses[] = {
    {"ASCII quotes", [](std::string text) { return Replaced(Replaced(text, "‘", "'"), "’", "'"); }},
    {"typographic quotes", [](std::string text) { return Replaced(text, "'", "’"); }},
    {"colours in quotes", [](std::string text) { return Replaced(text, "'", "'\x1b[35;1m\x1b[0m"); }},
    {"coloured heads", [](std::string text) { return Replaced(text, "error:", "\x1b[31;1merror:\x1b[0m"); }},
    {"lines that end in CR LF", [](std::string text) { return Replaced(text, "\n", "\r\n"); }},
    {"NULs at the ends of lines",
     [](std::string text) { return Replaced(text, "\n", std::string("\0\n", 2)); }},
};

TEST(GoldenFailures, EachTextHasItsClassInEveryDress) {
  for (const GoldenCase& golden : AllCases()) {
    for (const Dress& dress : kDresses) {
      GoldenCase dressed = golden;
      dressed.text = dress.put_on(golden.text);
      dressed.log = dress.put_on(golden.log);
      EXPECT_EQ(CauseName(Classify(dressed).cause), golden.header.at("class"))
          << golden.file << ", " << dress.name;
    }
  }
}

// Nix 2.20 and later: "error:" alone, the trace, the error. With words in it that would be other classes'
// errors.
constexpr char kTrace[] =
    "\x1b[31;1merror:\x1b[0m\n"
    "       … while evaluating the attribute '\x1b[35;1mdrvPath\x1b[0m'\n"
    "         at \x1b[35;1m/n/customisation.nix:407:7\x1b[0m:\n"
    "          406|     // { meta.broken = throw \"error: is marked as broken\";\n"
    "          407|       drvPath = throw \"error: attribute 'x' missing\"\n"
    "             |       \x1b[31;1m^\x1b[0m\n"
    "\n"
    "       … while calling the 'throw' builtin\n"
    "\n";

TEST(GoldenFailures, EachEvaluationErrorHasItsClassBelowATrace) {
  for (const GoldenCase& golden : AllCases()) {
    if (golden.header.at("stage") != "evaluation" || !golden.text.starts_with("error: ")) continue;
    const std::string text = kTrace + ("       " + Replaced(golden.text, "\n", "\n       "));
    EXPECT_EQ(CauseName(ClassifyEvaluation(text).cause), golden.header.at("class")) << golden.file;
  }
}

// "untold": what it looks like where the class needs the stage or the protocol's status.
TEST(GoldenFailures, EachTextTellsItsClassAndStageByItself) {
  for (const GoldenCase& golden : AllCases()) {
    const auto untold = golden.header.find("untold");
    const bool told = untold == golden.header.end();
    const Guess guess = ClassifyText(golden.text + golden.log);
    EXPECT_EQ(CauseName(guess.classified.cause), told ? golden.header.at("class") : untold->second)
        << golden.file;
    const std::string& stage = golden.header.at("stage");
    const FailureStage expected = stage == "check"     ? FailureStage::kCheck
                                  : stage == "attempt" ? FailureStage::kAttempt
                                                       : FailureStage::kEvaluation;
    if (told) {
      EXPECT_EQ(guess.stage, expected) << golden.file;
    }
  }
}

TEST(GoldenFailures, TheLineThatDecidesIsNumbered) {
  for (const GoldenCase& golden : AllCases()) {
    const Classified classified = Classify(golden);
    if (!golden.log.empty()) continue;  // two texts, each with lines of its own
    std::istringstream text(golden.text);
    std::string line;
    for (size_t i = 0; i < classified.line; ++i) std::getline(text, line);
    EXPECT_THAT(StripAnsi(line), testing::HasSubstr(classified.message.substr(0, 900))) << golden.file;
  }
}

TEST(GoldenFailures, EveryClassOfTheKnowledgeIsThere) {
  std::set<std::string> seen;
  for (const GoldenCase& golden : AllCases()) seen.insert(golden.file.substr(0, golden.file.find('-')));
  for (const char* letter : {"E", "B"}) {
    for (int i = 1; i <= (*letter == 'E' ? 10 : 12); ++i) {
      EXPECT_TRUE(seen.contains(letter + std::to_string(i))) << letter << i;
    }
  }
}

}  // namespace
}  // namespace hydrant
