// What a derivation's environment, or its structured attributes, say to Nix itself. With __json, that alone
// counts. Rules: Nix's libstore, parsed-derivations.cc.
#ifndef HYDRANT_LIB_NIX_DERIVATION_ATTRIBUTES_H_
#define HYDRANT_LIB_NIX_DERIVATION_ATTRIBUTES_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/nix/derivation_view.h"

namespace hydrant::nix {

// Typed access. Values are those of the file at the time of Parse; any thread.
class DerivationAttributes {
 public:
  // InvalidArgument: __json is not a JSON object, or is larger than 16 MiB.
  static absl::StatusOr<DerivationAttributes> Parse(const std::map<std::string, std::string>& environment);
  static absl::StatusOr<DerivationAttributes> Parse(const DerivationView& view);
  DerivationAttributes(DerivationAttributes&&) noexcept;
  DerivationAttributes& operator=(DerivationAttributes&&) noexcept;
  ~DerivationAttributes();

  bool structured() const;
  // nullopt: absent. InvalidArgument names the attribute and the type that was expected. In the environment a
  // bool is "1" or another text, and a list is words between blanks.
  absl::StatusOr<std::optional<std::string>> String(std::string_view name) const;
  absl::StatusOr<std::optional<bool>> Bool(std::string_view name) const;
  absl::StatusOr<std::optional<std::vector<std::string>>> Strings(std::string_view name) const;

 private:
  struct Values;
  explicit DerivationAttributes(std::unique_ptr<Values> values);
  std::unique_ptr<Values> values_;
};

// What decides where and how a derivation is realised.
struct DerivationOptions {
  std::string name;
  std::vector<std::string> required_system_features;  // sorted, each once
  bool prefer_local_build = false;
  bool allow_substitutes = true;
  std::string output_hash_mode;  // "", "flat", "recursive" or "nar", "text", "git"
  friend bool operator==(const DerivationOptions&, const DerivationOptions&) = default;
};
// InvalidArgument as of DerivationAttributes.
absl::StatusOr<DerivationOptions> OptionsOf(const std::map<std::string, std::string>& environment);

// For those that only count and place: what is not understood counts as absent, a broken __json as none.
// Features are sorted, each once.
std::vector<std::string> RequiredSystemFeatures(const std::map<std::string, std::string>& environment);
std::vector<std::string> RequiredSystemFeatures(const DerivationView& view);
std::string NameAttribute(const std::map<std::string, std::string>& environment);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DERIVATION_ATTRIBUTES_H_
