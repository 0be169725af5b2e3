#include "daemon/evaluate/import_plan.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "daemon/evaluate/wanted_environment.h"
#include "lib/matrix/nixpkgs_sets.h"

namespace hydrant {
namespace {

using nlohmann::json;

bool IsBuiltIn(const DriverRequest& request) { return !request.recipe.starts_with('/'); }

// One JSON object over the other, member by member.
std::string Over(const std::string& below, const std::string& above) {
  json both = json::parse(below, nullptr, false);
  const json more = json::parse(above, nullptr, false);
  if (!both.is_object() || !more.is_object()) return below;
  both.update(more);
  return both.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

DriverRequest SliceRequest(const EvaluationInput& input, const DriverRequest& common, Slice slice) {
  DriverRequest request = common;
  const NixpkgsSpec& nixpkgs = input.matrix.nixpkgs;
  if (OverlaySetOf(nixpkgs, slice.axes) != nullptr) {
    const auto own = common.overlay_sets.find(slice.axes.at("overlays").Joined());
    if (own != common.overlay_sets.end())
      request.overlays.insert(request.overlays.end(), own->second.begin(), own->second.end());
  }
  if (const std::string* own = ConfigSetOf(nixpkgs, slice.axes)) {
    request.config_json = Over(request.config_json, *own);
  }
  if (IsBuiltIn(common))
    std::erase_if(slice.axes, [&](const auto& axis) { return IsSetAxis(nixpkgs, axis.first); });
  request.slice_json = SliceJson(slice);
  return request;
}

std::vector<DriverRequest> PlanImports(const EvaluationInput& input, const DriverRequest& common) {
  const bool python_by_path = IsBuiltIn(common);
  std::map<std::string, DriverRequest> imports;  // by slice as the recipe sees it
  for (const size_t index : input.variants) {
    const Variant& variant = input.expansion.variants[index];
    Slice slice = input.expansion.slices[variant.slice];
    std::string python;
    if (const auto axis = slice.axes.find("python"); python_by_path && axis != slice.axes.end()) {
      python = axis->second.Joined();
      slice.axes.erase(axis);
    }
    const auto [import, is_new] = imports.try_emplace(SliceJson(slice));
    DriverRequest& request = import->second;
    if (is_new) request = SliceRequest(input, common, std::move(slice));
    request.names.push_back({.variant = index,
                             .id = variant.id,
                             .package = variant.package,
                             .environment = WantsEnvironment(input.matrix, variant),
                             .python = std::move(python)});
  }
  std::vector<DriverRequest> result;
  for (auto& [slice, request] : imports) result.push_back(std::move(request));
  std::stable_sort(result.begin(), result.end(), [](const DriverRequest& a, const DriverRequest& b) {
    return a.names.size() > b.names.size();
  });
  return result;
}

std::vector<std::vector<DriverRequest>> ScatterImports(const std::vector<DriverRequest>& imports,
                                                       size_t processes) {
  std::vector<std::vector<DriverRequest>> result(processes);
  size_t next = 0;
  for (const DriverRequest& import : imports) {
    DriverRequest bare = import;
    bare.names.clear();
    std::vector<DriverRequest> dealt(processes, bare);
    for (const DriverName& name : import.names) dealt[next++ % processes].names.push_back(name);
    for (size_t i = 0; i < processes; ++i) {
      if (!dealt[i].names.empty()) result[i].push_back(std::move(dealt[i]));
    }
  }
  return result;
}

}  // namespace hydrant
