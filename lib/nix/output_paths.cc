#include "lib/nix/output_paths.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/content_address.h"

namespace hydrant::nix {
namespace {

std::string_view NameOf(const StorePath& derivation) {
  std::string_view name = derivation.name();
  if (name.ends_with(".drv")) name.remove_suffix(4);
  return name;
}

// All outputs are of one kind, but that the files of input-addressed ones may have a path or not.
absl::StatusOr<OutputKind> KindOf(const Derivation& d) {
  const auto kind = [](const DerivationOutput& output) {
    return output.kind() == OutputKind::kDeferred ? OutputKind::kInputAddressed : output.kind();
  };
  if (d.outputs.empty()) return absl::InvalidArgumentError("expected at least one output");
  const auto& [first_name, first] = *d.outputs.begin();
  for (const auto& [name, output] : d.outputs) {
    if (kind(output) == kind(first)) continue;
    return absl::InvalidArgumentError(absl::StrCat("outputs of two kinds: ", first_name, " is ",
                                                   AbslView(OutputKindName(kind(first))), ", ", name, " is ",
                                                   AbslView(OutputKindName(kind(output)))));
  }
  if (first.fixed() && !d.fixed_output())
    return absl::InvalidArgumentError("a fixed output must be the only one, and be named out");
  return kind(first);
}

absl::StatusOr<StorePath> FixedPath(std::string_view name, const Derivation& d) {
  const DerivationOutput& out = d.outputs.begin()->second;
  HYDRANT_ASSIGN_OR_RETURN(const ContentAddress address, ContentAddress::OfOutput(out.hash_algo, out.hash));
  return PathOfContent(address, name);
}

// `path` is part of it, so that the same content under two names is two inputs.
absl::StatusOr<Sha256Digest> FixedDigest(const Derivation& d, std::string_view path) {
  const DerivationOutput& out = d.outputs.begin()->second;
  HYDRANT_ASSIGN_OR_RETURN(const ContentAddress address, ContentAddress::OfOutput(out.hash_algo, out.hash));
  return HashSha256(absl::StrCat("fixed:out:", address.MethodAndAlgorithm(), ":", address.hash.ToBase16(),
                                 ":", AbslView(path)));
}

}  // namespace

absl::StatusOr<OutputPaths::Inputs> OutputPaths::InputsOf(const Derivation& derivation) const {
  Inputs inputs;
  for (const auto& [path, names] : derivation.input_derivations) {
    const auto found = known_.find(path);
    if (found == known_.end())
      return absl::FailedPreconditionError(absl::StrCat("input ", path, " was not added before its user"));
    const Known& known = found->second;
    inputs.deferred |= known.deferred;
    for (const std::string& name : names) {
      if (std::find(known.outputs.begin(), known.outputs.end(), name) == known.outputs.end())
        return absl::InvalidArgumentError(absl::StrCat("input ", path, " has no output ", name));
    }
    if (!names.empty()) inputs.by_hash[known.digest.ToBase16()].insert(names.begin(), names.end());
  }
  return inputs;
}

absl::StatusOr<OutputPaths::Paths> OutputPaths::Compute(std::string_view name,
                                                        const Derivation& derivation) const {
  HYDRANT_ASSIGN_OR_RETURN(const OutputKind kind, KindOf(derivation));
  Paths paths;
  if (kind == OutputKind::kFixed) {
    HYDRANT_ASSIGN_OR_RETURN(const StorePath path, FixedPath(name, derivation));
    HYDRANT_ASSIGN_OR_RETURN(paths.digest, FixedDigest(derivation, path.path()));
    paths.by_output.emplace("out", path.path());
    return paths;
  }
  HYDRANT_ASSIGN_OR_RETURN(const Inputs inputs, InputsOf(derivation));
  paths.digest = HashSha256(PrintDerivation(derivation, {.inputs = &inputs.by_hash, .mask_outputs = true}));
  const bool known = kind == OutputKind::kInputAddressed && !inputs.deferred;
  for (const auto& [output, ignored] : derivation.outputs) {
    std::string& path = paths.by_output[output];
    if (!known) continue;
    HYDRANT_ASSIGN_OR_RETURN(const StorePath computed, PathOfOutput(paths.digest, name, output));
    path = computed.path();
  }
  return paths;
}

absl::Status OutputPaths::Add(const StorePath& path, const Derivation& derivation) {
  if (known_.contains(path.path())) return absl::OkStatus();
  HYDRANT_ASSIGN_OR_RETURN(const OutputKind kind, KindOf(derivation));
  Known known;
  if (kind == OutputKind::kFixed) {
    HYDRANT_ASSIGN_OR_RETURN(known.digest, FixedDigest(derivation, derivation.outputs.begin()->second.path));
  } else {
    HYDRANT_ASSIGN_OR_RETURN(const Inputs inputs, InputsOf(derivation));
    known.digest = HashSha256(PrintDerivation(derivation, {.inputs = &inputs.by_hash}));
    known.deferred = inputs.deferred || kind != OutputKind::kInputAddressed;
  }
  for (const auto& [name, output] : derivation.outputs) known.outputs.push_back(name);
  known_.emplace(path.path(), std::move(known));
  return absl::OkStatus();
}

absl::Status OutputPaths::Verify(const StorePath& path, const Derivation& derivation) const {
  HYDRANT_ASSIGN_OR_RETURN(const Paths paths, Compute(NameOf(path), derivation));
  for (const auto& [name, output] : derivation.outputs) {
    const std::string& right = paths.by_output.at(name);
    const std::string shown = right.empty() ? "empty until an input is built" : right;
    if (output.path != right) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", name, ": the path is ", output.path, ", but should be ", shown));
    }
    const auto variable = derivation.environment.find(name);
    if (!right.empty() && (variable == derivation.environment.end() || variable->second != right))
      return absl::InvalidArgumentError(absl::StrCat("variable ", name, ": the value should be ", right));
  }
  HYDRANT_ASSIGN_OR_RETURN(const StorePath own, PathOfDerivation(NameOf(path), derivation));
  if (own == path) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the file's content gives the path ", own.path()));
}

absl::StatusOr<StorePath> PathOfDerivation(std::string_view name, const Derivation& derivation) {
  std::vector<StorePath> references;
  for (const std::string& source : derivation.input_sources) {
    HYDRANT_ASSIGN_OR_RETURN(references.emplace_back(), StorePath::Parse(source));
  }
  for (const auto& [input, names] : derivation.input_derivations) {
    HYDRANT_ASSIGN_OR_RETURN(references.emplace_back(), StorePath::Parse(input));
  }
  return PathOfText(PrintDerivation(derivation), absl::StrCat(AbslView(name), ".drv"), references);
}

absl::Status VerifyOutputPaths(const Closure& closure, const std::string& store_root) {
  OutputPaths paths;
  for (const DerivationId id : closure.topological()) {
    HYDRANT_ASSIGN_OR_RETURN(const StorePath path, StorePath::FromBaseName(closure.node(id).base_name));
    const auto verify = [&]() -> absl::Status {
      HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadFile(store_root + path.path()));
      HYDRANT_ASSIGN_OR_RETURN(const Derivation derivation, ParseDerivation(text));
      HYDRANT_RETURN_IF_ERROR(paths.Verify(path, derivation));
      return paths.Add(path, derivation);
    };
    if (const absl::Status verified = verify(); !verified.ok()) return Annotate(verified, path.path());
  }
  return absl::OkStatus();
}

}  // namespace hydrant::nix
