#include "client/format/inspect_narinfo.h"

#include <algorithm>

#include "client/commands/inspect.h"
#include "client/commands/inspect_input.h"
#include "lib/base/status_macros.h"
#include "lib/nix/signing_key.h"

namespace hydrant::client {
namespace {

constexpr size_t kLongestFile = 16 << 20;  // bytes; ten thousand references take 0.6 MB

SignatureVerdict Judge(const std::string& signature, const std::vector<nix::PublicKey>& keys,
                       const std::string& text) {
  SignatureVerdict verdict{.signature = signature, .key = signature.substr(0, signature.find(':'))};
  for (const nix::PublicKey& key : keys) {
    if (key.name() != verdict.key) continue;
    if (key.Verify(text, signature)) {
      verdict.state = SignatureState::kRight;
      return verdict;
    }
    verdict.state = SignatureState::kWrong;
  }
  return verdict;
}

}  // namespace

absl::StatusOr<Exit> InspectNarinfo(const InspectNarinfoOptions& options, Session& session) {
  std::vector<nix::PublicKey> keys;
  for (const std::string& text : options.keys) {
    HYDRANT_ASSIGN_OR_RETURN(nix::PublicKey key, nix::PublicKey::Parse(text));
    keys.push_back(std::move(key));
  }
  HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadInput(options.file, kLongestFile));
  absl::StatusOr<nix::NarInfo> info = nix::ParseNarInfo(text);
  if (!info.ok()) return Malformed(options.file, info.status());
  InspectedNarinfo inspected{.file = options.file, .info = *std::move(info)};
  const std::string fingerprint = nix::Fingerprint(inspected.info);
  for (const std::string& signature : inspected.info.signatures)
    inspected.signatures.push_back(Judge(signature, keys, fingerprint));
  for (const nix::PublicKey& key : keys) {
    const bool signed_by =
        std::any_of(inspected.signatures.begin(), inspected.signatures.end(),
                    [&](const SignatureVerdict& verdict) { return verdict.key == key.name(); });
    if (!signed_by) inspected.absent_keys.push_back(key.name());
  }
  session.Print({.table = [&] { return FormatNarinfo(inspected, session.screen()); },
                 .json = [&](JsonLayout layout) { return NarinfoJson(inspected, layout); }});
  if (keys.empty()) return Exit::kOk;
  const std::string fault = SignatureFault(inspected);
  if (fault.empty()) return Exit::kOk;
  return absl::DataLossError(options.file + ": " + fault);
}

}  // namespace hydrant::client
