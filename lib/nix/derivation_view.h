// A .drv file read without copying: views into its text. For those who read thousands of them; Derivation is
// for those who keep or change one. Both follow one grammar, which is this file's. Knows nothing of a store.
#ifndef HYDRANT_LIB_NIX_DERIVATION_VIEW_H_
#define HYDRANT_LIB_NIX_DERIVATION_VIEW_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace hydrant::nix {

// Nix's libstore, DerivationOutput: what is known of an output's path before it is built.
enum class OutputKind : uint8_t {
  kInputAddressed,  // a path, from how it is built
  kFixed,           // a path, from the hash that its content must have
  kFloating,        // content-addressed: no path until it is built
  kDeferred,        // input-addressed, but an input is floating: no path until that is built
  kImpure,          // built anew each time, then content-addressed
};
std::string_view OutputKindName(OutputKind kind);  // "input-addressed", "fixed", …

// The text of the file between quotes, with its escapes still in.
using RawString = std::string_view;
std::string Unescape(RawString raw);

// All views are into the text that was parsed, which must outlive them.
struct DerivationView {
  struct Output {
    RawString name;
    RawString path;       // a checked store path; empty for kFloating, kDeferred, kImpure
    RawString hash_algo;  // "", "sha256", "r:sha256", "text:sha256", "git:sha1", …: checked
    RawString hash;       // kFixed: checked digits; kImpure: "impure"; else empty
    OutputKind kind = OutputKind::kInputAddressed;
  };
  struct Input {
    RawString path;                 // a .drv of the store; only its end is checked
    std::string_view output_names;  // the list without its brackets: "dev","out" with quotes
  };
  struct Variable {
    RawString name, value;
  };

  std::vector<Output> outputs;  // at least one
  std::vector<Input> input_derivations;
  std::vector<RawString> input_sources;  // checked store paths
  RawString system, builder;
  std::vector<RawString> arguments;
  std::vector<Variable> environment;

  // The value of a variable; nullptr when there is none.
  const RawString* Find(std::string_view name) const;
};

// Fills `view`, whose vectors keep their capacity from file to file. InvalidArgument names the byte offset
// and what was expected there: the grammar, no output, input derivation or variable twice, output fields that
// go together. DrvWithVersion is refused by name. On failure `view` is in no particular state.
absl::Status ParseDerivationView(std::string_view aterm, DerivationView& view);

// The strings of a list as DerivationView::Input::output_names has it.
std::vector<RawString> SplitRawList(std::string_view list);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DERIVATION_VIEW_H_
