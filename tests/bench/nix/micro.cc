// The small parts, in Google Benchmark: what one call costs.
#include <benchmark/benchmark.h>
#include <sodium.h>

#include <algorithm>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/nix/derivation.h"
#include "lib/nix/hash.h"
#include "lib/nix/narinfo.h"
#include "lib/nix/reference_scan.h"
#include "lib/nix/signing_key.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix::bench {
namespace {

std::string Path(int seed, std::string_view name) {
  return absl::StrCat("/nix/store/", ToBase32(HashSha256(absl::StrCat(seed)).view().substr(0, 20)), "-",
                      absl::string_view(name.data(), name.size()));
}

// Twelve references, one signature: a usual one.
struct SignedNarInfo {
  SecretKey key = SecretKey::Generate("bench-1");
  std::string fingerprint, text, signature;

  SignedNarInfo() {
    NarInfo info{.store_path = StorePath::Parse(Path(0, "python3.12-torch-2.7.1")).value(),
                 .compression = "zstd",
                 .file_hash = HashSha256("file"),
                 .file_size = 123456789,
                 .nar_hash = HashSha256("nar"),
                 .nar_size = 987654321};
    info.url = absl::StrCat("nar/", info.file_hash->ToBase32(), ".nar.zst");
    for (int i = 1; i <= 12; ++i) {
      info.references.push_back(StorePath::Parse(Path(i, "cuda12.9-libcublas-12.9.1.4-lib")).value());
    }
    std::sort(info.references.begin(), info.references.end());
    info.deriver = StorePath::Parse(Path(99, "python3.12-torch-2.7.1.drv"))->base_name();
    fingerprint = Fingerprint(info);
    signature = key.Sign(fingerprint);
    info.signatures = {signature};
    text = PrintNarInfo(info);
  }
};

void NarInfoParse(benchmark::State& state) {
  const SignedNarInfo sample;
  for (auto _ : state) benchmark::DoNotOptimize(ParseNarInfo(sample.text));
}
BENCHMARK(NarInfoParse);

void NarInfoParseAndVerify(benchmark::State& state) {
  const SignedNarInfo sample;
  const PublicKey key = sample.key.public_key();
  for (auto _ : state) {
    const auto info = ParseNarInfo(sample.text);
    if (!info.ok() || !key.Verify(Fingerprint(*info), info->signatures[0])) state.SkipWithError("refused");
  }
}
BENCHMARK(NarInfoParseAndVerify);

void SodiumVerifyAlone(benchmark::State& state) {
  const SignedNarInfo sample;
  std::string signature, key;
  absl::Base64Unescape(absl::string_view(sample.signature).substr(sample.signature.find(':') + 1),
                       &signature);
  const std::string key_text = sample.key.public_key().ToString();
  absl::Base64Unescape(absl::string_view(key_text).substr(key_text.find(':') + 1), &key);
  const auto bytes = [](const std::string& s) { return reinterpret_cast<const unsigned char*>(s.data()); };
  for (auto _ : state) {
    if (crypto_sign_verify_detached(bytes(signature), bytes(sample.fingerprint), sample.fingerprint.size(),
                                    bytes(key)) != 0) {
      state.SkipWithError("refused");
    }
  }
}
BENCHMARK(SodiumVerifyAlone);

void Base32Encode(benchmark::State& state) {
  const Sha256Digest digest = HashSha256("x");
  for (auto _ : state) benchmark::DoNotOptimize(digest.ToBase32());
}
BENCHMARK(Base32Encode);

void Base32Decode(benchmark::State& state) {
  const std::string text = HashSha256("x").ToBase32();
  for (auto _ : state) benchmark::DoNotOptimize(FromBase32(text, 32));
}
BENCHMARK(Base32Decode);

void StorePathParse(benchmark::State& state) {
  const std::string path = Path(1, "cuda12.9-libcublas-12.9.1.4-lib");
  for (auto _ : state) benchmark::DoNotOptimize(StorePath::Parse(path));
}
BENCHMARK(StorePathParse);

// 2.8 KB with twelve inputs, thirty variables and quoted newlines: the median of a real closure.
std::string SampleAterm() {
  Derivation d;
  const std::string out = Path(500, "sample-1.0");
  d.outputs["out"] = {.path = out};
  for (int i = 0; i < 12; ++i) d.input_derivations[Path(i, "dependency-1.2.3.drv")] = {"out"};
  d.input_sources = {Path(100, "default-builder.sh")};
  d.system = "x86_64-linux";
  d.builder = Path(101, "bash-5.2") + "/bin/bash";
  d.arguments = {"-e", Path(100, "default-builder.sh")};
  for (int i = 0; i < 28; ++i)
    d.environment[absl::StrCat("variable", i)] = i % 4 == 0 ? Path(i, "input-2.0") : "";
  d.environment["out"] = out;
  for (int i = 0; i < 8; ++i)
    d.environment["buildPhase"] += "cd \"$sourceRoot\"\n\tmake -j\"$NIX_BUILD_CORES\"\n";
  return PrintDerivation(d);
}

void AtermParse(benchmark::State& state) {
  const std::string aterm = SampleAterm();
  for (auto _ : state) benchmark::DoNotOptimize(ParseDerivation(aterm));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * aterm.size()));
}
BENCHMARK(AtermParse);

void AtermPrint(benchmark::State& state) {
  const Derivation derivation = ParseDerivation(SampleAterm()).value();
  size_t size = 0;
  for (auto _ : state) size = PrintDerivation(derivation).size();
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * size));
}
BENCHMARK(AtermPrint);

// 16 MiB in blocks of 64 KiB for 1,000 hash parts. Argument 0: noise, as in compiled code; 1: base32 text
// with few spaces, the worst case: a window never jumps.
void ReferenceScanFeed(benchmark::State& state) {
  std::string bytes;
  for (int i = 0; bytes.size() < (16 << 20); ++i) {
    const Sha256Digest digest = HashSha256(absl::StrCat(i));
    if (state.range(0) == 0) {
      bytes += digest.view();
    } else {
      absl::StrAppend(&bytes, i % 8 == 0 ? " " : "", digest.ToBase32());
    }
  }
  std::set<std::string> hash_parts;
  for (int i = 0; i < 1000; ++i) hash_parts.insert(Path(-1 - i, "x").substr(11, kHashPartLength));
  for (auto _ : state) {
    ReferenceScan scan(hash_parts);
    for (size_t at = 0; at < bytes.size(); at += 64 << 10)
      scan.Feed(std::string_view(bytes).substr(at, 64 << 10));
    benchmark::DoNotOptimize(scan.found().size());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(ReferenceScanFeed)->Arg(0)->Arg(1);

}  // namespace
}  // namespace hydrant::nix::bench
