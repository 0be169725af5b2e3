#include "worker/probe/probe_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hydrant::worker {
namespace {

using testing::HasSubstr;

const ProbeReport kReport{.name = "w1",
                          .gpus = {{.uuid = "simulated-0",
                                    .name = "simulated GPU (sm_8.6)",
                                    .architecture = "8.6",
                                    .memory_bytes = int64_t{24} << 30,
                                    .driver = "550.54.14",
                                    .simulated = true}},
                          .cores = 8,
                          .memory_bytes = int64_t{16} << 30,
                          .systems = {"x86_64-linux"},
                          .features = {"cuda"},
                          .slots = 4,
                          .store = "daemon",
                          .problem = "not trusted"};

TEST(ProbeReport, JsonHasThePromisedKeys) {
  const auto json = nlohmann::json::parse(PrintJson(kReport));
  EXPECT_EQ(json["cores"], 8);
  EXPECT_EQ(json["memory_bytes"], int64_t{16} << 30);
  EXPECT_EQ(json["systems"][0], "x86_64-linux");
  EXPECT_EQ(json["features"][0], "cuda");
  EXPECT_EQ(json["gpus"][0]["architecture"], "8.6");
  EXPECT_EQ(json["gpus"][0]["simulated"], true);
  EXPECT_EQ(json["nix"]["usable"], false);
}

TEST(ProbeReport, TheTableSaysWhatIsSimulatedAndWhatIsWrong) {
  const std::string text = PrintTable(kReport);
  EXPECT_THAT(text, HasSubstr("simulated: there is no such device"));
  EXPECT_THAT(text, HasSubstr("PROBLEM   not trusted"));
}

}  // namespace
}  // namespace hydrant::worker
