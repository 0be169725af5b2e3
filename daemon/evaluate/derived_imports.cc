#include "daemon/evaluate/derived_imports.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/evaluate/import_plan.h"

namespace hydrant {
namespace {

using nlohmann::json;

// A JSON object with one member more.
std::string With(const std::string& object, const std::string& key, bool value) {
  json parsed = json::parse(object, nullptr, false);
  if (!parsed.is_object()) parsed = json::object();
  parsed[key] = value;
  return parsed.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

absl::StatusOr<SwitchedRequests> SwitchRequests(const EvaluationInput& input, const DriverRequest& common) {
  if (input.expansion.slices.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("matrix ", input.matrix.name, ": it has no slice"));
  }
  DriverRequest request =
      SliceRequest(input, common, input.expansion.slices[FirstPossibleSlice(input.expansion)]);
  request.bare = true;
  request.named = false;
  request.probe.clear();
  const std::string& changed_by = input.matrix.derived->changed_by;
  const auto switched = [&](bool on) {
    DriverRequest half = request;
    std::string& text = common.recipe.starts_with('/') ? half.slice_json : half.config_json;
    text = With(text, changed_by, on);
    return half;
  };
  SwitchedRequests requests{.off = switched(false), .on = switched(true)};
  requests.on.sets = SetsOfFilter(input.matrix);
  return requests;
}

std::vector<DriverRequest> ComparedImports(const SwitchedRequests& requests,
                                           const DerivedComparison& comparison) {
  std::vector<DriverRequest> imports;
  const std::vector<std::string>& packages = comparison.packages();
  for (size_t first = 0; first < packages.size(); first += kNamesInAnImport) {
    for (const bool on : {false, true}) {
      DriverRequest& import = imports.emplace_back(on ? requests.on : requests.off);
      import.sets.clear();
      for (size_t i = first; i < std::min(packages.size(), first + kNamesInAnImport); ++i) {
        const size_t place = comparison.Place(i, on);
        import.names.push_back({.variant = place, .id = absl::StrCat(place), .package = packages[i]});
      }
    }
  }
  return imports;
}

}  // namespace hydrant
