// Signatures from outside: nothing but the key's own signature of the text verifies.
#include "lib/nix/signing_key.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {

// Made with nix-store --generate-binary-cache-key for this purpose; it signs nothing else.
constexpr std::string_view kSecretKey =
    "fuzz-1:NicuPRV4EmKRFQj0wwT6AlPSXaa+jZGzNCbwolsV6HUmm/BiH07tyoy+UlNxICR5mcCtigw9VCTJ/oSQphUF/A==";
constexpr std::string_view kText = "1;/nix/store/00000000000000000000000000000000-x;sha256:0;1;";

void FuzzSignature(std::string_view input) {
  static const nix::SecretKey secret = nix::SecretKey::Parse(kSecretKey).value();
  static const nix::PublicKey key = secret.public_key();
  static const std::string good = secret.Sign(kText);
  Demand(key.Verify(kText, good), "the key's signature verifies");
  if (key.Verify(kText, input)) {
    // Blanks and line ends around are forgiven, other bytes are not.
    std::string bare;
    for (const char c : input) {
      if (c != '\n' && c != '\r' && c != ' ') bare += c;
    }
    Demand(bare == good, "only the key's own signature verifies", input);
  }
  Demand(key.Verify(input, secret.Sign(input)), "any text can be signed");
  if (input != kText) Demand(!key.Verify(input, good), "a signature is of one text", input);
}

}  // namespace hydrant::fuzz
