#include "lib/nix/narinfo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "lib/nix/signing_key.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As cache.nixos.org serves it.
constexpr char kHello[] =
    "StorePath: /nix/store/s66mzxpvicwk07gjbjfw9izjfa797vsw-hello-2.12.1\n"
    "URL: nar/1nhgq6wcggx0plpy4991h3ginj6hipsdslv4fd4zml1n707j26yq.nar.xz\n"
    "Compression: xz\n"
    "FileHash: sha256:1nhgq6wcggx0plpy4991h3ginj6hipsdslv4fd4zml1n707j26yq\n"
    "FileSize: 50184\n"
    "NarHash: sha256:0yzhigwjl6bws649vcs2asa4lbs8hg93hyix187gc7s7a74w5h80\n"
    "NarSize: 226488\n"
    "References: 3n58xw4373jp0ljirf06d8077j15pc4j-glibc-2.37-8 "
    "s66mzxpvicwk07gjbjfw9izjfa797vsw-hello-2.12.1\n"
    "Deriver: ib3sh3pcz10wsmavxvkdbayhqivbghlq-hello-2.12.1.drv\n"
    "Sig: "
    "cache.nixos.org-1:8ijECciSFzWHwwGVOIVYdp2fOIOJAfmzGHPQVwpktfTQJF6kMPPDre7UtFw3o+"
    "VqenC5P8RikKOAAfN7CvPEAg==\n";
constexpr char kCacheNixosOrg[] = "cache.nixos.org-1:6NCHdD59X431o0gWypbMrAURkbJ16ZPMQFGspcDShjY=";

TEST(NarInfoTest, RealOneComesBackByteForByteAndItsSignatureVerifies) {
  const NarInfo info = ParseNarInfo(kHello).value();
  EXPECT_EQ(PrintNarInfo(info), kHello);
  EXPECT_EQ(info.references.size(), 2u);
  EXPECT_EQ(info.nar_size, 226488u);
  EXPECT_TRUE(CheckForStorage(info).ok());
  EXPECT_TRUE(PublicKey::Parse(kCacheNixosOrg).value().Verify(Fingerprint(info), info.signatures.at(0)));
}

TEST(NarInfoTest, FingerprintSortsFullPaths) {
  NarInfo info = ParseNarInfo(kHello).value();
  std::swap(info.references[0], info.references[1]);
  EXPECT_EQ(Fingerprint(info),
            "1;/nix/store/s66mzxpvicwk07gjbjfw9izjfa797vsw-hello-2.12.1;"
            "sha256:0yzhigwjl6bws649vcs2asa4lbs8hg93hyix187gc7s7a74w5h80;226488;"
            "/nix/store/3n58xw4373jp0ljirf06d8077j15pc4j-glibc-2.37-8,"
            "/nix/store/s66mzxpvicwk07gjbjfw9izjfa797vsw-hello-2.12.1");
}

TEST(NarInfoTest, WhatNixToleratesIsRead) {
  const std::string text = absl::StrReplaceAll(
      kHello, {{"Compression: xz\n", "Unknown: a: b\n"},
               {"FileHash: ", "Other: "},
               {"Deriver: ib3sh3pcz10wsmavxvkdbayhqivbghlq-hello-2.12.1.drv", "Deriver: unknown-deriver"}});
  const NarInfo info = ParseNarInfo(text).value();
  EXPECT_EQ(info.compression, "bzip2");
  EXPECT_EQ(info.deriver, "");
  EXPECT_FALSE(info.file_hash.has_value());
}

TEST(NarInfoTest, UnknownFieldsComeBackInTheirOrder) {
  const std::string text = absl::StrCat("Zeta: 1: 2\n", kHello, "Alpha: x\nAlpha: y\n");
  const NarInfo info = ParseNarInfo(text).value();
  EXPECT_THAT(info.other_fields, ElementsAre("Zeta: 1: 2", "Alpha: x", "Alpha: y"));
  EXPECT_EQ(PrintNarInfo(info), absl::StrCat(kHello, "Zeta: 1: 2\nAlpha: x\nAlpha: y\n"));
  EXPECT_TRUE(CheckForStorage(info).ok());
}

