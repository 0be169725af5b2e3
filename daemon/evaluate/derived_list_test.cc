#include "daemon/evaluate/derived_list.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Sides {
  Outcome off, on;
};
const Outcome kOne{.derivation = "/nix/store/1.drv"}, kTwo{.derivation = "/nix/store/2.drv"};
const Outcome kRefused{.cause = Cause::kThrow},
    kDead{.cause = Cause::kEvaluatorTimeout, .message = "no result"};
const Outcome kNone{.cause = Cause::kNotADerivation}, kMissing{.cause = Cause::kMissingAttribute};

absl::StatusOr<DerivedList> Compare(const std::vector<Sides>& sides) {
  std::vector<std::string> names;
  for (size_t i = 0; i < sides.size(); ++i) names.push_back(std::string(1, static_cast<char>('a' + i % 26)));
  DerivedComparison comparison(names);
  for (size_t i = 0; i < sides.size(); ++i) {
    Outcome off = sides[i].off, on = sides[i].on;
    off.variant = comparison.Place(i, false);
    on.variant = comparison.Place(i, true);
    comparison.Take({on, off});
  }
  return comparison.List("cudaSupport");
}

TEST(DerivedListTest, WhatDiffersIsInIt) {
  const auto list = Compare({{kOne, kOne}, {kOne, kTwo}, {kRefused, kTwo}, {kMissing, kTwo}});
  EXPECT_THAT(list->packages, ElementsAre("b", "c", "d"));
  EXPECT_THAT(list->notes, ElementsAre("cudaSupport changes 3 of 4 packages that the filter keeps"));
}

TEST(DerivedListTest, WhatDoesNotEvaluateIsCountedAndLeftOut) {
  const auto list = Compare({{kRefused, kRefused}, {kOne, kRefused}, {kDead, kRefused}, {kNone, kNone}});
  EXPECT_THAT(list->packages, IsEmpty());
  EXPECT_THAT(list->notes, ElementsAre(HasSubstr("changes 0 of 1 package "),
                                       "1 package evaluates only without cudaSupport, left out: b",
                                       "2 attributes do not evaluate, left out: a, c"));
}

TEST(DerivedListTest, WhereAnEvaluatorDiedNobodyKnowsSoItStays) {
  const auto list = Compare({{kOne, kDead}, {kDead, kOne}, {kRefused, kDead}});
  EXPECT_THAT(list->packages, ElementsAre("a", "b", "c"));
  EXPECT_THAT(list->unknown, ElementsAre("a", "b", "c"));
  EXPECT_THAT(list->notes.back(), HasSubstr("an evaluator died at a, b, c, kept"));
}

TEST(DerivedListTest, ANameWithoutOutcomeIsUnknown) {
  DerivedComparison comparison({"a"});
  EXPECT_THAT(comparison.List("cudaSupport")->unknown, ElementsAre("a"));
}

TEST(DerivedListTest, TooManyDeathsAreNoList) {
  const auto list = Compare(std::vector<Sides>(kMostUnknown + 1, {kOne, kDead}));
  EXPECT_TRUE(absl::IsUnavailable(list.status()));
  EXPECT_THAT(std::string(list.status().message()),
              HasSubstr("died at 51 names (a, b, c, d, e and 46 more): no result"));
}

TEST(DerivedListTest, TheFilterNamesItsSets) {
  Matrix matrix;
  matrix.groups = {{"r", {"rPackages.*", "torch"}}};
  matrix.derived = DerivedPackages{"cudaSupport", {"*", "python3Packages.t*", "@r", "*.x", "libtorch.*"}};
  EXPECT_THAT(SetsOfFilter(matrix), ElementsAre("", "python3Packages", "rPackages", "libtorch"));
  EXPECT_THAT(FilteredPackages(matrix, {"a", "a"}), ElementsAre("a"));
}

}  // namespace
}  // namespace hydrant
