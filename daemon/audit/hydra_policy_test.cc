#include "daemon/audit/hydra_policy.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

struct Row {
  const char* situation;
  VariantFacts facts;
  Cause cause;
  std::optional<bool> skips;
  const char* reason;
};

TEST(HydraPolicyTest, EachSituationHasItsReason) {
  const VariantFacts free = {.licences = {{"bsd3", true}}};
  const auto with = [&](auto edit) {
    VariantFacts facts = free;
    edit(facts);
    return facts;
  };
  const Row rows[] = {
      {"a free package", free, Cause::kNone, false, ""},
      {"nothing is known", {}, Cause::kNone, std::nullopt, ""},
      {"only that it is not broken", {.broken = false}, Cause::kNone, false, ""},
      {"its own licence", {.licences = {{"CUDA EULA", false}}}, Cause::kNone, true, "unfree: CUDA EULA"},
      {"two licences, one free",
       {.licences = {{"mit", true}, {"NVIDIA SLA", false}}},
       Cause::kNone,
       true,
       "unfree: NVIDIA SLA"},
      {"two unfree ones",
       {.licences = {{"CUDA EULA", false}, {"cuDNN EULA", false}}},
       Cause::kNone,
       true,
       "unfree: CUDA EULA, cuDNN EULA"},
      {"bare unfree", {.licences = {{"unfree", false}}}, Cause::kNone, true, "unfree"},
      {"meta alone says unfree", {.unfree = true}, Cause::kNone, true, "unfree"},
      {"meta says that it may be taken as free",
       {.licences = {{"issl", false}}, .unfree = false},
       Cause::kNone,
       false,
       ""},
      {"through an input",
       with([](auto& f) { f.unfree_through = "cudatoolkit-12.9.1", f.unfree_licence = "CUDA EULA"; }),
       Cause::kNone, true, "unfree: CUDA EULA, through cudatoolkit-12.9.1"},
      {"through an input of no named licence", with([](auto& f) { f.unfree_through = "mkl-2024"; }),
       Cause::kNone, true, "unfree, through mkl-2024"},
      {"through a broken input", with([](auto& f) { f.marked_through = "jaxlib-0.4", f.mark = "broken"; }),
       Cause::kNone, true, "broken, through jaxlib-0.4"},
      {"through one of another system", with([](auto& f) { f.marked_through = "mkl-1", f.mark = "unsupported"; }),
       Cause::kNone, true, "unsupported system, through mkl-1"},
      {"that alone is known", {.marked_through = "openssl-1.1", .mark = "insecure"}, Cause::kNone, true,
       "insecure, through openssl-1.1"},
      {"broken", with([](auto& f) { f.broken = true; }), Cause::kNone, true, "broken"},
      {"unsupported", with([](auto& f) { f.unsupported = true; }), Cause::kNone, true, "unsupported system"},
      {"insecure", with([](auto& f) { f.insecure = true; }), Cause::kNone, true, "insecure"},
      {"Hydra is told not to build it", with([](auto& f) { f.hydra_platform = false; }), Cause::kNone, true,
       "platforms: not in meta.hydraPlatforms"},
      {"Hydra is told to build it", with([](auto& f) { f.hydra_platform = true; }), Cause::kNone, false, ""},
      {"that alone is known", {.hydra_platform = false}, Cause::kNone, true, "platforms: not in meta.hydraPlatforms"},
      {"an unfree input comes before its platforms",
       with([](auto& f) { f.unfree_through = "mkl-2024", f.hydra_platform = false; }),
       Cause::kNone, true, "unfree, through mkl-2024"},
      {"unfree comes before broken",
       {.licences = {{"CUDA EULA", false}}, .broken = true},
       Cause::kNone,
       true,
       "unfree: CUDA EULA"},
      {"refused as unfree", {}, Cause::kUnfree, true, "unfree"},
      {"refused as broken", {}, Cause::kBroken, true, "broken"},
      {"refused as insecure", {}, Cause::kInsecure, true, "insecure"},
      {"refused for its system", {}, Cause::kUnsupportedSystem, true, "unsupported system"},
      {"excluded by the matrix", {}, Cause::kExcluded, std::nullopt, ""},
      {"an error of its own", {}, Cause::kThrow, std::nullopt, ""},
  };
  for (const Row& row : rows) {
    const HydraVerdict verdict = JudgeForHydra(row.facts, row.cause);
    EXPECT_EQ(verdict.skips, row.skips) << row.situation;
    EXPECT_EQ(verdict.reason, row.reason) << row.situation;
    EXPECT_EQ(verdict.sentence.empty(), !row.skips.has_value()) << row.situation;
  }
}

TEST(HydraPolicyTest, TheSentenceTellsThroughWhichInputs) {
  const VariantFacts facts = {.licences = {{"bsd3", true}},
                              .unfree_through = "cudatoolkit-12.9.1",
                              .unfree_licence = "CUDA EULA",
                              .unfree_inputs = {"magma-2.7", "nccl-2.20"}};
  EXPECT_EQ(JudgeForHydra(facts, Cause::kNone).sentence,
            "Hydra would skip it: cudatoolkit-12.9.1, which it needs, is unfree (CUDA EULA); it comes "
            "through magma-2.7, then nccl-2.20");
  const VariantFacts marked = {.marked_through = "openssl-1.1", .mark = "insecure", .marked_inputs = {"curl-8"}};
  EXPECT_EQ(JudgeForHydra(marked, Cause::kNone).sentence,
            "Hydra would skip it: openssl-1.1, which it needs, is marked as insecure; it comes through curl-8");
}

}  // namespace
}  // namespace hydrant
