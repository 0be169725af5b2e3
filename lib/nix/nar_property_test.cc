// Random trees, and archives that were changed at random: what Nix does, and pieces of any size.
#include <gmock/gmock.h>

#include "absl/strings/str_replace.h"
#include "lib/nix/nar_fixture.h"
#include "lib/nix/nar_listing_json.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;

class RandomTreeTest : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override { RandomTree(GetParam()).Make(tree_); }
  MemoryDir dir_;
  const std::string tree_ = dir_ / "tree";
};

TEST_P(RandomTreeTest, DumpHashAndListingAreNixs) {
  const std::string nar = OurDump(tree_);
  EXPECT_TRUE(nar == NixDump(tree_));
  const NarFacts facts = DescribePath(tree_, {.listing = true}).value();
  EXPECT_EQ(facts.hash.ToBase16() + "\n", Printed({"nix-hash", "--type", "sha256", tree_}));
  EXPECT_EQ(facts.size, nar.size());
  ASSERT_TRUE(WriteFileAtomically(dir_ / "nar", nar).ok());
  EXPECT_TRUE(PrintListing(*facts.listing, "/", {.details = true, .recursive = true}).value() ==
              Printed({"nix", "nar", "ls", "-lR", dir_ / "nar", "/"}));
}

TEST_P(RandomTreeTest, RestoredByUsAndByNixItIsTheSame) {
  const std::string nar = OurDump(tree_);
  StringSource source(nar);
  ASSERT_TRUE(RestorePath(source, dir_ / "ours").ok());
  EXPECT_TRUE(NixDump(dir_ / "ours") == nar);
  Printed({"nix-store", "--restore", dir_ / "nix"}, nar);
  EXPECT_TRUE(OurDump(dir_ / "nix") == nar);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTreeTest, testing::Range(0u, 10u));

absl::Status Verify(std::string_view nar, size_t piece) {
  NarVerifier verifier(NarQuestions{.listing = true});
  for (; !nar.empty(); nar.remove_prefix(std::min(piece, nar.size()))) {
    HYDRANT_RETURN_IF_ERROR(verifier.Write(nar.substr(0, piece)));
  }
  return verifier.Finish().status();
}

std::string SmallArchive() {
  return NarTokens({"(", "type", "directory", "entry",      "(",   "name",     "bin",         "node",
                    "(", "type", "directory", "entry",      "(",   "name",     "run",         "node",
                    "(", "type", "regular",   "executable", "",    "contents", "12345678901", ")",
                    ")", ")",    ")",         "entry",      "(",   "name",     "link",        "node",
                    "(", "type", "symlink",   "target",     "bin", ")",        ")",           ")"});
}

// Both ways through the parser (a token that is whole, and one in pieces) say the same of it.
TEST(NarMutationTest, ChangedArchiveIsJudgedAlikeInPiecesOfAnySize) {
  const std::string nar = SmallArchive();
  ASSERT_TRUE(Verify(nar, nar.size()).ok());
  std::mt19937 random(3);
  for (int round = 0; round < 4000; ++round) {
    std::string changed = nar;
    for (unsigned n = 1 + random() % 3; n > 0; --n) {
      const size_t at = random() % changed.size();
      if (random() % 4 == 0) {
        changed.erase(at, random() % 2 == 0 ? 8 : 16);
      } else if (random() % 4 == 0) {
        changed.insert(at, changed.substr(random() % changed.size(), 16));
      } else {
        changed[at] = static_cast<char>(random() % 3 == 0 ? random() : "\0\1()\xff"[random() % 5]);
      }
      if (changed.empty()) changed = nar;
    }
    const absl::Status whole = Verify(changed, changed.size());
    EXPECT_EQ(whole, Verify(changed, 1));
    EXPECT_EQ(whole, Verify(changed, 1 + random() % 30));
  }
}

TEST(NarMutationTest, LengthNearTheEndOfTheNumbersIsRefusedAtEveryToken) {
  const std::string nar = SmallArchive();
  for (size_t at = 0; at + 8 <= nar.size();) {
    uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(nar[at + i]);
    for (const uint64_t evil : {~uint64_t{0}, ~uint64_t{0} - 7, uint64_t{1} << 63, (uint64_t{1} << 63) - 1,
                                uint64_t{1} << 32, uint64_t{65536}}) {
      std::string changed = nar;
      for (int i = 0; i < 8; ++i) changed[at + i] = static_cast<char>(evil >> (8 * i));
      EXPECT_EQ(Verify(changed, changed.size()).code(), absl::StatusCode::kInvalidArgument)
          << at << " " << evil;
      EXPECT_EQ(Verify(changed, 3).code(), absl::StatusCode::kInvalidArgument) << at << " " << evil;
    }
    at += 8 + (length + 7) / 8 * 8;
  }
}

TEST(NarMutationTest, ClaimedSizeReservesNothing) {
  MemoryDir dir;
  std::string nar = NarTokens({"(", "type", "regular", "contents"});
  nar += std::string("\0\0\0\0\0\0\0\x40", 8) + "only this";
  StringSource source(nar);
  EXPECT_THAT(std::string(RestorePath(source, dir / "out").message()),
              HasSubstr("the archive ends too early"));
  struct stat info {};
  ASSERT_EQ(stat((dir / "out").c_str(), &info), 0);
  EXPECT_LE(info.st_blocks * 512, 65 << 20);
}

struct Confusion {
  std::string from, to, message;
};

TEST(NarMutationTest, KeywordInAnothersPlaceIsRefusedWithTheEntry) {
  const auto token = [](std::initializer_list<std::string_view> words) {
    std::string out;
    for (const std::string_view word : words) out += NarToken(word);
    return out;
  };
  for (const Confusion& c : std::vector<Confusion>{
           {token({"executable", ""}), token({"executable", "", "executable", ""}),
            "at bin/run: expected \"contents\""},
           {token({"executable", "", "contents", "12345678901"}),
            token({"contents", "12345678901", "executable", ""}),
            "at bin/run: expected \")\" after the contents"},
           {token({"type", "symlink"}), token({"type", "symlink", "type", "symlink"}),
            "at link: expected \"target\""},
           {token({"type", "symlink", "target", "bin"}), token({"type", "symlink"}),
            "at link: expected \"target\""},
           {token({"type", "regular"}), token({"type", "directory"}),
            "at bin/run: expected \"entry\" or \")\""},
           {token({"name", "link", "node"}), token({"node"}), "expected \"name\""},
           {token({"name", "link", "node"}), token({"name", "link", "name"}), "at link: expected \"node\""},
           {token({"name", "link"}), token({"name", "bin"}), "a name after \"bin\" in byte order"},
           {token({"entry", "(", "name", "link"}), token({"entry", "name", "link"}), "expected \"(\""},
           {token({"nix-archive-1"}), token({"nix-archive-1", "nix-archive-1"}), "expected \"(\""}}) {
    const std::string nar = absl::StrReplaceAll(SmallArchive(), {{c.from, c.to}});
    ASSERT_NE(nar, SmallArchive()) << c.message;
    EXPECT_THAT(std::string(Verify(nar, 7).message()), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace hydrant::nix
