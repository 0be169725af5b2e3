#include "daemon/evaluate/import_plan.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "daemon/evaluate/wanted_environment.h"

namespace hydrant {

std::vector<DriverRequest> PlanImports(const EvaluationInput& input, const DriverRequest& common) {
  const bool python_by_path = !common.recipe.starts_with('/');
  std::map<std::string, DriverRequest> imports;  // by slice as the recipe sees it
  for (const size_t index : input.variants) {
    const Variant& variant = input.expansion.variants[index];
    Slice slice = input.expansion.slices[variant.slice];
    std::string python;
    if (const auto axis = slice.axes.find("python"); python_by_path && axis != slice.axes.end()) {
      python = axis->second.Joined();
      slice.axes.erase(axis);
    }
    DriverRequest& request = imports.try_emplace(SliceJson(slice), common).first->second;
    request.names.push_back({.variant = index,
                             .id = variant.id,
                             .package = variant.package,
                             .environment = WantsEnvironment(input.matrix, variant),
                             .python = std::move(python)});
  }
  std::vector<DriverRequest> result;
  for (auto& [slice, request] : imports) {
    request.slice_json = slice;
    result.push_back(std::move(request));
  }
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
