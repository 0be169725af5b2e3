#include "daemon/presence/pruned_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydrant {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr char kUpstream[] = "https://upstream";

// Has what it is told to, and notes what it is asked.
class ScriptedPresence final : public Presence {
 public:
  std::map<std::string, Answer> Ask(const std::vector<std::string>& store_paths) override {
    asked.push_back(store_paths);
    std::map<std::string, Answer> answers;
    for (const std::string& path : store_paths) {
      if (doubtful.contains(path)) {
        answers[path] = {.held = Held::kUnknown, .why = "HTTP 503"};
      } else if (has.contains(path)) {
        answers[path] = {.held = Held::kPresent, .cache = kUpstream};
      } else {
        answers[path] = {.held = Held::kAbsent};
      }
    }
    return answers;
  }
  std::set<std::string> has, doubtful;
  std::vector<std::vector<std::string>> asked;
};

class PrunedWalkTest : public ::testing::Test {
 protected:
  // torch -> cuda, python; cuda -> glibc; python -> glibc; glibc -> gcc. Each has one output of its name.
  WalkResult Walk(const std::vector<std::string>& roots) {
    const std::map<std::string, std::vector<std::string>> inputs = {{"torch", {"cuda", "python"}},
                                                                    {"cuda", {"glibc"}},
                                                                    {"python", {"glibc"}},
                                                                    {"glibc", {"gcc"}},
                                                                    {"gcc", {}}};
    const auto node_of = [&](const std::string& derivation) {
      auto outputs = outputs_.find(derivation);
      return WalkNode{
          outputs != outputs_.end() ? outputs->second : std::vector<std::string>{"/" + derivation},
          inputs.at(derivation)};
    };
    return PrunedWalk(
        roots, node_of, [&](const std::string& path) { return ours_.contains(path); }, presence_);
  }
  std::set<std::string> ours_;
  std::map<std::string, std::vector<std::string>> outputs_;
  ScriptedPresence presence_;
};

TEST_F(PrunedWalkTest, AsksLevelByLevelAndNothingBelowWhatIsHeld) {
  presence_.has = {"/glibc"};
  const WalkResult result = Walk({"torch"});
  EXPECT_THAT(result.needed, UnorderedElementsAre("cuda", "glibc", "python", "torch"));
  EXPECT_THAT(result.held, UnorderedElementsAre(Pair("glibc", kUpstream)));
  EXPECT_THAT(presence_.asked,
              ElementsAre(ElementsAre("/torch"), ElementsAre("/cuda", "/python"), ElementsAre("/glibc")));
}

TEST_F(PrunedWalkTest, AHeldRootNeedsNothing) {
  presence_.has = {"/torch"};
  const WalkResult result = Walk({"torch"});
  EXPECT_THAT(result.needed, UnorderedElementsAre("torch"));
  EXPECT_THAT(result.held, UnorderedElementsAre(Pair("torch", kUpstream)));
}

TEST_F(PrunedWalkTest, OursIsNotAskedFor) {
  ours_ = {"/cuda", "/python"};
  const WalkResult result = Walk({"torch"});
  EXPECT_THAT(result.held, UnorderedElementsAre(Pair("cuda", "ours"), Pair("python", "ours")));
  EXPECT_THAT(presence_.asked, ElementsAre(ElementsAre("/torch")));
}

TEST_F(PrunedWalkTest, ADerivationIsHeldOnlyWithAllItsOutputs) {
  outputs_["cuda"] = {"/cuda", "/cuda-lib"};
  presence_.has = {"/cuda", "/python", "/glibc"};
  EXPECT_THAT(Walk({"torch"}).held, UnorderedElementsAre(Pair("glibc", kUpstream), Pair("python", kUpstream)));
  ours_ = {"/cuda-lib"};
  EXPECT_EQ(Walk({"torch"}).held.at("cuda"), kUpstream);
}

TEST_F(PrunedWalkTest, AnOutputWithoutAPathIsHeldNowhere) {
  outputs_["gcc"] = {""};
  EXPECT_THAT(Walk({"gcc"}).held, IsEmpty());
  EXPECT_THAT(presence_.asked, IsEmpty());
}

TEST_F(PrunedWalkTest, DerivationsWithTheSameOutputShareItsAnswer) {
  outputs_["cuda"] = {"/same"};
  outputs_["python"] = {"/same"};
  presence_.has = {"/same"};
  EXPECT_THAT(Walk({"torch"}).held, UnorderedElementsAre(Pair("cuda", kUpstream), Pair("python", kUpstream)));
  EXPECT_THAT(presence_.asked, ElementsAre(ElementsAre("/torch"), ElementsAre("/same")));
}

// Answers in an order of its own: what is asked last is answered first.
class LastFirstPresence final : public Presence {
 public:
  std::map<std::string, Answer> Ask(const std::vector<std::string>&) override { return {}; }
  void Follow(const std::vector<std::string>& store_paths, const Onward& onward) override {
    std::vector<std::string> open = store_paths;
    while (!open.empty()) {
      const std::string path = open.back();
      open.pop_back();
      answered.push_back(path);
      for (std::string& next :
           onward(path, {.held = has.contains(path) ? Held::kPresent : Held::kAbsent, .cache = kUpstream})) {
        open.push_back(std::move(next));
      }
    }
  }
  std::set<std::string> has;
  std::vector<std::string> answered;
};

TEST_F(PrunedWalkTest, OneAbsentOutputIsEnoughToAskBelowWhileAnotherIsOpen) {
  LastFirstPresence presence;
  presence.has = {"/slow", "/below"};
  const WalkResult result = PrunedWalk(
      {"top"},
      [](const std::string& derivation) {
        return derivation == "top" ? WalkNode{{"/slow", "/absent"}, {"below"}} : WalkNode{{"/below"}, {}};
      },
      [](const std::string&) { return false; }, presence);
  EXPECT_THAT(presence.answered, ElementsAre("/absent", "/below", "/slow"));
  EXPECT_THAT(result.held, UnorderedElementsAre(Pair("below", kUpstream)));
}

TEST_F(PrunedWalkTest, WhatCouldNotBeAskedCountsAsNotHeldAndIsToldApart) {
  presence_.doubtful = {"/cuda"};
  presence_.has = {"/python", "/glibc"};
  const WalkResult result = Walk({"torch"});
  EXPECT_THAT(result.unknown, UnorderedElementsAre(Pair("cuda", "HTTP 503")));
  EXPECT_TRUE(result.needed.contains("glibc"));
}

}  // namespace
}  // namespace hydrant
