#include "daemon/audit/asked_audit.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

using Axes = std::map<std::string, AxisValue>;

struct Row {
  const char* situation;
  Axes axes;
  VariantFacts facts;
  std::string finding;  // "rule: message"; "": none
};

TEST(AskedAuditTest, EachDifferenceFromTheSliceIsTold) {
  const Axes cuda = {{"cuda", {{"12.9"}}}};
  const Row rows[] = {
      {"as asked", cuda, {.cuda_support = true, .cuda_version = "12.9"}, ""},
      {"nothing is known", cuda, {}, ""},
      {"built without",
       cuda,
       {.cuda_support = false},
       "cuda_support: passthru.cudaSupport is false although the slice asks for CUDA"},
      {"default asks for CUDA too",
       {{"cuda", {{"default"}}}},
       {.cuda_support = false},
       "cuda_support: passthru.cudaSupport is false although the slice asks for CUDA"},
      {"no axis asks for nothing", {}, {.cuda_support = false, .cuda_version = "11.8"}, ""},
      {"the accelerator is the CPU",
       {{"cuda", {{"12.9"}}}, {"accelerator", {{"cpu"}}}},
       {.cuda_support = false},
       ""},
      {"built with it all the same",
       {{"accelerator", {{"cpu"}}}},
       {.cuda_support = true},
       "cuda_support: passthru.cudaSupport is true although the slice asks for accelerator cpu"},
      {"another release",
       cuda,
       {.cuda_version = "12.2"},
       "cuda_version: its own CUDA is 12.2, the slice asks for 12.9"},
      {"a release of the default slice", {{"cuda", {{"default"}}}}, {.cuda_version = "12.2"}, ""},
      {"a release in other words", cuda, {.cuda_version = "12"}, ""},
      {"the capabilities asked for",
       {{"capabilities", {{"8.9", "9.0a"}}}},
       {.cuda_capabilities = {"8.9", "9.0a"}},
       ""},
      {"one that was dropped",
       {{"capabilities", {{"8.9", "9.0a"}}}},
       {.cuda_capabilities = {"8.9"}},
       "capabilities: its own capabilities are 8.9, the slice asks for 8.9 9.0a"},
      {"another order",
       {{"capabilities", {{"8.9", "8.6"}}}},
       {.cuda_capabilities = {"8.6", "8.9"}},
       "capabilities: its own capabilities are 8.6 8.9, the slice asks for 8.9 8.6 (the order counts: PTX is "
       "made for "
       "the last one)"},
      {"default capabilities", {{"capabilities", {{"default"}}}}, {.cuda_capabilities = {"8.6"}}, ""},
      {"the interpreter asked for", {{"python", {{"python313"}}}}, {.python_version = "3.13"}, ""},
      {"another interpreter",
       {{"python", {{"python313"}}}},
       {.python_version = "3.12"},
       "python: its interpreter is Python 3.12, the slice asks for python313"},
      {"the tree's own interpreter", {{"python", {{"python3"}}}}, {.python_version = "3.12"}, ""},
      {"a harmless question forces what is unfree",
       {},
       {.hygiene = {"name: Package ‘cudatoolkit-12.2’ has an unfree license"}},
       "forces_unfree: it cannot be asked where unfree is refused: name: Package ‘cudatoolkit-12.2’ has an "
       "unfree license"},
      {"another kind of set", {{"python", {{"pypy39"}}}}, {.python_version = "3.12"}, ""},
  };
  for (const Row& row : rows) {
    std::string told;
    for (const Finding& finding : JudgeAsked(row.axes, row.facts)) {
      if (!told.empty()) told += "; ";
      told += finding.rule + ": " + finding.message;
      EXPECT_EQ(finding.severity, Severity::kWarn);
      EXPECT_TRUE(finding.path.empty());
    }
    EXPECT_EQ(told, row.finding) << row.situation;
  }
}

TEST(AskedAuditTest, EachDifferenceIsAFindingOfItsOwn) {
  EXPECT_EQ(JudgeAsked({{"cuda", {{"12.9"}}}, {"python", {{"python313"}}}},
                       {.cuda_support = false, .cuda_version = "12.2", .python_version = "3.12"})
                .size(),
            3u);
}

}  // namespace
}  // namespace hydrant
