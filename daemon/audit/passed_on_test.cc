#include "daemon/audit/passed_on.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string_view> Of(std::vector<EnvironmentVariable> environment) {
  return PassedOnPaths(environment);
}

TEST(PassedOnTest, APackagePassesOnWhatItPropagates) {
  EXPECT_THAT(
      Of({{"buildInputs", "/nix/store/b-1"}, {"propagatedBuildInputs", "/nix/store/a-1 /nix/store/c-2-dev"}}),
      ElementsAre("/nix/store/a-1", "/nix/store/c-2-dev"));
}

TEST(PassedOnTest, WhatJoinsFoldersPassesOnTheirs) {
  EXPECT_THAT(Of({{"pkgs", R"([{"paths":["/nix/store/a-1","/nix/store/b-2"],"priority":5}])"}}),
              ElementsAre("/nix/store/a-1", "/nix/store/b-2"));
  EXPECT_THAT(Of({{"paths", "/nix/store/a-1\n/nix/store/b-2/lib"}}),
              ElementsAre("/nix/store/a-1", "/nix/store/b-2"));
}

TEST(PassedOnTest, StructuredAttributesSayTheSame) {
  EXPECT_THAT(
      Of({{"__json",
           R"({"buildInputs":["/nix/store/b-1"],"propagatedBuildInputs":["/nix/store/a-1","/nix/store/c-2"],)"
           R"("x":"propagatedBuildInputs"})"}}),
      ElementsAre("/nix/store/a-1", "/nix/store/c-2"));
  EXPECT_THAT(Of({{"__json", R"({"propagatedBuildInputs":)"}}), IsEmpty());
  EXPECT_THAT(Of({{"__json", R"(propagatedBuildInputs":["/nix/store/a-1"])"}}), IsEmpty());
}

TEST(PassedOnTest, WhatNamesNoPathPassesOnNothing) {
  EXPECT_THAT(Of({{"propagatedBuildInputs", ""}, {"paths", "lib include"}, {"pkgs", "[]"}}), IsEmpty());
  EXPECT_THAT(Of({}), IsEmpty());
}

}  // namespace
}  // namespace hydrant
