#include "daemon/evaluate/driver_request.h"

#include <nlohmann/json.hpp>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hydrant {

using nlohmann::json;

std::string NewMark() {
  absl::BitGen random;  // seeded by the operating system
  return absl::StrCat(absl::Hex(absl::Uniform<uint64_t>(random), absl::kZeroPad16));
}

std::string DriverInput(const DriverRequest& request, std::span<const DriverName> names) {
  json asked = json::array();
  for (const DriverName& name : names) {
    const std::vector<std::string> path = absl::StrSplit(name.package, '.');
    asked.push_back({{"id", name.id}, {"path", path}, {"env", name.environment}});
    if (!name.python.empty()) asked.back()["python"] = name.python;
  }
  json sets = json::array();
  for (const std::string& set : request.sets) {
    sets.push_back(std::vector<std::string>(absl::StrSplit(set, '.', absl::SkipEmpty())));
  }
  const json input = {{"nixpkgs", request.tree},
                      {"recipe", request.recipe},
                      {"slice", json::parse(request.slice_json, nullptr, false)},
                      {"config", json::parse(request.config_json, nullptr, false)},
                      {"overlays", request.overlays},
                      {"allow", request.allow},
                      {"names", std::move(asked)},
                      {"bare", request.bare},
                      {"named", request.named},
                      {"probe", request.probe},
                      {"sets", std::move(sets)}};
  return input.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace hydrant
