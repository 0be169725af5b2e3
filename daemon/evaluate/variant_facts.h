// What an evaluation learns of a package beside its derivation. Plain values; what a tree does not tell, or
// what does not evaluate, is empty.
#ifndef HYDRANT_DAEMON_EVALUATE_VARIANT_FACTS_H_
#define HYDRANT_DAEMON_EVALUATE_VARIANT_FACTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hydrant {

struct Licence {
  std::string name;  // nixpkgs' short name: "CUDA EULA", "bsd3"
  bool free = true;
  friend bool operator==(const Licence&, const Licence&) = default;
};

struct VariantFacts {
  std::vector<Licence> licences;  // of the package itself
  // The nearest unfree package among its inputs (at most six levels down): name with version, licence, and
  // the names of the inputs through which it comes, nearest first; none when it is an input itself. Empty:
  // none found.
  std::string unfree_through, unfree_licence;
  std::vector<std::string> unfree_inputs;
  // Where none was found: the nearest one that is marked as `mark` ("broken", "unsupported", "insecure"), likewise.
  std::string marked_through, mark;
  std::vector<std::string> marked_inputs;
  std::optional<bool> broken, unfree, insecure, unsupported;  // of meta
  // Whether meta.hydraPlatforms, where it has that, names the slice's system.
  std::optional<bool> hydra_platform;
  std::optional<bool> cuda_support, rocm_support;             // of passthru
  std::string cuda_version;                                   // "12.9", of the package's own cudaPackages
  std::vector<std::string> cuda_capabilities;                 // in its order
  std::string python_version;                                 // "3.12"
  // The path at which it stands in this tree, where the declared one is missing and the recipe knows another
  // name.
  std::string found_as;
  // The built-in recipe that made its package set and why it was that one: "2022", "nixpkgs 22.11: it has …". The
  // same for all variants of an evaluation; empty with a recipe of the matrix's own.
  std::string recipe, recipe_why;
  // What its slice has under the names by which all of it should agree: cudatoolkit, cudnn, nccl, magma ->
  // .drv path. The same for all variants of a slice; empty where the slice is without CUDA or has none that
  // evaluates.
  std::map<std::string, std::string> named;
  // With [nixpkgs] probe = ["hygiene"]: harmless questions (attribute, name, meta, cudaSupport) that fail
  // where unfree is refused, each with the refusal: "cudaSupport: Package ‘cudatoolkit-12.2’ …". Empty: none,
  // or not asked.
  std::vector<std::string> hygiene;
  friend bool operator==(const VariantFacts&, const VariantFacts&) = default;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_VARIANT_FACTS_H_
