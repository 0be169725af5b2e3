// The program as users run it: words in, text and exit status out. Against no server and against a farm of
// our own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/fake_farm.h"
#include "client/run_program.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant::client {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string GoldenText(const std::string& file) {
  return ReadFile(GoldenPath(file)).value_or("no such golden file");
}

// A farm with something to say, and the program pointed at it.
class FarmTest : public ::testing::Test {
 protected:
  FarmTest() {
    farm.status = Golden<v1::GetStatusResponse>("status");
    farm.workers = Golden<v1::ListWorkersResponse>("workers");
    farm.channels = Golden<v1::ListChannelsResponse>("channels");
    farm.matrices = Golden<v1::ListMatricesResponse>("matrices");
    farm.evaluations = Golden<v1::ListEvaluationsResponse>("evaluations");
    farm.comparison = Golden<v1::CompareEvaluationsResponse>("comparison");
    farm.explanation = Golden<v1::ExplainResponse>("explain");
    farm.farm.set_http_url("http://farm:8580");
    farm.farm.set_public_key("farm-1:a2V5");
    farm.evaluation.set_id(3);
    farm.evaluation.set_matrix("demo");
    farm.evaluation.set_state(v1::EVALUATION_STATE_REQUESTED);
  }
  Ran Hydrant(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {}) {
    environment.emplace("HYDRANT_SERVER", farm.address());
    return RunHydrant(std::move(arguments), std::move(environment));
  }
  // The evaluation's end, as a watch tells it.
  void EndsWith(v1::EvaluationState state, bool gate_passed) {
    farm.watch.resize(1);
    *farm.watch[0].mutable_evaluation() = farm.evaluation;
    farm.watch[0].mutable_evaluation()->set_state(state);
    farm.watch[0].mutable_evaluation()->set_gate_passed(gate_passed);
    (*farm.watch[0].mutable_totals())["cached"] = 28;
    (*farm.watch[0].mutable_totals())["failed"] = 2;
  }
  FakeFarm farm;
};

TEST(Program, WithoutAServerItExits3AndNamesTheAddress) {
  const Ran ran = RunHydrant({"status"}, {{"HYDRANT_SERVER", "127.0.0.1:1"}});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_THAT(ran.err, StartsWith("hydrant: cannot reach hydrantd at 127.0.0.1:1: "));
  EXPECT_THAT(ran.out, IsEmpty());
}

TEST(Program, WrongWordsExit2WithTheNearestRightOne) {
  EXPECT_EQ(RunHydrant({}).exit, 2);
  EXPECT_EQ(RunHydrant({"log"}).exit, 2);
  const Ran ran = RunHydrant({"statsu"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "hydrant: there is no verb 'statsu'; the nearest is 'status'\ntry 'hydrant --help'\n");
  EXPECT_THAT(RunHydrant({"worker", "lst"}).err,
              HasSubstr("the nearest is 'list'\ntry 'hydrant worker --help'"));
  EXPECT_THAT(RunHydrant({"status", "--output", "xml"}).err,
              HasSubstr("--output: 'xml' is none of table, json"));
  EXPECT_THAT(RunHydrant({"status", "--eval", "-1"}).err,
              HasSubstr("'-1' is no evaluation: they count from 1"));
}

TEST(Program, EveryVerbExplainsItself) {
  EXPECT_THAT(RunHydrant({"--version"}).out, StartsWith("hydrant 0."));
  const std::vector<std::vector<std::string>> verbs = {{},
                                                       {"matrix", "check"},
                                                       {"matrix", "show"},
                                                       {"matrix", "apply"},
                                                       {"matrix", "list"},
                                                       {"plan"},
                                                       {"trigger"},
                                                       {"evaluation", "list"},
                                                       {"status"},
                                                       {"watch"},
                                                       {"report"},
                                                       {"log"},
                                                       {"explain"},
                                                       {"retry"},
                                                       {"cancel"},
                                                       {"worker", "list"},
                                                       {"worker", "show"},
                                                       {"worker", "drain"},
                                                       {"worker", "undrain"},
                                                       {"channel", "list"},
                                                       {"channel", "show"},
                                                       {"use"}};
  for (std::vector<std::string> words : verbs) {
    words.push_back("--help");
    const Ran ran = RunHydrant(words);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("Usage: hydrant")) << ran.err;
  }
}

