#include "lib/nix/reference_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kA = "0c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d", kB = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
                  kAbsent = "11111111111111111111111111111111";

TEST(ReferenceScanTest, FindsWhatIsThereInPiecesOfAnySize) {
  const std::string text = "/nix/store/" + kA + "-x\0 0c0hk3" + std::string(40, 'z') + "é" + kA.substr(0, 31);
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    ReferenceScan scan({kA, kB, kAbsent});
    for (size_t at = 0; at < text.size(); at += piece) scan.Feed(std::string_view(text).substr(at, piece));
    EXPECT_THAT(scan.found(), ElementsAre(kA, kB)) << piece;
  }
}

TEST(ReferenceScanTest, AgreesWithPlainSearchOnRandomBytes) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (int i = 0; i < 300; ++i) text += "01abz/e"[random() % 7];
    std::set<std::string> wanted;
    while (wanted.size() < 4) {
      std::string part = text.substr(random() % 268, 32);
      for (char& c : part) c = c == 'e' || c == '/' ? '0' : c;
      wanted.insert(part);
    }
    std::set<std::string> expected;
    for (const std::string& part : wanted) {
      if (text.find(part) != std::string::npos) expected.insert(part);
    }
    ReferenceScan scan(wanted);
    for (size_t at = 0; at < text.size();) {
      const size_t piece = random() % 50;
      scan.Feed(std::string_view(text).substr(at, piece));
      at += piece;
    }
    EXPECT_EQ(scan.found(), expected);
  }
}

TEST(ReferenceScanTest, NothingAskedNothingFound) {
  ReferenceScan scan({});
  scan.Feed(kA);
  EXPECT_THAT(scan.found(), IsEmpty());
}

}  // namespace
}  // namespace hydrant::nix
