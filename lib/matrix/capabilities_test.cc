#include "lib/matrix/capabilities.h"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::IsEmpty;

std::string Joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : " ") + std::string(word);
  return text;
}

// What caches build for each release, written the other way round than the data.
struct Defaults {
  CudaVersion cuda;
  const char* capabilities;
};
constexpr Defaults kDefaults[] = {
    {{11, 4}, "6.0 6.1 7.0 7.5 8.0 8.6"},
    {{11, 5}, "6.0 6.1 7.0 7.5 8.0 8.6"},
    {{11, 6}, "6.0 6.1 7.0 7.5 8.0 8.6"},
    {{11, 7}, "6.0 6.1 7.0 7.5 8.0 8.6"},
    {{11, 8}, "6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0"},
    {{12, 0}, "6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0"},
    {{12, 1}, "6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0"},
    {{12, 2}, "6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0"},
    {{12, 3}, "6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0"},
    {{12, 4}, "7.0 7.5 8.0 8.6 8.9 9.0"},
    {{12, 5}, "7.0 7.5 8.0 8.6 8.9 9.0"},
    {{12, 6}, "7.5 8.0 8.6 8.9 9.0"},
    {{12, 8}, "7.5 8.0 8.6 8.9 9.0 10.0 12.0"},
    {{12, 9}, "7.5 8.0 8.6 8.9 9.0 10.0 10.3 12.0 12.1"},
    {{13, 0}, "7.5 8.0 8.6 8.9 9.0 10.0 10.3 12.0 12.1"},
    {{13, 1}, "7.5 8.0 8.6 8.9 9.0 10.0 10.3 12.0 12.1"},
    {{13, 2}, "7.5 8.0 8.6 8.9 9.0 10.0 10.3 12.0 12.1"},
    {{13, 3}, "7.5 8.0 8.6 8.9 9.0 10.0 10.3 12.0 12.1"},
    {{13, 4}, "7.5 8.0 8.6 8.9 9.0 10.0 10.3 12.0 12.1"},
};

TEST(DefaultCapabilities, AreThoseOfEachRelease) {
  EXPECT_EQ(std::size(kDefaults), CudaVersions().size()) << "a row for each release";
  for (const Defaults& row : kDefaults) {
    EXPECT_EQ(Joined(DefaultCapabilities(row.cuda)), row.capabilities) << row.cuda.Text();
  }
}

TEST(DefaultCapabilities, OfAReleaseThatNobodyKnowsAreNone) {
  EXPECT_THAT(DefaultCapabilities({12, 7}), IsEmpty());
  EXPECT_THAT(DefaultCapabilities({14, 0}), IsEmpty());
}

// Jetson's, which no default list has, by release.
struct Jetson {
  CudaVersion cuda;
  const char* capabilities;
};
constexpr Jetson kJetson[] = {
    {{11, 4}, "7.2 8.7"},
    {{12, 2}, "7.2 8.7"},
    {{12, 3}, "8.7"},
    {{12, 6}, "8.7"},
    {{12, 8}, "8.7 10.1 10.1a"},
    {{12, 9}, "8.7 10.1 10.1a 10.1f"},
    {{13, 0}, "8.7 11.0 11.0a 11.0f"},
    {{13, 4}, "8.7 11.0 11.0a 11.0f"},
};

TEST(Capabilities, OfJetsonAreThoseOfEachRelease) {
  for (const Jetson& row : kJetson) {
    std::vector<std::string_view> supported;
    for (const Capability& capability : Capabilities()) {
      if (capability.jetson && Supports(row.cuda, capability)) supported.push_back(capability.name);
    }
    EXPECT_EQ(Joined(supported), row.capabilities) << row.cuda.Text();
  }
}

TEST(Capabilities, OfAFamilyBeginWithCuda129) {
  for (const Capability& capability : Capabilities()) {
    EXPECT_TRUE(!capability.IsFamily() || capability.first >= (CudaVersion{12, 9})) << capability.name;
  }
}

TEST(Capabilities, NameASourceInEachRowAndTurnNoRangeRound) {
  for (const Capability& capability : Capabilities()) {
    EXPECT_FALSE(capability.source.empty()) << capability.name;
    EXPECT_LE(capability.first, capability.last.value_or(capability.first)) << capability.name;
    EXPECT_EQ(FindCapability(capability.name), &capability);
  }
  EXPECT_EQ(FindCapability("9.1"), nullptr);
}

TEST(CudaVersion, IsTwoNumbers) {
  EXPECT_EQ(ParseCudaVersion("12.9"), (CudaVersion{12, 9}));
  EXPECT_LT(*ParseCudaVersion("12.9"), *ParseCudaVersion("12.10"));
  for (const char* text : {"", ".", "12", "12.", ".9", "12.9.1", "12.9a", "-1.2", "99999999999.1"}) {
    EXPECT_EQ(ParseCudaVersion(text), std::nullopt) << text;
  }
}

TEST(CudaVersions, AscendAndLackTheOneThatWasNeverReleased) {
  EXPECT_TRUE(std::is_sorted(CudaVersions().begin(), CudaVersions().end()));
  EXPECT_TRUE(IsKnownCuda({12, 6}));
  EXPECT_FALSE(IsKnownCuda({12, 7}));
}

}  // namespace
}  // namespace hydrant
