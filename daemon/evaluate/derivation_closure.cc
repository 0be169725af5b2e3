#include "daemon/evaluate/derivation_closure.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
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

// Depth first without recursion: a graph may be deeper than a stack.
absl::StatusOr<std::vector<std::shared_ptr<const LoadedDerivation>>> DerivationClosure::LoadAll(
    const std::vector<std::string>& roots) {
  struct Visit {
    std::shared_ptr<const LoadedDerivation> derivation;
    std::map<std::string, std::set<std::string>>::const_iterator next_input;
  };
  std::vector<std::shared_ptr<const LoadedDerivation>> result;
  absl::flat_hash_set<std::string> seen;
  std::vector<Visit> open;
  const auto begin = [&](const std::string& path) -> absl::Status {
    if (!seen.insert(path).second) return absl::OkStatus();
    HYDRANT_ASSIGN_OR_RETURN(auto derivation, Load(path));
    const auto first = derivation->parsed.input_derivations.begin();
    open.push_back({std::move(derivation), first});
    return absl::OkStatus();
  };
  for (const std::string& root : roots) {
    HYDRANT_RETURN_IF_ERROR(begin(root));
    while (!open.empty()) {
      Visit& top = open.back();
      if (top.next_input == top.derivation->parsed.input_derivations.end()) {
        result.push_back(std::move(top.derivation));
        open.pop_back();
        continue;
      }
      const std::string& input = (top.next_input++)->first;
      if (absl::Status begun = begin(input); !begun.ok())
        return Annotate(begun, "input of " + open.back().derivation->path);
    }
  }
  return result;
}

}  // namespace hydrant
