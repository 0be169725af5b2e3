// A derivation to keep or to change: ATerm in, the same bytes out. Knows nothing of a store; paths are text
// as the file has them, checked to be store paths where Nix demands it. The grammar is derivation_view's.
#ifndef HYDRANT_LIB_NIX_DERIVATION_H_
#define HYDRANT_LIB_NIX_DERIVATION_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/nix/derivation_view.h"

namespace hydrant::nix {

struct DerivationOutput {
  std::string path;       // empty for kFloating, kDeferred, kImpure
  std::string hash_algo;  // "", "sha256", "r:sha256", …
  std::string hash;       // base16 for kFixed, "impure" for kImpure, else empty
  OutputKind kind() const;
  bool fixed() const { return kind() == OutputKind::kFixed; }
  friend bool operator==(const DerivationOutput&, const DerivationOutput&) = default;
};

struct Derivation {
  std::map<std::string, DerivationOutput> outputs;                 // by output name
  std::map<std::string, std::set<std::string>> input_derivations;  // .drv path -> output names
  std::set<std::string> input_sources;
  std::string system;
  std::string builder;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;

  bool fixed_output() const;
  // From `requiredSystemFeatures` of the environment, or of `__json` with structured attributes.
  std::set<std::string> required_system_features() const;
  // `name` of the environment, or of `__json`; empty when absent.
  std::string name() const;
  friend bool operator==(const Derivation&, const Derivation&) = default;
};

// Errors are those of ParseDerivationView.
absl::StatusOr<Derivation> ParseDerivation(std::string_view aterm);

// The bytes that Nix writes: ParseDerivation(PrintDerivation(d)) == d and the other way round for every real
// file.
std::string PrintDerivation(const Derivation& derivation);

// How Nix writes a derivation only to hash it (output_paths.h).
struct PrintChanges {
  const std::map<std::string, std::set<std::string>>* inputs = nullptr;  // in place of input_derivations
  bool mask_outputs = false;  // leaves out the outputs' paths, also in the variables with their names
};
std::string PrintDerivation(const Derivation& derivation, const PrintChanges& changes);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DERIVATION_H_
