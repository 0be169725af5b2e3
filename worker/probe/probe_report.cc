#include "worker/probe/probe_report.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hydrant::worker {
namespace {

using Json = nlohmann::ordered_json;

std::string GiB(int64_t bytes) { return absl::StrCat(bytes >> 30, " GiB"); }

}  // namespace

std::string PrintJson(const ProbeReport& report) {
  Json gpus = Json::array();
  for (const GpuFacts& gpu : report.gpus) {
    gpus.push_back({{"uuid", gpu.uuid},
                    {"name", gpu.name},
                    {"architecture", gpu.architecture},
                    {"memory_bytes", gpu.memory_bytes},
                    {"driver", gpu.driver},
                    {"simulated", gpu.simulated}});
  }
  const Json json = {{"name", report.name},
                     {"gpus", gpus},
                     {"cores", report.cores},
                     {"memory_bytes", report.memory_bytes},
                     {"systems", report.systems},
                     {"features", report.features},
                     {"slots", report.slots},
                     {"free_disk_bytes", report.free_disk_bytes},
                     {"nix",
                      {{"store", report.store},
                       {"version", report.nix_version},
                       {"usable", report.problem.empty()},
                       {"problem", report.problem}}}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string PrintTable(const ProbeReport& report) {
  std::string text =
      absl::StrCat("name      ", report.name, "\nsystems   ", absl::StrJoin(report.systems, " "),
                   "\nfeatures  ", absl::StrJoin(report.features, " "), "\ncores     ", report.cores,
                   "\nmemory    ", GiB(report.memory_bytes), "\nslots     ", report.slots, "\ndisk      ",
                   GiB(report.free_disk_bytes), " free\n");
  for (const GpuFacts& gpu : report.gpus) {
    absl::StrAppend(&text, "gpu       ", gpu.name, ", ", GiB(gpu.memory_bytes), ", driver ", gpu.driver, ", ",
                    gpu.uuid, gpu.simulated ? " (simulated: there is no such device)" : "", "\n");
  }
  if (report.gpus.empty()) absl::StrAppend(&text, "gpu       none\n");
  absl::StrAppend(&text, "nix       ", report.nix_version.empty() ? "not reached" : report.nix_version,
                  ", store ", report.store, "\n");
  if (!report.problem.empty()) absl::StrAppend(&text, "PROBLEM   ", report.problem, "\n");
  return text;
}

}  // namespace hydrant::worker
