#include "lib/nix/realisation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "lib/nix/test_store.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As Nix 2.8 writes it.
constexpr char kOld[] =
    R"({"dependentRealisations":{"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb!dev":)"
    R"("11111111111111111111111111111111-dep"},)"
    R"("id":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!out",)"
    R"("outPath":"00000000000000000000000000000000-x","signatures":["k:c2ln"]})";
constexpr char kNew[] =
    R"({"outPath":"00000000000000000000000000000000-x","signatures":[{"keyName":"k","sig":"c2ln"}]})";

StorePath Drv() { return StorePath::FromBaseName("22222222222222222222222222222222-x.drv").value(); }

std::string OldError(const std::string& from, const std::string& to) {
  return Realisation::Parse(absl::StrReplaceAll(kOld, {{from, to}})).status().ToString();
}

TEST(RealisationTest, ComesBackByteForByte) {
  const Realisation realisation = Realisation::Parse(kOld).value();
  EXPECT_EQ(realisation.Print(), kOld);
  EXPECT_EQ(realisation.value.out_path.path(), "/nix/store/00000000000000000000000000000000-x");
  EXPECT_EQ(realisation.dependent_realisations.size(), 1u);
  EXPECT_EQ(realisation.CacheFile(), absl::StrCat("realisations/sha256:", std::string(64, 'a'), "!out.doi"));
}

TEST(RealisationTest, FingerprintIsAllButTheSignatures) {
  const Realisation realisation = Realisation::Parse(kOld).value();
  EXPECT_EQ(realisation.Fingerprint(), absl::StrReplaceAll(kOld, {{R"(,"signatures":["k:c2ln"])", ""}}));
}

TEST(RealisationTest, UnknownFieldsComeBack) {
  const std::string text =
      absl::StrReplaceAll(kOld, {{R"("outPath")", R"("newer":{"a":[1,null]},"outPath")"}});
  EXPECT_EQ(Realisation::Parse(text).value().Print(), text);
}

TEST(RealisationTest, BadOnesAreRefusedByField) {
  EXPECT_THAT(OldError("\"id\"", "\"ID\""), HasSubstr("id: the field is missing"));
  EXPECT_THAT(OldError("!out", ""), HasSubstr("id: expected sha256:<hash>!<output>"));
  EXPECT_THAT(OldError("!out", "!../x"), HasSubstr("output name: expected"));
  EXPECT_THAT(OldError("aaa", "aa"), HasSubstr("id: "));
  EXPECT_THAT(OldError("\"0000", "\"/nix/store/0000"), HasSubstr("outPath: store path"));
  EXPECT_THAT(OldError("\"1111", "\"e111"), HasSubstr("dependentRealisations: store path"));
  EXPECT_THAT(OldError("[\"k:c2ln\"]", "\"k:c2ln\""), HasSubstr("signatures: expected an array"));
  EXPECT_THAT(OldError("[\"k:c2ln\"]", "[5]"), HasSubstr("signatures: expected strings or objects"));
  EXPECT_THAT(OldError("{\"dep", "[\"dep"), HasSubstr("expected an object"));
  EXPECT_THAT(Realisation::Parse(std::string(100000, '[')).status().ToString(),
              HasSubstr("nested deeper than 64"));
  EXPECT_THAT(Realisation::Parse(std::string(2 << 20, ' ')).status().ToString(),
              HasSubstr("at most 1048576"));
  EXPECT_FALSE(Realisation::Parse("{\"id\":\"\xFF\"}").ok());
}

TEST(BuildTraceTest, ComesBackByteForByteAndReadsSignaturesOfBothForms) {
  const BuildTraceEntry entry = BuildTraceEntry::Parse(Drv(), "out", kNew).value();
  EXPECT_EQ(entry.Print(), kNew);
  EXPECT_EQ(entry.CacheFile(), "build-trace-v2/22222222222222222222222222222222-x.drv/out.doi");
  const std::string strings =
      absl::StrReplaceAll(kNew, {{R"([{"keyName":"k","sig":"c2ln"}])", R"(["k:c2ln","a:b","k:c2ln"])"}});
  EXPECT_THAT(BuildTraceEntry::Parse(Drv(), "out", strings).value().value.signatures,
              ElementsAre("a:b", "k:c2ln"));
}

