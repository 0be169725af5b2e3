// One derivation built through the daemon protocol, its closure in a signed binary cache of our making, which
// stock Nix with signature checking reads into an empty store; and what Nix signs, we accept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/nix/compression.h"
#include "lib/nix/nar.h"
#include "lib/nix/narinfo.h"
#include "lib/nix/signing_key.h"
#include "lib/nix/test_store.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;

constexpr char kExpression[] = R"nix(
let sh = name: script: more: derivation ({ inherit name; system = "x86_64-linux"; builder = "/bin/sh"; args = [ "-c" script ]; } // more);
in sh "top" "echo building top; read word < $dep; echo $word from $dep > $out" { dep = sh "dep" "echo hello > $out" {}; }
)nix";

class BinaryCacheTest : public testing::Test {
 protected:
  // Builds `drv_path` after its inputs, each from its inputs' outputs alone; its output.
  std::string Build(const std::string& drv_path) {
    const Derivation d = ParseDerivation(ReadFile(builder_.RealPath(drv_path)).value()).value();
    for (const auto& [input, names] : d.input_derivations) Build(input);
    const auto result = client_->BuildDerivation(drv_path, ResolveInputs(builder_, drv_path), nullptr);
    EXPECT_TRUE(result.ok() && result->ok()) << result.status();
    return d.outputs.at("out").path;
  }

  // Writes one valid path of the builder's store into the cache folder.
  void Publish(const PathInfo& path, const SecretKey& key) {
    struct Tee final : Sink {
      Tee(Sink& a, Sink& b) : a(a), b(b) {}
      absl::Status Write(std::string_view bytes) override {
        absl::Status status = a.Write(bytes);
        status.Update(b.Write(bytes));
        return status;
      }
      Sink &a, &b;
    };
    StringSink file;
    NarVerifier verifier;
    auto compressor = ZstdCompressor(file).value();
    Tee tee(*compressor, verifier);
    ASSERT_TRUE(client_->NarFromPath(path.path, tee).ok());
    ASSERT_TRUE(compressor->Finish().ok());
    const NarFacts facts = verifier.Finish().value();
    ASSERT_EQ(facts.hash, path.nar_hash);
    NarInfo info{.store_path = StorePath::Parse(path.path).value(),
                 .compression = "zstd",
                 .file_hash = HashSha256(file.value),
                 .file_size = file.value.size(),
                 .nar_hash = facts.hash,
                 .nar_size = facts.size};
    info.url =
        absl::StrCat("nar/", info.file_hash->ToBase32(), ".nar", FileExtension(info.compression).value());
    for (const std::string& reference : path.references)
      info.references.push_back(StorePath::Parse(reference).value());
    if (!path.deriver.empty()) info.deriver = StorePath::Parse(path.deriver)->base_name();
    info.signatures = {key.Sign(Fingerprint(info))};
    ASSERT_TRUE(CheckForStorage(info).ok());
    ASSERT_TRUE(WriteFileAtomically(cache() + "/" + info.url, file.value).ok());
    ASSERT_TRUE(
        WriteFileAtomically(absl::StrCat(cache(), "/", std::string(info.store_path.hash_part()), ".narinfo"),
                            PrintNarInfo(info))
            .ok());
  }

  absl::StatusOr<Completed> CopyInto(const TestStore& reader, const std::string& path,
                                     const std::string& trusted_key) {
    return reader.Nix({"nix", "copy", "--from", "file://" + cache(), "--option", "require-sigs", "true",
                       "--option", "trusted-public-keys", trusted_key, path});
  }

  std::string cache() const { return builder_.dir() / "cache-of-ours"; }

  void SetUp() override {
    ASSERT_TRUE(MakeDirectories(cache() + "/nar").ok());
    ASSERT_TRUE(WriteFileAtomically(cache() + "/nix-cache-info",
                                    "StoreDir: /nix/store\nWantMassQuery: 1\nPriority: 30\n")
                    .ok());
    client_ = builder_.Connect().value();
    ASSERT_TRUE(client_->SetOptions({}).ok());
    out_ = Build(builder_.Instantiate(kExpression).value());
  }

