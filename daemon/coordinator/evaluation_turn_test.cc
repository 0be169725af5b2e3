// Evaluations side by side: what may be, and what waits for its turn.
#include "daemon/coordinator/evaluation_turn.h"

#include <thread>

#include "absl/synchronization/notification.h"
#include "daemon/coordinator/evaluation_run_fixture.h"

namespace hydrant {
namespace {

using testing::ElementsAre;

TEST(EvaluationTurnTest, TheHighestPriorityThenTheOldestIsNext) {
  EvaluationTurn turn;
  const std::atomic<bool> cancelled = false;
  auto first = std::make_unique<EvaluationTurn::Held>(turn, EvaluationTurn::Place{0, {1}}, cancelled);
  Mutex mu;
  std::vector<int64_t> order;
  std::vector<std::thread> others;
  size_t waiting = 0;
  for (const EvaluationTurn::Place place : {EvaluationTurn::Place{0, {2}}, {5, {4}}, {5, {3}}, {-1, {0}}}) {
    others.emplace_back([&, place] {
      const EvaluationTurn::Held held(turn, place, cancelled);
      EXPECT_TRUE(held.came());
      MutexLock lock(mu);
      order.push_back(place.id.value);
    });
    for (++waiting; turn.waiting() < waiting;) std::this_thread::yield();
  }
  first.reset();
  for (std::thread& other : others) other.join();
  EXPECT_THAT(order, ElementsAre(3, 4, 2, 0));
}

TEST(EvaluationTurnTest, WhoIsCancelledWaitsNoLongerAndHoldsUpNobody) {
  EvaluationTurn turn;
  const std::atomic<bool> going = false, cancelled = true;
  const EvaluationTurn::Held first(turn, {0, {1}}, going);
  EXPECT_TRUE(first.came());
  const EvaluationTurn::Held second(turn, {9, {2}}, cancelled);
  EXPECT_FALSE(second.came());
  EXPECT_EQ(turn.waiting(), 0u);
}

// A source that does not answer for one path until it is let go.
class HangingSource final : public TreeSource {
 public:
  HangingSource(TreeSource& source, std::string path) : source_(source), path_(std::move(path)) {}
  absl::StatusOr<Tree> Snapshot(const SourceSpec& spec, const SourcePoint& point,
                                const std::string& root) override {
    if (spec.path == path_) let_go_.WaitForNotification();
    return source_.Snapshot(spec, point, root);
  }
  void Release(const std::string& root) override { source_.Release(root); }
  void LetGo() { let_go_.Notify(); }

 private:
  TreeSource& source_;
  const std::string path_;
  absl::Notification let_go_;
};

TEST_F(EvaluationRunTest, ATreeThatDoesNotComeHoldsUpItsOwnEvaluationOnly) {
  Write("a", {"a"});
  ASSERT_TRUE(MakeDirectories(dir_ / "hanging").ok());
  const auto declare = [&](const std::string& name, const std::string& folder) {
    const std::string toml = absl::StrCat("name = \"", name, "\"\nsource.path = \"", dir_ / folder,
                                          "\"\n[axes]\npackage = [\"a\"]\n");
    ASSERT_TRUE(farm().Apply({.toml = toml, .directory = "/", .file = name + ".toml"}, false).ok());
  };
  declare("hanging", "hanging");
  declare("m", "src");
  HangingSource source(source_, dir_ / "hanging");
  EvaluationRun run({.coordinator = farm(),
                     .source = source,
                     .evaluator = evaluator_,
                     .closure = closure_,
                     .presence = presence_,
                     .catalogue = daemon_->catalogue,
                     .import = import_});
  Trigger("hanging");
  std::vector<std::thread> servers;
  for (int i = 0; i < 2; ++i) servers.emplace_back([&] { run.Serve(stop_); });
  const auto await = [&](const std::string& matrix, EvaluationState state) {
    uint64_t seen = 0;
    while ((*farm().Evaluations(matrix))[0].state != state) seen = farm().AwaitChange(seen, absl::Seconds(1));
  };
  await("hanging", EvaluationState::kEvaluating);
  Trigger("m");
  await("m", EvaluationState::kEvaluated);
  EXPECT_EQ((*farm().Evaluations("hanging"))[0].state, EvaluationState::kEvaluating);
  source.LetGo();
  await("hanging", EvaluationState::kEvaluated);
  stop_ = true;
  for (std::thread& server : servers) server.join();
}

}  // namespace
}  // namespace hydrant
