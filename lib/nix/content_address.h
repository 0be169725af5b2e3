// Store paths that follow from a content: how it was hashed, what it refers to, its name. Rules: Nix's
// libstore, content-address.cc and store-api.cc (makeStorePath and those who call it).
#ifndef HYDRANT_LIB_NIX_CONTENT_ADDRESS_H_
#define HYDRANT_LIB_NIX_CONTENT_ADDRESS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/nix/hash.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {

// What was hashed.
enum class ContentMethod : uint8_t {
  kText,       // a file's bytes; may have references. Derivations and builtins.toFile
  kFlat,       // a file's bytes
  kRecursive,  // the NAR; with SHA-256 it may have references, also to itself
  kGit,        // a Git tree or blob. Read and written, but not computed (newer Nix has it)
};

struct ContentAddress {
  ContentMethod method = ContentMethod::kRecursive;
  Hash hash;

  // "text:sha256:HASH", "fixed:[r:|git:]ALGORITHM:HASH", as narinfos have it; HASH base32, base16 or base64.
  // InvalidArgument quotes it and says what was expected; also for a method that Nix has not with that
  // algorithm.
  static absl::StatusOr<ContentAddress> Parse(std::string_view text);
  // From the two fields of a fixed output of a .drv: "r:sha256" and digits.
  static absl::StatusOr<ContentAddress> OfOutput(std::string_view hash_algo, std::string_view hash);
  std::string ToString() const;            // what Parse reads, base32
  std::string MethodAndAlgorithm() const;  // "r:sha256", as a .drv has it
  friend bool operator==(const ContentAddress&, const ContentAddress&) = default;
};

struct ContentReferences {
  std::vector<StorePath> others;  // in any order, without itself
  bool itself = false;
};

// InvalidArgument: references where there can be none, or a bad name.
absl::StatusOr<StorePath> PathOfContent(const ContentAddress& address, std::string_view name,
                                        const ContentReferences& references = {});
// builtins.toFile and .drv files.
absl::StatusOr<StorePath> PathOfText(std::string_view text, std::string_view name,
                                     const std::vector<StorePath>& references = {});
// Where an input-addressed output lies: `digest` is output_paths.h's. The name is NameOfOutput's.
absl::StatusOr<StorePath> PathOfOutput(const Sha256Digest& digest, std::string_view derivation_name,
                                       std::string_view output_name);

// "hello-2.10" for out, "hello-2.10-dev" for dev.
std::string NameOfOutput(std::string_view derivation_name, std::string_view output_name);

// What stands for an output's path in the derivation that makes it (builtins.placeholder).
std::string Placeholder(std::string_view output_name);
// What stands for a content-addressed output's path in a derivation that uses it. `derivation` is a .drv.
std::string PlaceholderOfInput(const StorePath& derivation, std::string_view output_name);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_CONTENT_ADDRESS_H_
