// Every form of every result against the files in client/golden. HYDRANT_UPDATE_GOLDEN=1 writes them anew:
// read the diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <ostream>

#include "client/format/comparison_report.h"
#include "client/format/json.h"
#include "client/format/lists.h"
#include "client/format/report.h"
#include "client/format/status_report.h"
#include "client/format/use_snippet.h"
#include "client/test_messages.h"
#include "lib/base/file.h"

namespace hydrant::client {
namespace {

constexpr JsonLayout kPretty = JsonLayout::kPretty, kLines = JsonLayout::kLines;
const absl::Time kNow = absl::FromUnixSeconds(1767229200);  // 2026-01-01 01:00 UTC
const Screen kWide{.width = 100};
const Screen kNarrow{.width = 52};
const Screen kAscii{.utf8 = false, .width = 100};
const Screen kColour{.terminal = true, .colour = true, .width = 100};
const SnippetInput kCache{.url = "http://farm:8580", .public_key = "farm-1:a2V5"};
const SnippetInput kVariant{.url = "http://farm:8580",
                            .public_key = "farm-1:a2V5",
                            .variant = "torch@cuda12.9-x86_64-linux",
                            .output = "/nix/store/0000000000000000000000000000000a-torch-2.1"};

struct Case {
  const char* file;
  std::function<std::string()> make;
  friend std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.file; }
};

auto Status() { return Golden<v1::GetStatusResponse>("status"); }
auto Settled() { return Golden<v1::GetStatusResponse>("settled"); }
auto Matrices() { return Golden<v1::ListMatricesResponse>("matrices"); }
auto BranchMatrices() { return Golden<v1::ListMatricesResponse>("matrix_branches"); }
auto Evaluations() { return Golden<v1::ListEvaluationsResponse>("evaluations"); }
auto Branches() { return Golden<v1::ListEvaluationsResponse>("branches"); }
// A trigger of two branches, ended.
std::vector<v1::WatchResponse> Triggered() {
  std::vector<v1::WatchResponse> responses(2);
  for (int i = 0; i < 2; ++i) *responses[i].mutable_evaluation() = Branches().evaluations(i);
  (*responses[0].mutable_totals())["cached"] = 3;
  return responses;
}
auto Workers() { return Golden<v1::ListWorkersResponse>("workers"); }
auto Channels() { return Golden<v1::ListChannelsResponse>("channels"); }
auto Comparison() { return Golden<v1::CompareEvaluationsResponse>("comparison"); }
auto PlanOf() { return Golden<v1::PlanResponse>("plan"); }
auto PlanAddition() { return Golden<v1::PlanResponse>("plan_addition"); }
auto Explanation() { return Golden<v1::ExplainResponse>("explain"); }

v1::GetStatusResponse Unevaluated() {
  v1::GetStatusResponse status = Settled();
  status.clear_evaluation();
  return status;
}

// Of a derived package list.
template <typename Response>
Response Noted(Response response) {
  response.add_notes("cudaSupport changes 6 of 58 packages that the filter keeps");
  response.add_notes("2 attributes do not evaluate, left out: a, b");
  return response;
}

const Case kCases[] = {
    {"status.txt", [] { return FormatStatus("demo", Status(), kNow, kWide); }},
    {"status.narrow.txt", [] { return FormatStatus("demo", Status(), kNow, kNarrow); }},
    {"status.ascii.txt", [] { return FormatStatus("demo", Status(), kNow, kAscii); }},
    {"status.colour.txt", [] { return FormatStatus("demo", Status(), kNow, kColour); }},
    {"status.md", [] { return FormatMarkdownStatus("demo", Status()); }},
    {"status.json", [] { return StatusJson("demo", Status(), kPretty); }},
    {"status.jsonl", [] { return StatusJson("demo", Status(), kLines); }},
    {"settled.txt", [] { return FormatStatus("small", Settled(), kNow, kWide); }},
    {"settled.md", [] { return FormatMarkdownStatus("small", Settled()); }},
    {"settled.json", [] { return StatusJson("small", Settled(), kPretty); }},
    {"noted.txt", [] { return FormatStatus("small", Noted(Settled()), kNow, kWide); }},
    {"noted.json", [] { return StatusJson("small", Noted(Settled()), kPretty); }},
    {"plan.noted.txt", [] { return FormatPlan("m", Noted(PlanOf()), kWide); }},
    {"plan.noted.json", [] { return PlanJson(Noted(PlanOf()), kPretty); }},
    {"unevaluated.txt", [] { return FormatStatus("small", Unevaluated(), kNow, kWide); }},
    {"unevaluated.json", [] { return StatusJson("small", Unevaluated(), kPretty); }},
    {"matrices.txt", [] { return FormatTable(MatricesTable(Matrices()), kWide); }},
    {"matrices.md", [] { return FormatMarkdownTable(MatricesTable(Matrices())); }},
    {"matrices.json", [] { return MatricesJson(Matrices(), kPretty); }},
    {"matrices.jsonl", [] { return MatricesJson(Matrices(), kLines); }},
    {"matrix_branches.txt", [] { return FormatTable(MatricesTable(BranchMatrices()), kWide); }},
    {"matrix_branches.json", [] { return MatricesJson(BranchMatrices(), kPretty); }},
    {"evaluations.txt", [] { return FormatTable(EvaluationsTable(Evaluations(), kWide), kWide); }},
    {"evaluations.json", [] { return EvaluationsJson(Evaluations(), kPretty); }},
    {"branches.txt", [] { return FormatTable(EvaluationsTable(Branches(), kWide), kWide); }},
    {"branches.json", [] { return EvaluationsJson(Branches(), kPretty); }},
    {"branches.trigger.json", [] { return TriggerJson(Triggered(), true, kPretty); }},
    {"branches.trigger.jsonl", [] { return TriggerJson(Triggered(), true, kLines); }},
    {"workers.txt", [] { return FormatTable(WorkersTable(Workers()), kWide); }},
    {"workers.colour.txt", [] { return FormatTable(WorkersTable(Workers()), kColour); }},
    {"workers.md", [] { return FormatMarkdownTable(WorkersTable(Workers())); }},
    {"workers.json", [] { return WorkersJson(Workers(), kPretty); }},
    {"worker.txt",
     [] {
       return FormatWorker(Workers().workers(0), kNow, kWide) +
              FormatWorker(Workers().workers(1), kNow, kWide);
     }},
    {"worker.json", [] { return WorkerJson(Workers().workers(1), kPretty); }},
    {"channels.txt", [] { return FormatTable(ChannelsTable(Channels(), kWide), kWide); }},
    {"channels.json", [] { return ChannelsJson(Channels(), kPretty); }},
    {"channel.txt", [] { return FormatChannel(Channels().channels(0), kWide); }},
    {"channel.json", [] { return ChannelJson(Channels().channels(0), kPretty); }},
    {"plan.txt", [] { return FormatPlan("m", PlanOf(), kWide); }},
    {"plan.md", [] { return FormatMarkdownPlan("m", PlanOf()); }},
    {"plan.json", [] { return PlanJson(PlanOf(), kPretty); }},
    {"plan_addition.txt", [] { return FormatPlan("m", PlanAddition(), kWide); }},
    {"plan_addition.md", [] { return FormatMarkdownPlan("m", PlanAddition()); }},
    {"plan_addition.json", [] { return PlanJson(PlanAddition(), kPretty); }},
    {"report.md", [] { return FormatMarkdownReport(Status()); }},
    {"comparison.txt", [] { return FormatComparison(Comparison(), kWide); }},
    {"comparison.ascii.txt", [] { return FormatComparison(Comparison(), kAscii); }},
    {"comparison.md", [] { return FormatMarkdownComparison(Comparison()); }},
    {"comparison.json", [] { return ComparisonJson(Comparison(), kPretty); }},
    {"comparison.jsonl", [] { return ComparisonJson(Comparison(), kLines); }},
    {"explain.txt", [] { return FormatExplanation(Explanation(), kWide); }},
    {"explain.json", [] { return ExplainJson(Explanation(), kPretty); }},
    {"use.conf", [] { return MakeSnippet(SnippetFormat::kNixConf, kCache); }},
    {"use.variant.conf", [] { return MakeSnippet(SnippetFormat::kNixConf, kVariant); }},
    {"use.flake.nix", [] { return MakeSnippet(SnippetFormat::kFlake, kVariant); }},
    {"use.nixos.nix", [] { return MakeSnippet(SnippetFormat::kNixos, kCache); }},
    {"use.shebang.sh", [] { return MakeSnippet(SnippetFormat::kShebang, kVariant); }},
};

class GoldenTest : public ::testing::TestWithParam<Case> {};

TEST_P(GoldenTest, IsAsInTheFile) {
  const std::string path = GoldenPath(GetParam().file);
  const std::string made = GetParam().make();
  if (std::getenv("HYDRANT_UPDATE_GOLDEN") != nullptr) {
    ASSERT_EQ(WriteFileAtomically(path, made), absl::OkStatus());
  }
  const absl::StatusOr<std::string> kept = ReadFile(path);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(made, *kept);
}

INSTANTIATE_TEST_SUITE_P(Formats, GoldenTest, ::testing::ValuesIn(kCases), [](const auto& info) {
  std::string name = info.param.file;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(Formats, NothingOfAFarmReachesATerminalAsAnEscape) {
  for (const std::string& text :
       {FormatStatus("demo", Status(), kNow, kWide), FormatMarkdownStatus("demo", Status()),
        StatusJson("demo", Status(), kPretty)}) {
    EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos);
  }
}

TEST(Formats, EmptyListsSayHowToFillThem) {
  EXPECT_EQ(FormatTable(WorkersTable({}), kWide),
            "no workers: start one with `hydrant-worker --server HOST:PORT`\n");
  EXPECT_EQ(WorkersJson({}, kPretty), "{\n  \"workers\": []\n}\n");
  EXPECT_EQ(WorkersJson({}, kLines), "");
}

}  // namespace
}  // namespace hydrant::client
