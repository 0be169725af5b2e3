#include "lib/nix/content_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/nix/nar.h"
#include "lib/nix/self_reference_hash.h"
#include "lib/nix/test_store.h"

namespace hydrant::nix {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Made by Nix 2.8: nix-store --add, --add-fixed and builtins.toFile, of a file "hello" and a folder.
struct Golden {
  const char* address;
  const char* path;
};
constexpr Golden kGolden[] = {
    {"fixed:r:sha256:0sg9f58l1jj88w6pdrfdpj5x9b1zrwszk84j81zvby36q9whhhqa",
     "/nix/store/664yy119pds2n905bls61j77r67z57cw-f"},
    {"fixed:sha256:094qif9n4cq4fdg459qzbhg1c6wywawwaaivx0k0x8xhbyx4vwic",
     "/nix/store/4c6wsvi6cnq8h7ibg70pv68bi43y92xs-f"},
    {"fixed:md5:4jqlbi14cxf6wpcajbphm40hax", "/nix/store/hqmc7r1nclkn3yiaday2b4abpi6qpa6z-f"},
    {"fixed:r:sha1:b26vfr7h58bbbkvb0ywr2wli35i9rfnn", "/nix/store/jb2smd8s0iy1n0ynma42h1l2gr3amrbq-d"},
    {"text:sha256:094qif9n4cq4fdg459qzbhg1c6wywawwaaivx0k0x8xhbyx4vwic",
     "/nix/store/vqpn17r03lqabwk0wksgpbgy620zwfd4-t"},
};

TEST(ContentAddressTest, PathsAreThoseOfNix) {
  for (const Golden& golden : kGolden) {
    const auto expected = *StorePath::Parse(golden.path);
    const auto address = ContentAddress::Parse(golden.address);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(PathOfContent(*address, expected.name()).value(), expected);
  }
}

TEST(ContentAddressTest, AllFormsAreReadAndWritten) {
  for (const std::string text :
       {"text:sha256:094qif9n4cq4fdg459qzbhg1c6wywawwaaivx0k0x8xhbyx4vwic",
        "fixed:md5:4jqlbi14cxf6wpcajbphm40hax", "fixed:r:sha1:b26vfr7h58bbbkvb0ywr2wli35i9rfnn",
        "fixed:git:sha1:b26vfr7h58bbbkvb0ywr2wli35i9rfnn",
        "fixed:r:blake3:094qif9n4cq4fdg459qzbhg1c6wywawwaaivx0k0x8xhbyx4vwic"}) {
    const auto address = ContentAddress::Parse(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->ToString(), text);
    EXPECT_EQ(ContentAddress::OfOutput(address->MethodAndAlgorithm(), address->hash.ToBase16()).value(),
              *address);
  }
}

TEST(ContentAddressTest, TheOrderOfReferencesDoesNotCount) {
  const auto address =
      *ContentAddress::Parse("text:sha256:1wqsgjcknyvmikc6pz4l0r7fxnrzcrp7gz68phw3qsicc8032ga9");
  const auto a = *StorePath::Parse(kGolden[4].path), b = *StorePath::Parse(kGolden[0].path);
  EXPECT_EQ(PathOfContent(address, "u", {.others = {a}})->path(),
            "/nix/store/ck6n3v0ycjyq106j4lq2m4yhzbc67zbl-u");
  EXPECT_EQ(*PathOfContent(address, "u", {.others = {a, b}}),
            *PathOfContent(address, "u", {.others = {b, a}}));
}

TEST(ContentAddressTest, GarbageIsQuotedWithWhatWasExpected) {
  struct Refusal {
    std::string text, expected;
  };
  const std::string digits = "094qif9n4cq4fdg459qzbhg1c6wywawwaaivx0k0x8xhbyx4vwic";
  for (const Refusal& r :
       std::vector<Refusal>{{"fixed", "text:… or fixed:…"},
                            {"other:sha256:0", "text:… or fixed:…"},
                            {"fixed:r:sha256:xyz", "52 base32, 64 base16 or 44 base64"},
                            {"fixed:sha256", "ALGORITHM:HASH"},
                            {"fixed:text:sha256:" + digits, "r:, git: or an algorithm"},
                            {"text:r:sha256:" + digits, "md5, sha1, sha256, sha512 or blake3"},
                            {"text:md5:4jqlbi14cxf6wpcajbphm40hax", "only algorithm of text:"},
                            {"fixed:git:md5:4jqlbi14cxf6wpcajbphm40hax", "algorithms of git:"},
                            {"fixed:crc:00", "md5, sha1"}}) {
    const absl::Status status = ContentAddress::Parse(r.text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << r.text;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(r.text), HasSubstr(r.expected)));
  }
}

