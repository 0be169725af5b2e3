#include "lib/nix/closure_graph.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/base/status_macros.h"
#include "lib/nix/derivation_attributes.h"

namespace hydrant::nix {
namespace {

// Whether `name` is `derivation`'s, with "-" and `output` behind it unless that is "out".
bool IsNameOfOutput(std::string_view name, std::string_view derivation, std::string_view output) {
  if (output == "out") return name == derivation;
  return name.size() == derivation.size() + 1 + output.size() && name.starts_with(derivation) &&
         name[derivation.size()] == '-' && name.ends_with(output);
}

// With the quotes that stand around it in the file.
std::string_view Quoted(RawString raw) { return {raw.data() - 1, raw.size() + 2}; }

}  // namespace

absl::StatusOr<DerivationId> ClosureGraph::Meet(std::string_view path) {
  constexpr size_t kPrefix = kStoreDir.size() + 1;
  if (path.size() > kPrefix) {
    // What was met was checked; a foreign folder of the same length is caught by the comparison.
    const auto found = by_base_name_.find(path.substr(kPrefix));
    if (found != by_base_name_.end() && path.starts_with(kStoreDir) && path[kPrefix - 1] == '/')
      return found->second;
  }
  HYDRANT_RETURN_IF_ERROR(CheckStorePath(path));
  if (!path.ends_with(".drv")) {
    return absl::InvalidArgumentError(
        absl::StrCat("store path \"", AbslView(path), "\": expected .drv at its end"));
  }
  if (entries_.size() >= options_.most_derivations || entries_.full()) {
    return absl::ResourceExhaustedError(absl::StrCat("read ", AbslView(path), ": the closure has more than ",
                                                     entries_.size(), " derivations"));
  }
  const std::string_view base_name = arena_.Keep(path.substr(kPrefix));
  const DerivationId id{entries_.Add({.node = {.base_name = base_name}})};
  by_base_name_.emplace(base_name, id);
  return id;
}

absl::StatusOr<ClosureOutput> ClosureGraph::Output(std::string_view drv_base_name,
                                                   const DerivationView::Output& output) {
  ClosureOutput result{.hash_part = {}, .kind = output.kind, .name = NamesOfRawList(Quoted(output.name))};
  if (output.path.empty()) return result;
  const std::string_view base_name = output.path.substr(kStoreDir.size() + 1);
  std::string_view derivation = drv_base_name.substr(kHashPartLength + 1);
  derivation.remove_suffix(std::string_view(".drv").size());
  if (!IsNameOfOutput(base_name.substr(kHashPartLength + 1), derivation, output.name)) {
    return absl::InvalidArgumentError(absl::StrCat("output ", AbslView(output.name),
                                                   ": expected a path named ", AbslView(derivation),
                                                   " and the output, got ", AbslView(output.path)));
  }
  result.hash_part = DecodeHashPart(base_name.substr(0, kHashPartLength));
  return result;
}

absl::Status ClosureGraph::Fill(DerivationId id, const DerivationView& view) {
  inputs_.clear();
  for (const DerivationView::Input& input : view.input_derivations) {
    HYDRANT_ASSIGN_OR_RETURN(const DerivationId derivation, Meet(input.path));
    inputs_.push_back({.derivation = derivation, .output_names = NamesOfRawList(input.output_names)});
  }
  outputs_.clear();
  ClosureNode& node = entry(id).node;
  for (const DerivationView::Output& output : view.outputs) {
    HYDRANT_ASSIGN_OR_RETURN(outputs_.emplace_back(), Output(node.base_name, output));
  }
  node.inputs = arena_.Keep(inputs_);
  node.outputs = arena_.Keep(outputs_);
  node.system = NamesOfRawList(Quoted(view.system));
  const std::vector<std::string> features = RequiredSystemFeatures(view);
  node.features = features.empty() ? 0 : Names(absl::StrJoin(features, " "), features);
  entry(id).loaded = true;
  ++files_read_;
  return absl::OkStatus();
}

uint32_t ClosureGraph::NamesOfRawList(std::string_view list) {
  if (const auto found = list_by_key_.find(list); found != list_by_key_.end()) return found->second;
  std::vector<std::string> words;
  for (const RawString word : SplitRawList(list)) words.push_back(Unescape(word));
  return Names(list, words);
}

uint32_t ClosureGraph::Names(std::string_view key, const std::vector<std::string>& words) {
  if (const auto found = list_by_key_.find(key); found != list_by_key_.end()) return found->second;
  std::vector<std::string_view> kept;
  for (const std::string& word : words) kept.push_back(arena_.Keep(word));
  const uint32_t list = lists_.Add(arena_.Keep(kept));
  list_by_key_.emplace(arena_.Keep(key), list);
  return list;
}

size_t ClosureGraph::bytes() const {
  return arena_.bytes() + entries_.bytes() + lists_.bytes() +
         by_base_name_.capacity() * (sizeof(std::pair<std::string_view, DerivationId>) + 1) +
         list_by_key_.capacity() * (sizeof(std::pair<std::string_view, uint32_t>) + 1);
}

}  // namespace hydrant::nix