TEST(BuildTraceTest, FingerprintHasTheKeyAndNoSignatures) {
  EXPECT_EQ(BuildTraceEntry::Parse(Drv(), "out", kNew).value().Fingerprint(),
            R"({"key":{"drvPath":"22222222222222222222222222222222-x.drv","outputName":"out"},)"
            R"("value":{"outPath":"00000000000000000000000000000000-x"}})");
}

TEST(BuildTraceTest, KeyMustBeADerivationAndAnOutput) {
  const StorePath no_drv = StorePath::FromBaseName("22222222222222222222222222222222-x").value();
  EXPECT_FALSE(BuildTraceEntry::Parse(no_drv, "out", kNew).ok());
  EXPECT_FALSE(BuildTraceEntry::Parse(Drv(), "a/b", kNew).ok());
}

TEST(RealisationTest, SignatureHoldsForItsTextAndKeyOnly) {
  const SecretKey key = SecretKey::Generate("ours"), other = SecretKey::Generate("ours");
  Realisation realisation = Realisation::Parse(kOld).value();
  EXPECT_FALSE(IsSignedBy(realisation, key.public_key()));
  Sign(realisation, key);
  Sign(realisation, key);
  EXPECT_EQ(realisation.value.signatures.size(), 2u) << "once each";
  EXPECT_TRUE(IsSignedBy(realisation, key.public_key()));
  EXPECT_FALSE(IsSignedBy(realisation, other.public_key()));
  realisation.value.out_path = Drv();
  EXPECT_FALSE(IsSignedBy(realisation, key.public_key()));
}

// One content-addressed derivation that depends on another, built and copied into a signed cache by Nix
// itself.
class RealisationOfNixTest : public testing::Test {
 protected:
  static constexpr char kExpression[] = R"nix(
    let ca = name: script: more: derivation ({ inherit name; system = "x86_64-linux"; builder = "/bin/sh"; args = [ "-c" script ];
          __contentAddressed = true; outputHashMode = "recursive"; outputHashAlgo = "sha256"; } // more);
    in ca "top" "read word < $dep; echo top $word > $out" { dep = ca "dep" "echo dep > $out" { }; }
  )nix";

  Completed Nix(std::vector<std::string> argv) {
    argv.insert(argv.begin() + 1, {"--extra-experimental-features", "ca-derivations"});
    const auto done = store_.Nix(std::move(argv));
    EXPECT_TRUE(done.ok() && done->status.ok()) << done.status() << (done.ok() ? done->err : "");
    return done.ok() ? *done : Completed();
  }

  // The cache's realisations, by file name.
  std::map<std::string, std::string> FilledCache() {
    Nix({"nix-store", "--generate-binary-cache-key", "made-by-nix-1", store_.dir() / "secret",
         store_.dir() / "public"});
    // Nix signs a realisation when it builds it, not when it copies it.
    Nix({"nix", "copy", "--to", "file://" + cache(), "--option", "secret-key-files", store_.dir() / "secret",
         "--impure", "--expr", kExpression});
    std::map<std::string, std::string> files;
    const auto listed = hydrant::Run({.argv = {"ls", cache() + "/realisations"}});
    for (const auto name : absl::StrSplit(listed->out, '\n', absl::SkipEmpty())) {
      files[std::string(name)] = ReadFile(absl::StrCat(cache(), "/realisations/", name)).value();
    }
    return files;
  }

  std::string cache() const { return store_.dir() / "cache-of-nix"; }
  TestStore store_;
};

TEST_F(RealisationOfNixTest, WhatNixMakesComesBackAndItsSignatureVerifies) {
  const auto files = FilledCache();
  ASSERT_FALSE(files.empty());
  const PublicKey key = PublicKey::Parse(ReadFile(store_.dir() / "public").value()).value();
  for (const auto& [name, text] : files) {
    const Realisation realisation = Realisation::Parse(text).value();
    EXPECT_EQ(realisation.Print(), text);
    EXPECT_EQ(realisation.CacheFile(), "realisations/" + name);
    EXPECT_TRUE(IsSignedBy(realisation, key)) << text;
  }
}

}  // namespace
}  // namespace hydrant::nix
