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
                                const std::string& root, const std::atomic<bool>& cancelled) override {
    while (spec.path == path_ && !let_go_.WaitForNotificationWithTimeout(absl::Milliseconds(10))) {
      if (cancelled) return absl::CancelledError("cancelled");
    }
    return source_.Snapshot(spec, point, root, cancelled);
  }
  void Release(const std::string& root) override { source_.Release(root); }
  void LetGo() { let_go_.Notify(); }

 private:
  TreeSource& source_;
  const std::string path_;
  absl::Notification let_go_;
};

// Two threads, one of which waits for the tree of matrix "hanging"; matrix "m" has one that comes.
class HangingTreeTest : public EvaluationRunTest {
 protected:
  HangingTreeTest() {
    Write("a", {"a"});
    EXPECT_TRUE(MakeDirectories(dir_ / "hanging").ok());
    Declare("hanging", "hanging");
    Declare("m", "src");
    Trigger("hanging");
    for (int i = 0; i < 2; ++i) servers_.emplace_back([&] { hanging_run_.Serve(stop_); });
    Await("hanging", EvaluationState::kEvaluating);
  }
  ~HangingTreeTest() override { Stop(); }
  void Stop() {
    stop_ = true;
    for (std::thread& server : servers_) server.join();
    servers_.clear();
  }
  void Declare(const std::string& name, const std::string& folder) {
    const std::string toml = absl::StrCat("name = \"", name, "\"\nsource.path = \"", dir_ / folder,
                                          "\"\n[axes]\npackage = [\"a\"]\n");
    EXPECT_TRUE(farm().Apply({.toml = toml, .directory = "/", .file = name + ".toml"}, false).ok());
  }
  EvaluationState StateOf(const std::string& matrix) { return (*farm().Evaluations(matrix))[0].state; }
  void Await(const std::string& matrix, EvaluationState state) {
    uint64_t seen = 0;
    while (StateOf(matrix) != state) seen = farm().AwaitChange(seen, absl::Seconds(1));
  }

  HangingSource hanging_{source_, dir_ / "hanging"};
  EvaluationRun hanging_run_{{.coordinator = farm(),
                              .source = hanging_,
                              .evaluator = evaluator_,
                              .closure = closure_,
                              .presence = presence_,
                              .catalogue = daemon_->catalogue,
                              .import = import_}};
  std::vector<std::thread> servers_;
};

TEST_F(HangingTreeTest, HoldsUpItsOwnEvaluationOnly) {
  Trigger("m");
  Await("m", EvaluationState::kEvaluated);
  EXPECT_EQ(StateOf("hanging"), EvaluationState::kEvaluating);
  hanging_.LetGo();
  Await("hanging", EvaluationState::kEvaluated);
}

TEST_F(HangingTreeTest, IsWaitedForNoLongerOnceItsEvaluationIsCancelled) {
  ASSERT_TRUE(farm().Cancel({.matrix = "hanging"}).ok());
  Await("hanging", EvaluationState::kCancelled);
  Trigger("hanging");
  Await("hanging", EvaluationState::kEvaluating);
}

TEST_F(HangingTreeTest, HoldsUpNoEndAndIsBegunAgainByTheNextDaemon) {
  Stop();
  EXPECT_EQ(StateOf("hanging"), EvaluationState::kEvaluating);
}

}  // namespace
}  // namespace hydrant
