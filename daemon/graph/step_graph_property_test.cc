// Random graphs and random events against a model that works every state out anew from what happened to each
// step itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "daemon/graph/step_graph.h"

namespace hydrant {
namespace {

bool Dead(StepState state) { return IsFinal(state) && state != StepState::kSucceeded; }

// What happened to a step itself; nothing: its state follows from its inputs.
using Own = std::optional<StepState>;

class RandomGraph {
 public:
  explicit RandomGraph(int seed) : random_(seed) {}

  int Pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void AddSome(int count) {
    std::vector<StepSpec> specs;
    for (int i = 0; i < count; ++i) {
      StepSpec spec;
      const int number = static_cast<int>(own_.size());
      spec.derivation = spec.name = "d" + std::to_string(number);
      for (int j = Pick(4); number > 0 && j > 0; --j)
        spec.inputs.push_back("d" + std::to_string(Pick(number)));
      own_.push_back(std::nullopt);
      inputs_.push_back(spec.inputs);
      specs.push_back(spec);
    }
    std::shuffle(specs.begin(), specs.end(), random_);
    ASSERT_TRUE(graph.Add(specs, {}).ok());
    for (const StepSpec& spec : specs) graph.Want(*graph.Find(spec.derivation));
  }

  // One random event at one random step, refused or not; the moves are also applied one by one to a copy.
  void Happen() {
    const int number = Pick(static_cast<int>(own_.size()));
    const StepId step = *graph.Find("d" + std::to_string(number));
    const auto event = static_cast<StepEvent>(Pick(kStepEventCount));
    const StepState before = graph.state(step);
    const auto moves = graph.Plan(step, event, {});
    if (!moves.ok()) return;
    StepGraph copy = graph;
    for (const StepMove& move : *moves) ASSERT_EQ(copy.Apply({move}), absl::OkStatus());
    ASSERT_EQ(graph.Apply(*moves), absl::OkStatus());
    for (StepId s = 0; s < graph.size(); ++s) ASSERT_EQ(copy.state(s), graph.state(s));
    Note(number, before, event);
  }

  void Note(int number, StepState before, StepEvent event) {
    switch (event) {
      case StepEvent::kInputsSucceeded:
      case StepEvent::kInputFailed:
      case StepEvent::kBackoffOver:
      case StepEvent::kRetriedReady:
      case StepEvent::kRetriedBlocked:
        own_[number] = std::nullopt;
        break;
      default:
        own_[number] = NextStepState(before, event);
    }
  }

  std::vector<StepState> Model() const {
    std::vector<StepState> states;
    for (size_t i = 0; i < own_.size(); ++i) {
      bool dead = false, all_succeeded = true;
      for (const std::string& input : inputs_[i]) {
        const StepState state = states[std::stoi(input.substr(1))];
        dead = dead || Dead(state);
        all_succeeded = all_succeeded && state == StepState::kSucceeded;
      }
      states.push_back(own_[i].value_or(dead            ? StepState::kDependencyFailed
                                        : all_succeeded ? StepState::kReady
                                                        : StepState::kBlocked));
    }
    return states;
  }

  void Verify() {
    const std::vector<StepState> model = Model();
    std::array<int64_t, kStepStateCount> counts{};
    std::vector<StepId> ready;
    for (size_t i = 0; i < model.size(); ++i) {
      const StepId step = *graph.Find("d" + std::to_string(i));
      ASSERT_EQ(StepStateName(graph.state(step)), StepStateName(model[i])) << "d" << i;
      ++counts[static_cast<size_t>(model[i])];
      if (model[i] == StepState::kReady) ready.push_back(step);
      if (model[i] == StepState::kDependencyFailed) VerifyBlame(step);
    }
    EXPECT_EQ(graph.counts(), counts);
    EXPECT_THAT(graph.ready(), ::testing::UnorderedElementsAreArray(ready));
    EXPECT_TRUE(graph.Owed().empty());
  }

  // A dependency_failed step blames a step that did fail and that it reaches through dead ones.
  void VerifyBlame(StepId step) {
    const std::vector<std::string> chain = graph.ChainToRoot(step);
    ASSERT_GE(chain.size(), 2u);
    EXPECT_EQ(chain.back(), graph.detail(step).root);
    const StepState root = graph.state(*graph.Find(chain.back()));
    EXPECT_TRUE(root == StepState::kFailed || root == StepState::kCancelled);
    EXPECT_EQ(graph.detail(step).cause,
              root == StepState::kFailed ? Cause::kDependencyFailed : Cause::kCancelled);
  }

  StepGraph graph;

 private:
  std::mt19937 random_;
  std::vector<Own> own_;
  std::vector<std::vector<std::string>> inputs_;
};

TEST(StepGraphPropertyTest, StatesCountersAndBlameEqualThoseWorkedOutAnew) {
  for (int seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraph random(seed);
    random.AddSome(12);
    for (int i = 0; i < 250; ++i) {
      if (i == 60 || i == 120) random.AddSome(6);
      ASSERT_NO_FATAL_FAILURE(random.Happen());
      ASSERT_NO_FATAL_FAILURE(random.Verify());
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(StepGraphPropertyTest, AStepIsWantedExactlyWhenAWantedRootReachesIt) {
  for (int seed = 0; seed < 20; ++seed) {
    RandomGraph random(seed);
    random.AddSome(25);
    const auto size = static_cast<StepId>(random.graph.size());
    std::vector<int> roots(size, 1);  // AddSome wants each once
    for (int i = 0; i < 100; ++i) {
      const auto step = static_cast<StepId>(random.Pick(static_cast<int>(size)));
      if (roots[step] > 0 && random.Pick(4) != 0) {
        random.graph.Unwant(step);
        --roots[step];
      } else {
        random.graph.Want(step);
        ++roots[step];
      }
      std::vector<StepId> wanted_roots;
      for (StepId s = 0; s < size; ++s) {
        if (roots[s] > 0) wanted_roots.push_back(s);
      }
      const std::vector<StepId> reached = random.graph.InputsFirst(wanted_roots);
      for (StepId s = 0; s < size; ++s) {
        ASSERT_EQ(random.graph.wanted(s), std::count(reached.begin(), reached.end(), s) == 1)
            << "seed " << seed;
      }
    }
  }
}

TEST(StepGraphPropertyTest, ALargeGraphIsAddedAndBuiltToItsEnd) {
  constexpr int kSteps = 20000, kInputs = 10;
  std::mt19937 random(1);
  std::vector<StepSpec> specs(kSteps);
  for (int i = 0; i < kSteps; ++i) {
    specs[i].derivation = specs[i].name = "/nix/store/d" + std::to_string(i);
    for (int j = 0; i > 0 && j < kInputs; ++j) specs[i].inputs.push_back(specs[random() % i].derivation);
  }
  StepGraph graph;
  ASSERT_TRUE(graph.Add(specs, {}).ok());
  int built = 0;
  while (!graph.ready().empty()) {
    const StepId step = graph.ready().back();
    for (const StepEvent event : {StepEvent::kGranted, StepEvent::kOutputsVerified, StepEvent::kStaged}) {
      const auto moves = graph.Plan(step, event, {});
      ASSERT_TRUE(moves.ok());
      ASSERT_EQ(graph.Apply(*moves), absl::OkStatus());
    }
    ++built;
  }
  EXPECT_EQ(built, kSteps);
  EXPECT_EQ(graph.counts()[static_cast<size_t>(StepState::kSucceeded)], kSteps);
}

}  // namespace
}  // namespace hydrant
