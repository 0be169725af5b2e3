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
