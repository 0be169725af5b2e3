// Hashes: every spelling of a digest reads as that digest, base32 is a bijection.
#include "lib/nix/hash.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

void Spell(const nix::Hash& hash) {
  for (const std::string& spelling : {hash.ToSri(), hash.ToNixString()}) {
    const auto again = nix::Hash::Parse(spelling);
    DemandOk(again.status(), "every spelling can be read");
    Demand(*again == hash, "every spelling is the same hash", spelling);
  }
  for (const std::string& digits : {hash.ToBase16(), hash.ToBase32()}) {
    const auto again = nix::Hash::ParseDigits(hash.algorithm, digits);
    DemandOk(again.status(), "all digits can be read");
    Demand(*again == hash, "all digits are the same hash", digits);
  }
}

}  // namespace

void FuzzHash(std::string_view input) {
  const std::string text = nix::ToBase32(input);
  const auto bytes = nix::FromBase32(text, input.size());
  DemandOk(bytes.status(), "what is written as base32 can be read");
  Demand(*bytes == input, "base32 keeps the bytes", text);

  const size_t size = input.size() * 5 / 8;
  if (const auto decoded = nix::FromBase32(input, size); decoded.ok()) {
    Demand(nix::ToBase32(*decoded) == input, "base32 has one spelling", input);
  }
  if (const auto hash = nix::Hash::Parse(input); hash.ok()) Spell(*hash);
  for (const auto algorithm :
       {nix::HashAlgorithm::kMd5, nix::HashAlgorithm::kSha1, nix::HashAlgorithm::kSha256,
        nix::HashAlgorithm::kSha512, nix::HashAlgorithm::kBlake3}) {
    if (const auto hash = nix::Hash::ParseDigits(algorithm, input); hash.ok()) Spell(*hash);
  }
  const auto digest = nix::Sha256Digest::Parse(input);
  if (!digest.ok()) return;
  for (const std::string& spelling :
       {digest->ToBase32(), digest->ToBase16(), digest->ToSri(), digest->ToNixString()}) {
    const auto again = nix::Sha256Digest::Parse(spelling);
    DemandOk(again.status(), "every spelling can be read");
    Demand(*again == *digest, "every spelling is the same digest", spelling);
  }
}

}  // namespace hydrant::fuzz
