// Which store path an output of a derivation became: what a binary cache keeps about content-addressed
// derivations. Two formats. Nix 2.4 to 2.34 (`realisations/<hash>!<output>.doi`) names the derivation by its
// hash modulo and says so inside; Nix 2.35 on (`build-trace-v2/<drv>/<output>.doi`) names it by its store
// path, in the file's name alone. Sources: Nix 2.8 libstore/realisation.cc; Nix 2.35, the same file, and its
// manual, JSON build trace entry.
#ifndef HYDRANT_LIB_NIX_REALISATION_H_
#define HYDRANT_LIB_NIX_REALISATION_H_

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/nix/hash.h"
#include "lib/nix/signing_key.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {

// What both formats hold. `other_fields`: of keys that we do not know, their JSON values; kept for newer
// Nixes, and signed with the rest only by those.
struct RealisationValue {
  StorePath out_path;
  std::vector<std::string> signatures;              // "name:base64"; sorted, no duplicates
  std::map<std::string, std::string> other_fields;  // key -> JSON
};

// An output's name: what Nix allows in store paths' names.
absl::Status CheckOutputName(std::string_view name);

struct Realisation {
  // sha256:<base16>!<output>
  struct Id {
    Sha256Digest derivation_hash;  // modulo
    std::string output_name;
    // InvalidArgument. The hash may be in any spelling.
    static absl::StatusOr<Id> Parse(std::string_view text);
    std::string ToString() const;
    friend auto operator<=>(const Id&, const Id&) = default;
  };

  Id id;
  RealisationValue value;
  std::map<Id, StorePath>
      dependent_realisations;  // of the inputs that are content-addressed; empty since Nix 2.32

  // InvalidArgument names the field. At most 1 MiB.
  static absl::StatusOr<Realisation> Parse(std::string_view json);
  std::string Print() const;        // as Nix does: no blanks, keys sorted
  std::string CacheFile() const;    // "realisations/<id>.doi"
  std::string Fingerprint() const;  // the text that is signed
};

struct BuildTraceEntry {
  StorePath derivation;  // resolved
  std::string output_name;
  RealisationValue value;

  // `json` is the file's content, which lacks the key; signatures may be objects {keyName, sig} or strings
  // "name:base64".
  static absl::StatusOr<BuildTraceEntry> Parse(const StorePath& derivation, std::string_view output_name,
                                               std::string_view json);
  std::string Print() const;        // the file's content
  std::string CacheFile() const;    // "build-trace-v2/<drv>/<output>.doi"
  std::string Fingerprint() const;  // the text that is signed
};

// True when one of the signatures is `key`'s.
template <typename Entry>
bool IsSignedBy(const Entry& entry, const PublicKey& key) {
  const std::string text = entry.Fingerprint();
  for (const std::string& signature : entry.value.signatures) {
    if (key.Verify(text, signature)) return true;
  }
  return false;
}

// Adds `key`'s signature.
template <typename Entry>
void Sign(Entry& entry, const SecretKey& key) {
  std::vector<std::string>& signatures = entry.value.signatures;
  const std::string signature = key.Sign(entry.Fingerprint());
  const auto at = std::lower_bound(signatures.begin(), signatures.end(), signature);
  if (at == signatures.end() || *at != signature) signatures.insert(at, signature);
}

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_REALISATION_H_
