// Random package sets and random changes to them: what is blamed was changed, and the way there is real.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "daemon/graph/derivation_fixture.h"

namespace hydrant {
namespace {

class RandomSets {
 public:
  explicit RandomSets(int seed) : random_(seed) {
    for (int i = 0; i < 60; ++i) {
      TestPackage package{.name =
                              "p" + std::string(1 + i % 3, 'x') + Word(i) + "-" + std::to_string(i) + ".0"};
      for (int j = Pick(5); i > 0 && j > 0; --j) {
        const std::string input = Key(Pick(i));
        if (std::count(package.inputs.begin(), package.inputs.end(), input) == 0)
          package.inputs.push_back(input);
      }
      if (Pick(5) == 0) package.content = "c";
      before[Key(i)] = std::move(package);
    }
    after = before;
    for (int n = Pick(6); n >= 0; --n) Change(Pick(60));
  }

  int Pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  static std::string Key(int i) { return std::to_string(100 + i); }
  static std::string Word(int i) {
    return {static_cast<char>('a' + i / 26), static_cast<char>('a' + i % 26)};
  }

  void Change(int i) {
    TestPackage& package = after[Key(i)];
    std::set<DifferenceKind>& kinds = changed[Key(i)];
    switch (Pick(6)) {
      case 0:
        package.name = package.name.substr(0, package.name.find('.')) + ".1";
        kinds.insert(DifferenceKind::kVersion);
        break;
      case 1:
        package.arguments.push_back("x");
        kinds.insert(DifferenceKind::kArguments);
        break;
      case 2:
        package.environment["FLAGS"] += "x";
        kinds.insert(DifferenceKind::kEnvironment);
        break;
      case 3:
        if (package.inputs.empty()) break;
        package.inputs.pop_back();
        kinds.insert(DifferenceKind::kInputRemoved);
        break;
      case 4:
        package.mirror += "x";
        break;
      default:
        if (!package.content.empty()) package.content += "x";
        kinds.insert(DifferenceKind::kSource);
    }
  }

  TestPackages before, after;
  std::map<std::string, std::set<DifferenceKind>> changed;  // by key

 private:
  std::mt19937 random_;
};

class Comparison {
 public:
  Comparison(const RandomSets& sets, const std::vector<std::string>& hidden)
      : sets_(sets), before_(made_.Add(sets.before, hidden)), after_(made_.Add(sets.after, hidden)) {
    for (const auto& [key, number] : after_) keys_[number] = key;
  }

  void VerifyAll() {
    DerivationDifference compare = made_.Compare();
    for (const auto& [key, before] : before_) {
      const DerivationNumber after = after_.at(key);
      if (made_.table.Same(before, after)) continue;
      const Difference difference = compare.differences()[compare.Find(before, after)];
      const auto chain = compare.Chain(before, after);
      VerifyWay({before, after}, chain);
      ASSERT_EQ(chain.back(), std::pair(difference.before, difference.after));
      VerifyBlame(difference);
    }
  }

 private:
  using Pair = DerivationDifference::Pair;
  // Each pair of the way is one of inputs of the pair above it, and not the same.
  void VerifyWay(Pair top, const std::vector<Pair>& way) {
    ASSERT_FALSE(way.empty());
    ASSERT_EQ(way.front(), top);
    for (size_t i = 0; i < way.size(); ++i) {
      ASSERT_FALSE(made_.table.Same(way[i].first, way[i].second));
      if (i == 0) continue;
      ASSERT_THAT(made_.table.inputs(way[i - 1].first), ::testing::Contains(way[i].first));
      ASSERT_THAT(made_.table.inputs(way[i - 1].second), ::testing::Contains(way[i].second));
    }
  }
  void VerifyBlame(const Difference& difference) {
    if (difference.kind == DifferenceKind::kNotRecorded) {
      EXPECT_FALSE(made_.table.filled(difference.before) && made_.table.filled(difference.after));
      return;
    }
    // A fixed output that changed is told of its user.
    const std::string key = keys_.at(difference.after);
    const auto own = sets_.changed.find(key);
    bool changed = own != sets_.changed.end() && own->second.contains(difference.kind);
    if (difference.kind == DifferenceKind::kSource) {
      for (const std::string& input : sets_.after.at(key).inputs) {
        const bool named = sets_.before.at(input).name == difference.what;
        changed = changed || (named && sets_.changed.contains(input));
      }
    }
    EXPECT_TRUE(changed) << DescribeDifference(made_.table, difference);
  }

  const RandomSets& sets_;
  TestDerivations made_;
  std::map<std::string, DerivationNumber> before_, after_;
  std::map<DerivationNumber, std::string> keys_;
};

TEST(DifferenceProperty, WhatIsBlamedWasChanged) {
  for (int seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const RandomSets sets(seed);
    Comparison(sets, {}).VerifyAll();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(DifferenceProperty, WithPartsOfTheRecordGoneItIsStillTrue) {
  for (int seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomSets sets(seed);
    std::vector<std::string> hidden;
    for (int i = 0; i < 60; ++i) {
      if (sets.Pick(3) == 0) hidden.push_back(RandomSets::Key(i));
    }
    Comparison(sets, hidden).VerifyAll();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace hydrant