TEST(ContentAddressTest, ReferencesWhereThereCanBeNoneAreRefused) {
  const ContentReferences other{.others = {*StorePath::Parse(kGolden[0].path)}}, itself{.itself = true};
  const auto text = *ContentAddress::Parse(kGolden[4].address),
             flat = *ContentAddress::Parse(kGolden[1].address);
  EXPECT_TRUE(absl::IsInvalidArgument(PathOfContent(text, "t", itself).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(PathOfContent(flat, "f", other).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(PathOfContent(flat, "f", itself).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(PathOfContent(flat, "a/b").status()));
}

// Against the installed Nix.
class ContentAddressOfNixTest : public testing::Test {
 protected:
  std::string Nix(std::vector<std::string> argv) {
    const auto done = store_.Nix(argv);
    EXPECT_TRUE(done.ok() && done->status.ok()) << (done.ok() ? done->err : done.status().ToString());
    return done.ok() ? done->out.substr(0, done->out.find_last_not_of('\n') + 1) : "";
  }
  std::string Eval(const std::string& expression) {
    const std::string quoted =
        Nix({"nix-instantiate", "--eval", "--strict", "--read-write-mode", "--expr", expression});
    return quoted.size() < 2 ? "" : quoted.substr(1, quoted.size() - 2);
  }
  static std::string NarOf(const std::string& path) {
    StringSink nar;
    EXPECT_TRUE(DumpPath(path, nar).ok());
    return nar.value;
  }
  TestStore store_;
};

TEST_F(ContentAddressOfNixTest, AddedFilesAndFolders) {
  const std::string file = store_.dir() / "some-file", folder = store_.dir() / "some.folder";
  std::ofstream(file) << "hello\n";
  std::filesystem::create_directories(folder + "/sub");
  std::ofstream(folder + "/sub/x") << "x";
  for (const std::string& path : {file, folder}) {
    const std::string name = std::filesystem::path(path).filename();
    const Hash nar = Hash::Of(HashAlgorithm::kSha256, NarOf(path)).value();
    EXPECT_EQ(PathOfContent({ContentMethod::kRecursive, nar}, name)->path(),
              Nix({"nix-store", "--add", path}));
    for (const std::string algorithm : {"md5", "sha1", "sha256", "sha512"}) {
      const HashAlgorithm known = ParseHashAlgorithm(algorithm).value();
      EXPECT_EQ(
          PathOfContent({ContentMethod::kRecursive, Hash::Of(known, NarOf(path)).value()}, name)->path(),
          Nix({"nix-store", "--add-fixed", "--recursive", algorithm, path}));
      if (path == folder) continue;
      EXPECT_EQ(PathOfContent({ContentMethod::kFlat, Hash::Of(known, "hello\n").value()}, name)->path(),
                Nix({"nix-store", "--add-fixed", algorithm, path}));
    }
  }
}

TEST_F(ContentAddressOfNixTest, TextsWithReferences) {
  const StorePath a = PathOfText("one", "a.txt").value(), b = PathOfText("two", "b").value();
  const std::string text = absl::StrCat(b.path(), " then ", a.path());
  EXPECT_EQ(Eval("let a = builtins.toFile \"a.txt\" \"one\"; b = builtins.toFile \"b\" \"two\"; in "
                 "builtins.toFile \"c\" \"${b} then ${a}\""),
            PathOfText(text, "c", {b, a})->path());
}

TEST_F(ContentAddressOfNixTest, Placeholders) {
  for (const std::string output : {"out", "dev", "a-b_c"})
    EXPECT_EQ(Eval(absl::StrCat("builtins.placeholder \"", output, "\"")), Placeholder(output));
}

TEST_F(ContentAddressOfNixTest, APathThatRefersToItself) {
  const auto drv = store_.Instantiate(ProbeExpression("echo $out > $out"));
  ASSERT_TRUE(drv.ok()) << drv.status();
  const std::string built = Nix({"nix-store", "--realise", *drv});
  const std::string rewritten = Nix({"nix", "store", "make-content-addressed", "--json", built});
  const std::string path =
      rewritten.substr(rewritten.rfind("/nix/store/"), 43 + std::string("-probe").size());
  const std::string info = Nix({"nix", "path-info", "--json", path});
  const size_t at = info.find("\"ca\":\"") + 6;
  const auto address = ContentAddress::Parse(std::string_view(info).substr(at, info.find('"', at) - at));
  ASSERT_TRUE(address.ok()) << address.status() << info;
  EXPECT_EQ(PathOfContent(*address, "probe", {.itself = true})->path(), path);
  int equal = 0;
  for (const auto places : {SelfReferencePlaces::kCount, SelfReferencePlaces::kIgnored}) {
    SelfReferenceHash hash(StorePath::Parse(path)->hash_part(), places);
    ASSERT_TRUE(DumpPath(store_.RealPath(path), hash).ok());
    equal += hash.Finish()->view() == address->hash.view();
  }
  EXPECT_EQ(equal, 1);  // which of them depends on the version of Nix
}

}  // namespace
}  // namespace hydrant::nix