TEST(NarInfoTest, ContentAddressIsKeptAsNixWritesIt) {
  const std::string sha1(40, 'a'),
      base16 = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
  EXPECT_EQ(ParseNarInfo(absl::StrCat(kHello, "CA: fixed:r:sha256:", base16, "\n")).value().content_address,
            "fixed:r:sha256:1b8m03r63zqhnjf7l5wnldhh7c134ap5vpj0850ymkq1iyzicy5s");
  EXPECT_TRUE(ParseNarInfo(absl::StrCat(kHello, "CA: \nCA: fixed:git:sha1:", sha1, "\n")).ok());
  EXPECT_FALSE(ParseNarInfo(absl::StrCat(kHello, "CA: text:sha1:", sha1, "\n")).ok());
}

struct Change {
  std::string from, to, message;
};

TEST(NarInfoTest, BadOnesAreRefusedByLineAndField) {
  for (const Change& c : std::vector<Change>{
           {"NarSize: 226488", "NarSize:226488", "narinfo line 7: expected \"Key: value\""},
           {"NarSize: 226488", "NarSize: 0", "NarSize: expected more than 0"},
           {"NarSize: 226488", "NarSize: 22648x", "narinfo line 7: NarSize"},
           {"NarSize: 226488", "NarSize: -1", "narinfo line 7: NarSize"},
           {"NarSize: 226488", "NarSize: 99999999999999999999", "narinfo line 7: NarSize"},
           {"NarHash: sha256:0", "NarHash: sha256:", "narinfo line 6: NarHash"},
           {"URL: nar/1nhgq6wcggx0plpy4991h3ginj6hipsdslv4fd4zml1n707j26yq.nar.xz\n", "", "URL is missing"},
           {"References: 3n58", "References: /nix/store/3n58", "narinfo line 8: References"},
           {"StorePath: /nix/store/", "StorePath: ", "narinfo line 1: StorePath"},
           {"NarSize: 226488", "NarSize:\nURL: x", "narinfo line 7: expected \"Key: value\""},
           {"Deriver: ", "References: 3n58xw4373jp0ljirf06d8077j15pc4j-glibc\nDeriver: ",
            "line 9: References"},
           {"NarHash: sha256:0yzhigwjl6bws649vcs2asa4lbs8hg93hyix187gc7s7a74w5h80",
            "NarHash: md5:d41d8cd98f00b204e9800998ecf8427e", "line 6: NarHash: expected a sha256"},
           {"Deriver: ib3sh3pcz10wsmavxvkdbayhqivbghlq-hello-2.12.1.drv",
            "Deriver: ", "narinfo line 9: Deriver"},
           {"Deriver: ", "Deriver: /nix/store/", "narinfo line 9: Deriver"},
           {"Sig: ", "CA: nonsense\nSig: ", "narinfo line 10: CA"},
           {"Sig: ", "\nSig: ", "narinfo line 10"},
           {"EAg==\n", "EAg==", "expected a newline"}}) {
    const absl::Status status = ParseNarInfo(absl::StrReplaceAll(kHello, {{c.from, c.to}})).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.to;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message)) << c.to;
  }
}

TEST(NarInfoTest, StorageDemandsMoreThanReading) {
  for (const Change& c : std::vector<Change>{{"URL: nar/", "URL: ../", "URL"},
                                             {"URL: nar/", "URL: /nar/", "URL"},
                                             {"URL: nar/", "URL: //host/", "URL"},
                                             {"Compression: xz", "Compression: rar", "Compression"},
                                             {"FileSize: 50184\n", "", "FileSize"},
                                             {"FileHash: ", "Other", "FileHash"},
                                             {"EAg==", "", "Sig"},
                                             {"Sig: cache.nixos.org-1:", "Sig: ", "Sig"},
                                             {"Sig: cache", "Sig: ca che", "Sig"},
                                             {"NarSize: 2", "NarSize: 9223372036854775808\nX: ", "NarSize"},
                                             {"Sig: ", "X:y\nSig: ", "unknown field"},
                                             {"Sig: ", "X: \ry\nSig: ", "unknown field"}}) {
    const auto info =
        ParseNarInfo(absl::StrReplaceAll(kHello, {{c.from, c.to == "Other" ? "Other: " : c.to}}));
    const absl::Status status = info.ok() ? CheckForStorage(*info) : info.status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message)) << c.to;
  }
}

TEST(NarInfoTest, NoReferencesKeepTheBlankThatNixNeeds) {
  NarInfo info = ParseNarInfo(kHello).value();
  info.references.clear();
  EXPECT_THAT(PrintNarInfo(info), HasSubstr("\nReferences: \n"));
  EXPECT_TRUE(ParseNarInfo(PrintNarInfo(info)).ok());
}

}  // namespace
}  // namespace hydrant::nix