  TestStore builder_;
  std::unique_ptr<DaemonClient> client_;
  std::string out_;
};

TEST_F(BinaryCacheTest, StockNixReadsOurCacheWithSignaturesRequired) {
  const SecretKey key = SecretKey::Generate("hydrant-test-1");
  const std::vector<PathInfo> closure = client_->QueryClosure({out_}).value();
  ASSERT_EQ(closure.size(), 2u);
  for (const PathInfo& path : closure) Publish(path, key);
  const TestStore reader;
  const auto copied = CopyInto(reader, out_, key.public_key().ToString());
  ASSERT_TRUE(copied.ok()) << copied.status();
  ASSERT_TRUE(copied->status.ok()) << copied->err;
  EXPECT_EQ(ReadFile(reader.RealPath(out_)).value(), "hello from " + closure[0].path + "\n");
  EXPECT_TRUE(reader.Nix({"nix-store", "--verify-path", out_, closure[0].path})->status.ok());
}

TEST_F(BinaryCacheTest, StockNixRefusesOurCacheUnderAnotherKey) {
  const SecretKey key = SecretKey::Generate("hydrant-test-1"), other = SecretKey::Generate("hydrant-test-1");
  const std::vector<PathInfo> closure = client_->QueryClosure({out_}).value();
  for (const PathInfo& path : closure) Publish(path, key);
  const TestStore reader;
  const auto copied = CopyInto(reader, out_, other.public_key().ToString());
  ASSERT_TRUE(copied.ok());
  EXPECT_FALSE(copied->status.ok());
  EXPECT_FALSE(FileExists(reader.RealPath(out_)));
}

TEST_F(BinaryCacheTest, WhatNixSignsAndPacksWeVerifyAndUnpack) {
  const std::string nix_cache = builder_.dir() / "cache-of-nix", secret = builder_.dir() / "secret",
                    open = builder_.dir() / "public";
  ASSERT_TRUE(
      builder_.Nix({"nix-store", "--generate-binary-cache-key", "nix-test-1", secret, open})->status.ok());
  const PublicKey key = PublicKey::Parse(ReadFile(open).value()).value();
  for (const std::string codec : {"xz", "zstd", "bzip2", "none", "gzip"}) {
    const std::string folder = nix_cache + codec;
    const auto pushed =
        builder_.Nix({"nix", "copy", "--to",
                      absl::StrCat("file://", folder, "?compression=", codec, "&secret-key=", secret), out_});
    ASSERT_TRUE(pushed.ok() && pushed->status.ok()) << pushed->err;
    const std::string hash_part(StorePath::Parse(out_)->hash_part());
    const std::string text = ReadFile(folder + "/" + hash_part + ".narinfo").value();
    const NarInfo info = ParseNarInfo(text).value();
    EXPECT_EQ(PrintNarInfo(info), text);
    ASSERT_EQ(info.signatures.size(), 1u);
    EXPECT_TRUE(key.Verify(Fingerprint(info), info.signatures[0]));
    EXPECT_EQ(SecretKey::Parse(ReadFile(secret).value())->Sign(Fingerprint(info)), info.signatures[0]);
    const std::string file = ReadFile(folder + "/" + info.url).value();
    EXPECT_EQ(HashSha256(file), info.file_hash);
    NarVerifier verifier({std::string(info.references.at(0).hash_part())});
    auto decoder = Decompressor(info.compression, verifier).value();
    ASSERT_TRUE(decoder->Write(file).ok());
    ASSERT_TRUE(decoder->Finish().ok()) << codec;
    const NarFacts facts = verifier.Finish().value();
    EXPECT_EQ(facts.hash, info.nar_hash);
    EXPECT_EQ(facts.size, info.nar_size);
    EXPECT_EQ(facts.references.size(), 1u);
  }
}

}  // namespace
}  // namespace hydrant::nix