TEST_F(FarmTest, TheStatusOfAMatrixInEveryForm) {
  EXPECT_THAT(Hydrant({"status", "demo"}, {{"COLUMNS", "52"}}).out,
              HasSubstr("jax                        ?    –     unfree\n"));
  EXPECT_EQ(Hydrant({"status", "demo", "--output", "json"}).out, GoldenText("status.json"));
  EXPECT_EQ(Hydrant({"--output", "jsonl", "status", "demo"}).out, GoldenText("status.jsonl"));
  EXPECT_EQ(Hydrant({"status", "demo", "-o", "markdown"}).out, GoldenText("status.md"));
  EXPECT_THAT(farm.asked, ElementsAre("GetStatus matrix: \"demo\"", "GetStatus matrix: \"demo\"",
                                      "GetStatus matrix: \"demo\"", "GetStatus matrix: \"demo\""));
}

TEST_F(FarmTest, WithoutAUtf8LocaleTheMarksAreAscii) {
  EXPECT_THAT(Hydrant({"status", "demo"}, {{"LC_ALL", "C"}}).out,
              AllOf(HasSubstr("# 1 cached"), Not(HasSubstr("●"))));
}

TEST_F(FarmTest, StatusOfAnEvaluationAndOfAll) {
  EXPECT_EQ(Hydrant({"status", "--eval", "3"}).exit, 0);
  EXPECT_EQ(Hydrant({"status", "--output", "json"}).out, GoldenText("matrices.json"));
  EXPECT_THAT(farm.asked, ElementsAre("GetStatus evaluation: 3", "ListMatrices"));
}

TEST_F(FarmTest, AReportIsMarkdownUnlessAsked) {
  EXPECT_EQ(Hydrant({"report", "3"}).out, GoldenText("report.md"));
  EXPECT_EQ(Hydrant({"report", "demo", "-o", "json"}).out, GoldenText("status.json"));
  EXPECT_EQ(Hydrant({"report", "5", "--against", "3"}).out, GoldenText("comparison.md"));
  EXPECT_EQ(Hydrant({"report", "5", "--against", "3", "-o", "table"}, {{"COLUMNS", "100"}}).out,
            GoldenText("comparison.txt"));
  EXPECT_THAT(farm.asked, ElementsAre("GetStatus evaluation: 3", "GetStatus matrix: \"demo\"",
                                      "CompareEvaluations before: 3 after: 5",
                                      "CompareEvaluations before: 3 after: 5"));
}

TEST_F(FarmTest, Lists) {
  EXPECT_EQ(Hydrant({"worker", "list", "--output", "json"}).out, GoldenText("workers.json"));
  EXPECT_EQ(Hydrant({"channel", "list", "--output", "json"}).out, GoldenText("channels.json"));
  EXPECT_EQ(Hydrant({"matrix", "list", "-o", "markdown"}).out, GoldenText("matrices.md"));
  EXPECT_EQ(Hydrant({"evaluation", "list", "demo", "-o", "json"}).out, GoldenText("evaluations.json"));
  EXPECT_EQ(Hydrant({"evaluation", "show", "3", "-o", "json"}).out, Hydrant({"status", "demo", "--eval", "3", "-o", "json"}).out);
  EXPECT_THAT(Hydrant({"evaluation", "show", "demo"}).err, HasSubstr("'demo' is no evaluation"));
  EXPECT_EQ(Hydrant({"worker", "show", "w2", "-o", "json"}).out, GoldenText("worker.json"));
  EXPECT_EQ(Hydrant({"channel", "show", "demo", "-o", "json"}).out, GoldenText("channel.json"));
}

