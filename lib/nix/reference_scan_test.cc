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

// Bytes of long runs of the alphabet between foreign ones, and hash parts cut out of them.
class RichText {
 public:
  explicit RichText(unsigned seed) : random_(seed) {
    while (text.size() < 700) {
      for (unsigned n = random_() % 3; n > 0; --n) text += "eotu/-\0\xE9\xB0Z"[random_() % 10];
      for (unsigned n = random_() % 120; n > 0; --n)
        text += "0123456789abcdfghijklmnpqrsvwxyz"[random_() % 32];
    }
    for (int i = 0; i < 12; ++i) wanted.insert(text.substr(random_() % (text.size() - 32), 32));
    for (const char* absent : {"00000000000000000000000000000000", "abc"}) wanted.insert(absent);
    // A part that shares its first characters with one that is there.
    wanted.insert(text.substr(100, 31) + (text[131] == 'z' ? 'y' : 'z'));
    for (const std::string& part : wanted) {
      const bool is_part =
          part.size() == 32 && part.find_first_not_of("0123456789abcdfghijklmnpqrsvwxyz") == part.npos;
      if (is_part && text.find(part) != std::string::npos) present.insert(part);
    }
  }
  std::string text;
  std::set<std::string> wanted, present;

 private:
  std::mt19937 random_;
};

TEST(ReferenceScanTest, AgreesWithPlainSearchAtEverySplitOfTextThatIsRichInTheAlphabet) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const RichText rich(seed);
    const std::string_view text = rich.text;
    for (size_t split = 0; split <= text.size(); ++split) {
      ReferenceScan scan(rich.wanted);
      scan.Feed(text.substr(0, split));
      scan.Feed(text.substr(split));
      ASSERT_EQ(scan.found(), rich.present) << seed << " " << split;
    }
  }
}

TEST(ReferenceScanTest, FindsAPartAtEveryOffsetOfRandomBytes) {
  std::mt19937 random(5);
  for (size_t at = 0; at <= 256; ++at) {
    std::string text(300, '\0');
    for (char& c : text) c = static_cast<char>(random());
    text.replace(at, 32, kA);
    ReferenceScan scan({kA, kB});
    scan.Feed(text);
    ASSERT_THAT(scan.found(), ElementsAre(kA)) << at;
  }
}

TEST(ReferenceScanTest, FindsAPartInsideALongRun) {
  const std::string run(100'000, 'a'), part = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
  ReferenceScan scan({part, kB});
  scan.Feed(run);
  EXPECT_THAT(scan.found(), IsEmpty());
  scan.Feed("b" + run);
  EXPECT_THAT(scan.found(), ElementsAre(part));
}

TEST(ReferenceScanTest, NothingAskedNothingFound) {
  ReferenceScan scan({});
  scan.Feed(kA);
  EXPECT_THAT(scan.found(), IsEmpty());
}

}  // namespace
}  // namespace hydrant::nix
