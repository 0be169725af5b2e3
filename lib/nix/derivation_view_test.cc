#include "lib/nix/derivation_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lib/base/status_macros.h"
#include "lib/nix/hash.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kOut = "/nix/store/8s0dvb1ggh8mzy8wmqaiy8pc9lmgkxk9-a";
const std::string kInput = "/nix/store/lzq2qy24r5ifd7rhc5wdzrsxfxkbmy4v-b.drv";

// A derivation whose only output has these fields.
std::string WithOutput(const std::string& path, const std::string& algorithm, const std::string& hash) {
  return absl::StrCat("Derive([(\"out\",\"", path, "\",\"", algorithm, "\",\"", hash,
                      "\")],[],[],\"x86_64-linux\",\"/bin/sh\",[],[])");
}

struct Fields {
  std::string path, algorithm, hash;
};

TEST(DerivationViewTest, TheFieldsOfAnOutputSayItsKind) {
  struct Case {
    Fields fields;
    OutputKind kind;
  };
  const std::string sha256 = HashSha256("").ToBase16();
  for (const Case& c :
       std::vector<Case>{{{kOut, "", ""}, OutputKind::kInputAddressed},
                         {{"", "", ""}, OutputKind::kDeferred},
                         {{kOut, "sha256", sha256}, OutputKind::kFixed},
                         {{kOut, "r:sha256", sha256}, OutputKind::kFixed},
                         {{kOut, "r:blake3", sha256}, OutputKind::kFixed},
                         {{kOut, "git:sha1", sha256.substr(0, 40)}, OutputKind::kFixed},
                         {{kOut, "text:sha256", HashSha256("").ToBase32()}, OutputKind::kFixed},
                         {{"", "r:sha256", ""}, OutputKind::kFloating},
                         {{"", "text:sha256", ""}, OutputKind::kFloating},
                         {{"", "r:sha256", "impure"}, OutputKind::kImpure}}) {
    DerivationView view;
    const std::string text = WithOutput(c.fields.path, c.fields.algorithm, c.fields.hash);
    ASSERT_EQ(ParseDerivationView(text, view), absl::OkStatus());
    EXPECT_EQ(view.outputs.at(0).kind, c.kind) << OutputKindName(c.kind);
  }
}

TEST(DerivationViewTest, FieldsThatDoNotGoTogetherAreRefused) {
  struct Case {
    Fields fields;
    std::string message;
  };
  for (const Case& c :
       std::vector<Case>{{{kOut, "", "00"}, "expected a hash algorithm"},
                         {{kOut, "crc32", "00"}, "hash algorithm \"crc32\": expected md5, sha1"},
                         {{kOut, "r:r:sha256", ""}, "hash algorithm \"r:sha256\""},
                         {{kOut, "sha256", "00"}, "expected 52 base32, 64 base16"},
                         {{"", "sha256", HashSha256("").ToBase16()}, "expected a path"},
                         {{kOut, "r:sha256", ""}, "expected no path"},
                         {{kOut, "r:sha256", "impure"}, "expected no path"},
                         {{"a", "", ""}, "byte 15: store path \"a\""}}) {
    DerivationView view;
    const absl::Status status =
        ParseDerivationView(WithOutput(c.fields.path, c.fields.algorithm, c.fields.hash), view);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
}

TEST(DerivationViewTest, ViewsAreTheFilesOwnBytes) {
  const std::string text = absl::StrCat("Derive([(\"out\",\"", kOut, "\",\"\",\"\")],[(\"", kInput,
                                        "\",[\"dev\",\"o\\\"x\"])],[\"", kOut,
                                        "\"],\"s\",\"\\\\\",[\"\\\"\",\"\"],[(\"k\",\"line\\n\\\\\")])");
  DerivationView view;
  ASSERT_EQ(ParseDerivationView(text, view), absl::OkStatus());
  EXPECT_EQ(view.input_derivations.at(0).path, kInput);
  EXPECT_THAT(SplitRawList(view.input_derivations.at(0).output_names), ElementsAre("dev", "o\\\"x"));
  EXPECT_THAT(view.input_sources, ElementsAre(kOut));
  EXPECT_EQ(view.builder, "\\\\");
  EXPECT_THAT(view.arguments, ElementsAre("\\\"", ""));
  EXPECT_EQ(Unescape(*view.Find("k")), "line\n\\");
  EXPECT_EQ(view.Find("none"), nullptr);
  EXPECT_EQ(view.outputs.at(0).path.data(), text.data() + text.find(kOut));
}

TEST(DerivationViewTest, AViewIsFilledAnew) {
  DerivationView view;
  ASSERT_TRUE(ParseDerivationView(WithOutput(kOut, "", ""), view).ok());
  ASSERT_TRUE(ParseDerivationView(WithOutput(kOut, "", ""), view).ok());
  EXPECT_EQ(view.outputs.size(), 1u);
}

// Nix sorts, but reads any order.
TEST(DerivationViewTest, TwiceIsTwiceInAnyOrder) {
  const auto with = [](const std::string& variables) {
    DerivationView view;
    return ParseDerivationView(
        absl::StrReplaceAll(WithOutput(kOut, "", ""), {{"[])", absl::StrCat("[", variables, "])")}}), view);
  };
  EXPECT_TRUE(with(R"(("b",""),("a",""),("c",""))").ok());
  EXPECT_TRUE(with(R"(("a\"",""),("a",""))").ok());
  for (const std::string twice :
       {R"(("a",""),("a",""))", R"(("a",""),("b",""),("a",""))", R"(("b",""),("a",""),("c",""),("b",""))",
        R"(("n",""),("m\"",""),("\n\m",""),("m\"",""))"}) {
    EXPECT_THAT(std::string(with(twice).message()), HasSubstr("an environment variable is named twice"))
        << twice;
  }
}

TEST(DerivationViewTest, AVariableIsFoundHoweverItsNameIsSpelt) {
  const std::string text =
      absl::StrReplaceAll(WithOutput(kOut, "", ""), {{"[])", R"([("required\SystemFeatures","cuda")]))"}});
  DerivationView view;
  ASSERT_TRUE(ParseDerivationView(text, view).ok());
  ASSERT_NE(view.Find("requiredSystemFeatures"), nullptr);
  EXPECT_EQ(*view.Find("requiredSystemFeatures"), "cuda");
  EXPECT_EQ(view.Find("SystemFeatures"), nullptr);
}

TEST(UnescapeTest, WhatNixWritesAndWhatItReads) {
  EXPECT_EQ(Unescape(R"(a\n\r\t\"\\b)"), "a\n\r\t\"\\b");
  EXPECT_EQ(Unescape(R"(\x)"), "x");
  EXPECT_EQ(Unescape("plain"), "plain");
}

}  // namespace
}  // namespace hydrant::nix
