#include "daemon/evaluate/derivation_closure.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "daemon/evaluate/evaluator_death.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/store_path.h"

namespace hydrant {

absl::StatusOr<std::shared_ptr<const LoadedDerivation>> DerivationClosure::Load(const std::string& path) {
  {
    MutexLock lock(mu_);
    if (const auto found = loaded_.find(path); found != loaded_.end()) return found->second;
  }
  if (const absl::Status checked = nix::CheckStorePath(path); !checked.ok() || !path.ends_with(".drv")) {
    return absl::InvalidArgumentError(absl::StrCat("derivation '", path, "': not a .drv of the store"));
  }
  auto derivation = std::make_shared<LoadedDerivation>();
  derivation->path = path;
  HYDRANT_ASSIGN_OR_RETURN(derivation->aterm, ReadFile(store_root_ + path));
  auto parsed = nix::ParseDerivation(derivation->aterm);
  if (!parsed.ok()) return Annotate(parsed.status(), path);
  derivation->parsed = *std::move(parsed);
  MutexLock lock(mu_);
  return loaded_.emplace(path, std::move(derivation)).first->second;
}

absl::StatusOr<std::vector<std::shared_ptr<const LoadedDerivation>>> DerivationClosure::LoadAll(
    const std::vector<std::string>& roots) {
  HYDRANT_ASSIGN_OR_RETURN(const LinkedClosure linked, Link(roots));
  std::vector<std::shared_ptr<const LoadedDerivation>> result;
  result.reserve(linked.all.size());
  for (const LinkedDerivation* derivation : linked.all) result.push_back(derivation->loaded);
  return result;
}

// Depth first without recursion, here and below: a graph may be deeper than a stack.
absl::StatusOr<LinkedClosure> DerivationClosure::Link(const std::vector<std::string>& roots,
                                                      const DerivationMarks& without) {
  const Loading load = [this](const std::string& path) { return Load(path); };
  for (const std::string& root : roots) HYDRANT_RETURN_IF_ERROR(LinkNew(root, load));
  struct Visit {
    const LinkedDerivation* derivation;
    size_t next_input;
  };
  LinkedClosure result;
  std::vector<Visit> open;
  MutexLock lock(mu_);
  DerivationMarks seen = without;
  seen.resize(nodes_.size());
  const auto begin = [&](const LinkedDerivation* derivation) {
    if (seen[derivation->number]) return;
    seen[derivation->number] = true;
    open.push_back({derivation, 0});
  };
  for (const std::string& root : roots) {
    result.roots.push_back(linked_.at(root));
    begin(result.roots.back());
    while (!open.empty()) {
      Visit& top = open.back();
      if (top.next_input < top.derivation->inputs.size()) {
        begin(top.derivation->inputs[top.next_input++]);
        continue;
      }
      result.all.push_back(top.derivation);
      open.pop_back();
    }
  }
  return result;
}

bool DerivationClosure::IsLinked(std::string_view path) const {
  MutexLock lock(mu_);
  return linked_.contains(AbslView(path));
}

std::vector<const LinkedDerivation*> DerivationClosure::Know(
    const std::vector<std::shared_ptr<const LoadedDerivation>>& derivations) {
  absl::flat_hash_map<absl::string_view, std::shared_ptr<const LoadedDerivation>> open;
  {
    MutexLock lock(mu_);
    for (const auto& loaded : derivations)
      open.emplace(loaded->path, loaded_.emplace(loaded->path, loaded).first->second);
  }
  // Each is given once: what needs something unknown is found out once.
  const Loading load =
      [&open](const std::string& path) -> absl::StatusOr<std::shared_ptr<const LoadedDerivation>> {
    const auto found = open.find(path);
    if (found == open.end() || found->second == nullptr) return absl::NotFoundError(path);
    return std::exchange(found->second, nullptr);
  };
  for (const auto& loaded : derivations) LinkNew(loaded->path, load).IgnoreError();
  std::vector<const LinkedDerivation*> linked;
  MutexLock lock(mu_);
  for (const auto& loaded : derivations) {
    if (const auto found = linked_.find(loaded->path); found != linked_.end())
      linked.push_back(found->second);
  }
  std::sort(linked.begin(), linked.end(), [](const auto* a, const auto* b) { return a->number < b->number; });
  return linked;
}

absl::Status DerivationClosure::LinkNew(const std::string& root, const Loading& load) {
  struct Visit {
    std::shared_ptr<const LoadedDerivation> derivation;
    std::map<std::string, std::set<std::string>>::const_iterator next_input;
  };
  absl::flat_hash_set<std::string> seen;
  std::vector<Visit> open;
  const auto begin = [&](const std::string& path) -> absl::Status {
    if (IsLinked(path) || !seen.insert(path).second) return absl::OkStatus();
    HYDRANT_ASSIGN_OR_RETURN(auto derivation, load(path));
    const auto first = derivation->parsed.input_derivations.begin();
    open.push_back({std::move(derivation), first});
    return absl::OkStatus();
  };
  HYDRANT_RETURN_IF_ERROR(begin(root));
  while (!open.empty()) {
    Visit& top = open.back();
    if (top.next_input == top.derivation->parsed.input_derivations.end()) {
      HYDRANT_RETURN_IF_ERROR(Enter(std::move(top.derivation)));
      open.pop_back();
      continue;
    }
    const std::string& input = (top.next_input++)->first;
    if (absl::Status begun = begin(input); !begun.ok())
      return Annotate(begun, "input of " + open.back().derivation->path);
  }
  return absl::OkStatus();
}

namespace {

// What a farm may be asked for by name: it stands in logs and in labels of metrics.
bool IsName(const std::string& text) {
  constexpr size_t kLongest = 100;
  return !text.empty() && text.size() <= kLongest &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

std::string WhyUnbuildable(const LinkedDerivation& derivation) {
  const LoadedDerivation& loaded = *derivation.loaded;
  const auto no_name = [&](const char* what, const std::string& text) {
    return absl::StrCat(loaded.path, ": its ", what, " '", PrintableText(text.substr(0, 100)), "' is no name");
  };
  if (!IsName(loaded.parsed.system)) return no_name("system", loaded.parsed.system);
  for (const std::string& feature : derivation.required_features) {
    if (!IsName(feature)) return no_name("required feature", feature);
  }
  for (const auto& [name, output] : loaded.parsed.outputs) {
    if (output.path.empty()) return absl::StrCat(loaded.path, ": the output ", name, " is content-addressed");
  }
  for (const LinkedDerivation* input : derivation.inputs) {
    if (!input->unbuildable.empty()) return input->unbuildable;
    for (const std::string& name : loaded.parsed.input_derivations.at(input->loaded->path)) {
      if (input->loaded->parsed.outputs.contains(name)) continue;
      return absl::StrCat(loaded.path, ": its input ", input->loaded->path, " has no output ", name);
    }
  }
  return "";
}

}  // namespace

// Its inputs are linked.
absl::Status DerivationClosure::Enter(std::shared_ptr<const LoadedDerivation> loaded) {
  LinkedDerivation node{.loaded = std::move(loaded)};
  node.required_features = node.loaded->parsed.required_system_features();
  MutexLock lock(mu_);
  const std::string& path = node.loaded->path;
  if (linked_.contains(path)) return absl::OkStatus();  // by another thread
  for (const auto& [input, outputs] : node.loaded->parsed.input_derivations) {
    const auto found = linked_.find(input);
    if (found == linked_.end()) {
      return absl::InvalidArgumentError(absl::StrCat("derivations need one another in a circle: ", input,
                                                     " is an input of itself through ", path));
    }
    node.inputs.push_back(found->second);
  }
  node.number = static_cast<uint32_t>(nodes_.size());
  node.unbuildable = WhyUnbuildable(node);
  const LinkedDerivation& entered = nodes_.emplace_back(std::move(node));
  linked_.emplace(entered.loaded->path, &entered);
  return absl::OkStatus();
}

}  // namespace hydrant
