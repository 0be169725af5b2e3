#include "lib/matrix/rules.h"

#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::Optional;

std::optional<std::string> Refusal(const char* cuda, std::vector<std::string> capabilities,
                                   const char* system = "x86_64-linux",
                                   const char* forward_compat = nullptr) {
  std::map<std::string, AxisValue> axes = {
      {"cuda", {{cuda}}}, {"capabilities", {std::move(capabilities)}}, {"system", {{system}}}};
  if (forward_compat != nullptr) axes["forward_compat"] = {{forward_compat}};
  return CapabilityRefusal(axes);
}

// The table of what each CUDA supports, Jetson aside, written the other way round than the data.
struct Supported {
  const char* cuda;
  const char* capabilities;
};
constexpr Supported kSupported[] = {
    {"11.4", "3.5 3.7 5.0 5.2 6.0 6.1 7.0 7.5 8.0 8.6"},
    {"11.8", "3.5 3.7 5.0 5.2 6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0"},
    {"12.0", "5.0 5.2 6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0 9.0a"},
    {"12.6", "5.0 5.2 6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0 9.0a"},
    {"12.8", "5.0 5.2 6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0 9.0a 10.0 10.0a 12.0 12.0a"},
    {"12.9",
     "5.0 5.2 6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0 9.0a 10.0 10.0a 10.0f 10.3 10.3a 10.3f 12.0 12.0a 12.0f 12.1 "
     "12.1a 12.1f"},
    {"13.0", "7.5 8.0 8.6 8.9 9.0 9.0a 10.0 10.0a 10.0f 10.3 10.3a 10.3f 12.0 12.0a 12.0f 12.1 12.1a 12.1f"},
    {"13.4", "7.5 8.0 8.6 8.9 9.0 9.0a 10.0 10.0a 10.0f 10.3 10.3a 10.3f 12.0 12.0a 12.0f 12.1 12.1a 12.1f"},
};

TEST(CapabilityRule, AllowsExactlyWhatEachCudaSupports) {
  for (const Supported& row : kSupported) {
    std::string allowed;
    for (const Capability& capability : Capabilities()) {
      if (capability.jetson || Refusal(row.cuda, {std::string(capability.name)})) continue;
      allowed += (allowed.empty() ? "" : " ") + std::string(capability.name);
    }
    EXPECT_EQ(allowed, row.capabilities) << row.cuda;
  }
}

TEST(CapabilityRule, NamesWhatTheCudaSupportsAndTheCudaThatIsNeeded) {
  EXPECT_THAT(Refusal("12.6", {"12.0"}),
              Optional(std::string("CUDA 12.6 supports 5.0 … 9.0a; 12.0 needs CUDA 12.8 or newer "
                                   "(nixpkgs _cuda/db/bootstrap/cuda.nix)")));
  EXPECT_THAT(Refusal("13.0", {"6.1"}),
              Optional(std::string("CUDA 13.0 supports 7.5 … 12.1f; 6.1 needs CUDA 12.9 or older "
                                   "(nixpkgs _cuda/db/bootstrap/cuda.nix)")));
  EXPECT_THAT(Refusal("12.6", {"9.1"}), Optional(HasSubstr("9.1 is not a capability of any CUDA")));
  EXPECT_THAT(Refusal("12.6", {"10.0"}), Optional(HasSubstr("10.0 needs CUDA 12.8")))
      << "12.7 was never released";
}

TEST(CapabilityRule, OneImpossibleWordMakesTheListImpossible) {
  EXPECT_THAT(Refusal("12.6", {"8.9", "12.0"}), Optional(HasSubstr("12.0 needs")));
}

TEST(CapabilityRule, JetsonNeedsItsSystemAndBeforeThorStandsAlone) {
  EXPECT_THAT(Refusal("12.6", {"8.7"}), Optional(HasSubstr("aarch64-linux, not x86_64-linux")));
  EXPECT_EQ(Refusal("12.6", {"8.7"}, "aarch64-linux"), std::nullopt);
  EXPECT_THAT(Refusal("12.6", {"8.7", "8.9"}, "aarch64-linux"), Optional(HasSubstr("stand alone")));
  EXPECT_EQ(Refusal("12.2", {"7.2", "8.7"}, "aarch64-linux"), std::nullopt);
  EXPECT_THAT(Refusal("12.4", {"7.2"}, "aarch64-linux"), Optional(HasSubstr("7.2 needs CUDA 12.2 or older")));
  EXPECT_EQ(Refusal("13.0", {"11.0", "12.0"}, "aarch64-linux"), std::nullopt)
      << "Thor has a server's libraries";
  EXPECT_THAT(Refusal("13.0", {"10.1"}, "aarch64-linux"),
              Optional(HasSubstr("10.1 needs CUDA 12.9 or older")));
}

TEST(CapabilityRule, AFamilyDoesNotGoWithABaseline) {
  EXPECT_THAT(Refusal("12.9", {"12.0", "10.0f"}),
              Optional(HasSubstr("family 10.0f together with the baseline 12.0")));
  EXPECT_EQ(Refusal("12.9", {"12.0f", "10.0f"}), std::nullopt);
}

TEST(CapabilityRule, OneArchitectureIsNotForwardCompatible) {
  EXPECT_THAT(Refusal("12.9", {"9.0a"}, "x86_64-linux", "true"),
              Optional(HasSubstr("forward_compat = false")));
  EXPECT_EQ(Refusal("12.9", {"9.0a"}, "x86_64-linux", "false"), std::nullopt);
  EXPECT_EQ(Refusal("12.9", {"9.0a"}), std::nullopt);
}

TEST(CapabilityRule, IsSilentWhereItKnowsNothing) {
  EXPECT_EQ(Refusal("default", {"12.0"}), std::nullopt);
  EXPECT_EQ(Refusal("14.1", {"12.0"}), std::nullopt);
  EXPECT_EQ(Refusal("12_6", {"12.0"}), std::nullopt);
  EXPECT_EQ(Refusal("12.6", {"default"}), std::nullopt);
  EXPECT_EQ(CapabilityRefusal({{"cuda", {{"12.6"}}}}), std::nullopt);
}

TEST(CapabilityRule, WhatHoldsForEveryCudaNeedsNone) {
  for (const char* cuda : {"default", "14.1"}) {
    EXPECT_THAT(Refusal(cuda, {"8.7"}), Optional(HasSubstr("needs system aarch64-linux"))) << cuda;
    EXPECT_THAT(Refusal(cuda, {"10.0", "12.0f"}), Optional(HasSubstr("family 12.0f"))) << cuda;
  }
}

TEST(CapabilityRule, EveryRefusalNamesItsSource) {
  EXPECT_THAT(Refusal("12.6", {"8.7"}),
              Optional(HasSubstr("(nixpkgs cudaPackages.backendStdenv, assertions)")));
  EXPECT_THAT(Refusal("12.9", {"10.0", "12.0f"}), Optional(HasSubstr("(NixOS/nixpkgs#522144)")));
  EXPECT_THAT(Refusal("12.9", {"9.0a"}, "x86_64-linux", "true"), Optional(HasSubstr("(PTX ISA")));
}

}  // namespace
}  // namespace hydrant