TEST_F(FarmTest, ANameThatIsNotThereIsAnsweredWithTheNearest) {
  const Ran ran = Hydrant({"worker", "show", "w22"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "hydrant: there is no worker 'w22'; the nearest is 'w2'\n");
}

TEST_F(FarmTest, DrainAndUndrain) {
  EXPECT_EQ(Hydrant({"worker", "drain", "w1"}).exit, 0);
  EXPECT_EQ(Hydrant({"worker", "undrain", "w1"}).exit, 0);
  EXPECT_THAT(farm.asked, ElementsAre("DrainWorker name: \"w1\" drain: true", "DrainWorker name: \"w1\""));
}

TEST_F(FarmTest, TriggerAsksAndReturns) {
  const Ran ran = Hydrant({"trigger", "demo", "--only", "torch@*", "--priority", "-2"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.out, "evaluation 3 of demo asked for\n");
  EXPECT_THAT(farm.asked, ElementsAre("Trigger matrix: \"demo\" only: \"torch@*\" priority: -2"));
}

TEST_F(FarmTest, TriggerWaitExits0WhenTheGatePassed) {
  EndsWith(v1::EVALUATION_STATE_SETTLED, true);
  const Ran ran = Hydrant({"trigger", "demo", "--wait"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.out, "demo evaluation 3 settled, gate passed: 28 cached, 2 failed\n");
  EXPECT_EQ(ran.err, "demo #3 settled: 30 of 30 done: 28 cached, 2 failed\n");
  EXPECT_THAT(farm.asked, ElementsAre("Trigger matrix: \"demo\"", "Watch matrix: \"demo\" evaluation: 3"));
}

TEST_F(FarmTest, TriggerWaitExits1WhenItDidNot) {
  EndsWith(v1::EVALUATION_STATE_SETTLED, false);
  EXPECT_EQ(Hydrant({"trigger", "demo", "--wait"}).exit, 1);
  EndsWith(v1::EVALUATION_STATE_INCOMPLETE, true);
  EXPECT_EQ(Hydrant({"trigger", "demo", "--wait"}).exit, 1);
  EndsWith(v1::EVALUATION_STATE_FAILED, false);
  EXPECT_THAT(Hydrant({"trigger", "demo", "--wait", "-o", "jsonl"}).out,
              AllOf(HasSubstr("\"state\":\"failed\""), HasSubstr("\"totals\":{\"cached\":28,\"failed\":2}")));
}

// Evaluations 3 and 4, of branches "old" and "new"; the second ends as told.
class SeveralBranchesTest : public FarmTest {
 protected:
  SeveralBranchesTest() {
    farm.evaluation.set_branch("old");
    v1::Evaluation other = farm.evaluation;
    other.set_id(4);
    other.set_branch("new");
    farm.more = {other};
  }
  void End(bool second_passes) {
    EndsWith(v1::EVALUATION_STATE_SETTLED, true);
    farm.watch.push_back(farm.watch[0]);
    farm.watch[1].mutable_evaluation()->set_id(4);
    farm.watch[1].mutable_evaluation()->set_branch("new");
    farm.watch[1].mutable_evaluation()->set_gate_passed(second_passes);
  }
};

TEST_F(SeveralBranchesTest, TriggerNamesEach) {
  EXPECT_EQ(Hydrant({"trigger", "demo"}).out,
            "evaluation 3 of demo, branch old, asked for\nevaluation 4 of demo, branch new, asked for\n");
  EXPECT_THAT(Hydrant({"trigger", "demo", "-o", "json"}).out, StartsWith("{\n  \"evaluations\": ["));
}

TEST_F(SeveralBranchesTest, TriggerWaitExits0WhenTheGateOfEachPassed) {
  End(true);
  const Ran ran = Hydrant({"trigger", "demo", "--wait"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.out, "demo branch old evaluation 3 settled, gate passed: 28 cached, 2 failed\n"
                     "demo branch new evaluation 4 settled, gate passed: 28 cached, 2 failed\n");
}

TEST_F(SeveralBranchesTest, TriggerWaitExits1WhenOneDidNot) {
  End(false);
  EXPECT_EQ(Hydrant({"trigger", "demo", "--wait"}).exit, 1);
  EXPECT_THAT(farm.asked, ElementsAre("Trigger matrix: \"demo\"", "Watch matrix: \"demo\" evaluation: 3",
                                      "Watch matrix: \"demo\" evaluation: 4"));
}

TEST_F(FarmTest, ABranchAndARevisionAreAskedFor) {
  EXPECT_EQ(Hydrant({"trigger", "demo", "--branch", "new", "--rev", "v1"}).exit, 0);
  EXPECT_EQ(Hydrant({"status", "demo", "--branch", "new"}).exit, 0);
  EXPECT_EQ(Hydrant({"evaluation", "list", "--branch", "new"}).exit, 0);
  EXPECT_EQ(Hydrant({"status", "--branch", "new"}).exit, 2) << "of which matrix?";
  EXPECT_EQ(Hydrant({"watch", "--branch", "new"}).exit, 2);
  EXPECT_THAT(farm.asked,
              ElementsAre("Trigger matrix: \"demo\" branch: \"new\" revision: \"v1\"",
                          "GetStatus matrix: \"demo\" branch: \"new\"", "ListEvaluations branch: \"new\""));
}

TEST_F(FarmTest, ABranchIsMeantByEveryVerbOfAnEvaluation) {
  const std::string id = "demo/a@x86_64-linux";
  farm.log_chunks = {"x"};
  for (const char* verb : {"explain", "log", "retry", "cancel"}) {
    EXPECT_EQ(Hydrant({verb, id, "--branch", "new"}).exit, 0) << verb;
  }
  EXPECT_EQ(Hydrant({"retry", "--matrix", "demo", "--branch", "new"}).exit, 0);
  EXPECT_THAT(Hydrant({"retry", "--branch", "new"}).err, HasSubstr("--branch is of a matrix: name that too"));
  EXPECT_THAT(farm.asked, ElementsAre("Explain address: \"demo/a@x86_64-linux\" branch: \"new\"",
                                      "ReadLog address: \"demo/a@x86_64-linux\" branch: \"new\"",
                                      "Retry address: \"demo/a@x86_64-linux\" branch: \"new\"",
                                      "Cancel address: \"demo/a@x86_64-linux\" branch: \"new\"",
                                      "Retry matrix: \"demo\" branch: \"new\""));
}

TEST_F(FarmTest, TwoBranchesAreReportedAgainstEachOther) {
  EXPECT_EQ(Hydrant({"report", "demo", "--branch", "new"}).exit, 0);
  EXPECT_EQ(Hydrant({"report", "demo", "--branch", "new", "--against-branch", "old"}).exit, 0);
  EXPECT_EQ(Hydrant({"report", "5", "--against", "demo", "--against-branch", "old"}).exit, 0);
  EXPECT_THAT(
      farm.asked,
      ElementsAre("GetStatus matrix: \"demo\" branch: \"new\"", "GetStatus matrix: \"demo\" branch: \"old\"",
                  "GetStatus matrix: \"demo\" branch: \"new\"", "CompareEvaluations before: 3 after: 3",
                  "GetStatus matrix: \"demo\" branch: \"old\"", "CompareEvaluations before: 3 after: 5"));
}

TEST_F(FarmTest, WatchTakesANumberAMatrixOrTheNewest) {
  EndsWith(v1::EVALUATION_STATE_SETTLED, true);
  EXPECT_EQ(Hydrant({"watch", "3"}).exit, 0);
  EXPECT_EQ(Hydrant({"watch", "demo"}).exit, 0);
  EXPECT_EQ(Hydrant({"watch"}).exit, 0);
  EXPECT_THAT(farm.asked, ElementsAre("Watch evaluation: 3", "Watch matrix: \"demo\"", "ListEvaluations",
                                      "Watch evaluation: 3"));
}

TEST_F(FarmTest, WatchTellsEachChangeOnce) {
  EndsWith(v1::EVALUATION_STATE_EVALUATED, false);
  farm.watch.push_back(farm.watch[0]);
  v1::VariantStatus& variant = *farm.watch[1].add_changed();
  variant.set_id("a@x86_64-linux");
  variant.set_state("failed");
  variant.set_cause("timeout");
  variant.set_message("10 h\x1b[2J");
  farm.watch.push_back(farm.watch[1]);
  farm.watch[2].mutable_evaluation()->set_state(v1::EVALUATION_STATE_SETTLED);
  EXPECT_EQ(Hydrant({"watch", "3"}).out,
            "✗ a@x86_64-linux failed: timeout: 10 h\\x1b[2J\n"
            "demo evaluation 3 settled, gate not passed: 28 cached, 2 failed\n  hydrant status --eval 3 says "
            "why\n");
}

TEST_F(FarmTest, ALogIsByteForByteInAPipe) {
  farm.log_chunks = {"one\x1b[2J\xff\n", std::string("\0two", 4)};
  const Ran ran = Hydrant({"log", "torch@cuda12.9-x86_64-linux", "--follow"});
  EXPECT_EQ(ran.out, std::string("one\x1b[2J\xff\n\0two", 13));
  EXPECT_THAT(farm.asked, ElementsAre("ReadLog address: \"torch@cuda12.9-x86_64-linux\" follow: true"));
}

TEST_F(FarmTest, ExplainNamesTheChain) {
  EXPECT_EQ(Hydrant({"explain", "demo/torch@cuda12.9-x86_64-linux", "-o", "json"}).out,
            GoldenText("explain.json"));
  EXPECT_THAT(Hydrant({"explain", "torch@cuda12.9-x86_64-linux"}).out,
              HasSubstr("/nix/store/00000000000000000000000000000009-magma-2.7.drv\n"));
}

TEST_F(FarmTest, RetryAndCancelNeedSomethingToBeAbout) {
  EXPECT_EQ(Hydrant({"retry"}).exit, 2);
  EXPECT_EQ(Hydrant({"cancel"}).exit, 2);
  EXPECT_EQ(Hydrant({"retry", "demo/torch@*", "--matrix", "other"}).exit, 2);
  EXPECT_THAT(Hydrant({"retry", "--matrix", "demo", "--cause", "bad_luck"}).err,
              HasSubstr("'bad_luck' is no cause"));
  EXPECT_THAT(farm.asked, IsEmpty());
}

TEST_F(FarmTest, RetryAndCancelSayWhatTheyAreAbout) {
  farm.retried.set_retried(4);
  farm.retried.set_evaluation(9);
  EXPECT_EQ(Hydrant({"retry", "--failed", "--matrix", "demo", "--cause", "out_of_memory"}).out,
            "4 steps and checks are tried again; evaluation 9 asked for\n");
  EXPECT_EQ(Hydrant({"retry", "demo/torch@*", "-o", "jsonl"}).out, "{\"retried\":4,\"evaluation\":9}\n");
  EXPECT_EQ(Hydrant({"cancel", "/nix/store/00000000000000000000000000000009-magma-2.7.drv"}).exit, 0);
  EXPECT_EQ(Hydrant({"cancel", "demo/a@x86_64-linux", "--eval", "2"}).exit, 0);
  EXPECT_THAT(farm.asked,
              ElementsAre("Retry matrix: \"demo\" cause: \"out_of_memory\"",
                          "Retry address: \"torch@*\" matrix: \"demo\"",
                          "Cancel address: \"/nix/store/00000000000000000000000000000009-magma-2.7.drv\"",
                          "Cancel address: \"demo/a@x86_64-linux\" evaluation: 2"));
}

TEST_F(FarmTest, UseGivesTheSnippetOfTheCacheAndOfAVariant) {
  EXPECT_EQ(Hydrant({"use"}).out, GoldenText("use.conf"));
  farm.explanation.mutable_variant()->set_state("cached");
  EXPECT_EQ(Hydrant({"use", "torch@cuda12.9-x86_64-linux", "--format", "shebang"}).out,
            GoldenText("use.shebang.sh"));
  EXPECT_EQ(Hydrant({"use", "--format", "shebang"}).exit, 2);
}

TEST_F(FarmTest, AVariantThatIsNotCachedCannotBeUsed) {
  const Ran ran = Hydrant({"use", "torch@cuda12.9-x86_64-linux"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, StartsWith("hydrant: torch@cuda12.9-x86_64-linux is dependency_failed, not cached"));
}

TEST_F(FarmTest, ErrorsOfTheFarmAreToldOnceAndCleaned) {
  farm.error = {grpc::StatusCode::NOT_FOUND, "no matrix 'dmo'; the nearest is 'demo'\x1b[2J"};
  const Ran ran = Hydrant({"status", "dmo"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "hydrant: no matrix 'dmo'; the nearest is 'demo'\\x1b[2J\n");
}

TEST_F(FarmTest, ExitStatusesOfErrors) {
  const std::vector<std::pair<grpc::StatusCode, int>> expected = {
      {grpc::StatusCode::INVALID_ARGUMENT, 2}, {grpc::StatusCode::FAILED_PRECONDITION, 2},
      {grpc::StatusCode::UNAUTHENTICATED, 2},  {grpc::StatusCode::PERMISSION_DENIED, 2},
      {grpc::StatusCode::UNAVAILABLE, 3},      {grpc::StatusCode::INTERNAL, 1}};
  for (const auto& [code, exit] : expected) {
    farm.error = {code, "why"};
    EXPECT_EQ(Hydrant({"channel", "list"}).exit, exit) << code;
  }
}

TEST_F(FarmTest, TheTokenComesFromTheEnvironmentOrAFileNeverFromAnArgument) {
  TestDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "token", "from-file\n").ok());
  EXPECT_EQ(Hydrant({"channel", "list"}, {{"HYDRANT_TOKEN", "from-env"}}).exit, 0);
  EXPECT_EQ(farm.token, "from-env");
  EXPECT_EQ(Hydrant({"--token-file", dir / "token", "channel", "list"}, {{"HYDRANT_TOKEN", "from-env"}}).exit,
            0);
  EXPECT_EQ(farm.token, "from-file");
  EXPECT_EQ(Hydrant({"channel", "list"}).exit, 0);
  EXPECT_EQ(farm.token, std::nullopt);
  EXPECT_EQ(Hydrant({"--token", "x", "channel", "list"}).exit, 2);
}

TEST_F(FarmTest, PlaintextDoesNotLeaveLoopback) {
  const Ran ran = Hydrant({"--server", "farm.example.org:8581", "status"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("'farm.example.org:8581' is not a loopback address: it needs TLS"));
}

}  // namespace
}  // namespace hydrant::client
