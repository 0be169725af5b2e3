#include "lib/matrix/package_rules.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::Optional;

using Axes = std::map<std::string, AxisValue>;

Axes Cuda(const char* cuda) { return {{"cuda", {{cuda}}}, {"system", {{"x86_64-linux"}}}}; }

Axes With(const char* cuda, std::vector<std::string> capabilities, const char* system = "x86_64-linux") {
  return {{"cuda", {{cuda}}}, {"capabilities", {std::move(capabilities)}}, {"system", {{system}}}};
}

// One line a row of the table: a release that goes, one that does not.
struct PackageCase {
  const char* package;
  const char* good;  // "" where none is
  const char* bad;
  const char* text;
};

TEST(PackageRefusal, FollowsEachBindingRow) {
  constexpr PackageCase kCases[] = {
      {"python3Packages.jax-cuda12-plugin", "12.9", "13.0", "needs CUDA 12, not 13.0"},
      {"python3Packages.jax-cuda12-pjrt", "12.6", "11.8", "needs CUDA 12, not 11.8"},
      {"python3Packages.jax-cuda13-plugin", "13.1", "12.9", "needs CUDA 13, not 12.9"},
      {"cudaPackages.nsight_systems", "11.8", "11.7", "needs CUDA 11.8 or newer, not 11.7"},
      {"cudaPackages.nvidia_driver", "", "12.9", "cannot be built with any CUDA"},
  };
  for (const PackageCase& row : kCases) {
    EXPECT_THAT(PackageRefusal(row.package, Cuda(row.bad)), Optional(HasSubstr(row.text))) << row.package;
    EXPECT_THAT(PackageRefusal(row.package, Cuda(row.bad)), Optional(HasSubstr("(nixpkgs "))) << "no source";
    if (*row.good == '\0') continue;
    EXPECT_EQ(PackageRefusal(row.package, Cuda(row.good)), std::nullopt) << row.package;
  }
}

TEST(PackageAdvice, IsWhatHoldsInSomeTreesAndRefusesNothing) {
  constexpr PackageCase kCases[] = {
      {"catboost", "11.8", "12.9", "catboost needs CUDA 11, not 12.9"},
      {"python3Packages.torch-bin", "13.0", "12.9", "needs CUDA 13.0 or newer"},
      {"ctranslate2", "12.9", "13.0", "needs CUDA older than 13.0"},
  };
  for (const PackageCase& row : kCases) {
    EXPECT_THAT(PackageAdvice(row.package, Cuda(row.bad)), Optional(HasSubstr(row.text))) << row.package;
    EXPECT_EQ(PackageAdvice(row.package, Cuda(row.good)), std::nullopt) << row.package;
    EXPECT_EQ(PackageRefusal(row.package, Cuda(row.bad)), std::nullopt) << row.package;
  }
}

TEST(PackageRefusal, IsSilentAboutOtherNamesAndOtherCuda) {
  for (const char* package :
       {"python3Packages.jax", "jax-cuda12", "nsight_systems_x", "cudnn", "cudnn_x_y"}) {
    EXPECT_EQ(PackageRefusal(package, Cuda("11.4")), std::nullopt) << package;
  }
  EXPECT_EQ(PackageRefusal("python3Packages.jax-cuda12-plugin", Cuda("default")), std::nullopt);
  EXPECT_EQ(PackageRefusal("python3Packages.jax-cuda12-plugin", {}), std::nullopt);
}

struct LibraryCase {
  const char* attribute;
  Axes good, bad;
  const char* text;
};

TEST(PackageRefusal, FollowsEachRowOfLibraryVersions) {
  const std::vector<LibraryCase> cases = {
      {"cudnn_9_12", With("12.9", {"7.5"}), With("12.9", {"8.9", "7.0"}), "from 7.5 on, not 7.0"},
      {"cudnn_8_9", With("12.2", {"5.0"}), With("11.8", {"3.7"}), "from 5.0 on, not 3.7"},
      {"cudnn_9_21", With("12.9", {"8.9"}, "aarch64-linux"), With("12.9", {"8.7"}, "aarch64-linux"),
       "cudnn 9.21 was never released for Jetson before Thor with CUDA 12; the last that was is older than "
       "9.21"},
      {"cudnn_9_14", With("13.0", {"11.0"}, "aarch64-linux"), With("13.0", {"8.7"}, "aarch64-linux"),
       "Jetson before Thor with CUDA 13"},
      {"libcusparse_lt_0_9", Cuda("13.0"), Cuda("12.9"), "cusparselt 0.9 needs CUDA 13.0 or newer, not 12.9"},
      {"tensorrt_10_8", With("12.6", {"8.9"}), With("12.6", {"8.7"}, "aarch64-linux"), "Jetson before Thor;"},
      {"tensorrt_10_14", With("13.0", {"9.0"}, "aarch64-linux"), With("12.9", {"9.0"}, "aarch64-linux"),
       "aarch64-linux servers with CUDA 12"},
      {"torch_2_0", Cuda("11.8"), Cuda("12.1"), "torch 2.0 needs CUDA 11, not 12.1"},
      {"torch_2_7", Cuda("12.9"), Cuda("13.0"),
       "torch 2.7 needs CUDA 11.0 or newer but older than 13.0, not 13.0"},
  };
  for (const LibraryCase& row : cases) {
    EXPECT_EQ(PackageRefusal(row.attribute, row.good), std::nullopt) << row.attribute;
    EXPECT_THAT(PackageRefusal(row.attribute, row.bad), Optional(HasSubstr(row.text))) << row.attribute;
  }
}

TEST(PackageRefusal, ResolvesTheDefaultListOfTheCuda) {
  EXPECT_THAT(PackageRefusal("cudnn_9_12", With("12.4", {"default"})), Optional(HasSubstr("not 7.0")));
  EXPECT_EQ(PackageRefusal("cudnn_9_12", With("12.6", {"default"})), std::nullopt);
}

TEST(LibraryRefusal, FollowsTheAxisThatNamesAVersion) {
  Axes axes = With("12.9", {"7.0"});
  EXPECT_EQ(LibraryRefusal(axes), std::nullopt);
  axes["cudnn"] = {{"9.13"}};
  EXPECT_THAT(LibraryRefusal(axes), Optional(HasSubstr("cudnn 9.13 supports capabilities from 7.5 on")));
  axes["cudnn"] = {{"9.11"}};
  EXPECT_EQ(LibraryRefusal(axes), std::nullopt);
  axes["cusparselt"] = {{"0.9"}};
  EXPECT_THAT(LibraryRefusal(axes), Optional(HasSubstr("cusparselt 0.9 needs CUDA 13.0")));
}

TEST(RuleData, NamesASourceInEachRow) {
  for (const PackageRule& rule : PackageRules()) EXPECT_FALSE(rule.source.empty()) << rule.attribute;
  for (const LibraryRule& rule : LibraryRules()) {
    EXPECT_FALSE(rule.source.empty()) << rule.attribute;
    EXPECT_NE(rule.cuda.has_value(), !rule.least_capability.empty()) << rule.attribute << " asks one thing";
  }
}

}  // namespace
}  // namespace hydrant
