// Key files: what is accepted works and is written as it was read; no error tells a secret.
#include <algorithm>

#include "lib/nix/signing_key.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

constexpr size_t kTelling = 12;  // so many bytes of a secret in a message are no accident

// The secret is what stands behind the first colon. The words of a message are those that an empty secret
// gets, the name among them: what is in them may be in the secret too.
bool Tells(std::string_view message, std::string_view text) {
  const size_t colon = std::min(text.size(), text.find(':'));
  const std::string words = nix::SecretKey::Parse(text.substr(0, colon + 1)).status().ToString();
  const std::string_view secret = text.substr(colon);
  for (size_t i = 1; i + kTelling <= secret.size(); ++i) {
    const std::string_view piece = secret.substr(i, kTelling);
    if (message.find(piece) != std::string_view::npos && words.find(piece) == std::string::npos) return true;
  }
  return false;
}

}  // namespace

void FuzzKey(std::string_view input) {
  if (const auto key = nix::PublicKey::Parse(input); key.ok()) {
    const auto again = nix::PublicKey::Parse(key->ToString());
    DemandOk(again.status(), "a written public key can be read");
    Demand(again->ToString() == key->ToString() && again->name() == key->name(), "a public key is stable");
  }
  const auto secret = nix::SecretKey::Parse(input);
  if (!secret.ok()) {
    const std::string message = secret.status().ToString();
    Demand(!Tells(message, input), "an error never tells a secret");
    return;
  }
  const auto again = nix::SecretKey::Parse(secret->ToString());
  DemandOk(again.status(), "a written secret key can be read");
  Demand(again->ToString() == secret->ToString() && again->name() == secret->name(),
         "a secret key is stable");
  const std::string signature = again->Sign("text");
  Demand(secret->public_key().Verify("text", signature), "a key verifies what it signed");
  Demand(!secret->public_key().Verify("texu", signature), "a signature is of one text");
}

}  // namespace hydrant::fuzz
