#include "daemon/record/postgres_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "daemon/audit/severity.h"
#include "daemon/graph/check_state.h"
#include "daemon/graph/evaluation_state.h"
#include "daemon/graph/step_state.h"
#include "daemon/lease/lease_table.h"
#include "daemon/record/narinfo_state.h"
#include "daemon/record/postgres_changes.h"
#include "lib/failure/cause.h"
#include "tests/conformance/test_postgres.h"

namespace hydrant {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

class PostgresSchemaTest : public testing::Test {
 protected:
  absl::Status BringUp(const std::vector<EmbeddedFile>& files) { return BringSchemaUp(*session_, files); }
  int CountTables() {
    const auto rows = session_->RunScript("count", "SELECT count(*) FROM pg_tables WHERE tablename LIKE 't_'",
                                          absl::Seconds(5));
    return static_cast<int>(RowReader(*rows, 0).Int());
  }

  std::unique_ptr<PostgresSession> session_ = PostgresSession::Connect({.url = EmptyDatabase()}).value();
  const EmbeddedFile first_{"0001_first.sql", "CREATE TABLE t1 (); CREATE TABLE t2 ();", "sum1"};
  const EmbeddedFile second_{"0002_second.sql", "CREATE TABLE t3 ();", "sum2"};
};

TEST_F(PostgresSchemaTest, AppliesEachFileOnce) {
  ASSERT_TRUE(BringUp({first_}).ok());
  EXPECT_EQ(CountTables(), 2);
  const absl::Status status = BringUp({first_, second_});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(CountTables(), 3);
  EXPECT_TRUE(BringUp({first_, second_}).ok());
}

TEST_F(PostgresSchemaTest, RefusesAFileThatWasChangedAfterItWasApplied) {
  ASSERT_TRUE(BringUp({first_}).ok());
  const absl::Status status = BringUp({{first_.name, first_.text, "sum9"}, second_});
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(
      status.message(),
      HasSubstr(
          "schema file 0001_first.sql was changed after it was applied: expected SHA-256 sum1, it has sum9"));
  EXPECT_EQ(CountTables(), 2);
}

TEST_F(PostgresSchemaTest, RefusesADatabaseOfANewerHydrantd) {
  ASSERT_TRUE(BringUp({first_, second_}).ok());
  const absl::Status status = BringUp({first_});
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(status.message(), HasSubstr("0002_second.sql, which this hydrantd does not know"));
}

TEST_F(PostgresSchemaTest, RefusesAFileThatComesBeforeOneThatWasApplied) {
  ASSERT_TRUE(BringUp({second_}).ok());
  EXPECT_THAT(BringUp({first_, second_}).message(),
              HasSubstr("0001_first.sql was not applied, but 0002_second.sql after it was"));
}

TEST_F(PostgresSchemaTest, AFileThatFailsLeavesNothingOfItself) {
  const absl::Status status =
      BringUp({first_, {"0002_bad.sql", "CREATE TABLE t3 (); CREATE TABL t4 ();", "sum2"}});
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("0002_bad.sql: syntax error at or near \"TABL\""));
  EXPECT_EQ(CountTables(), 2);
  EXPECT_TRUE(BringUp({first_, second_}).ok());
}

TEST_F(PostgresSchemaTest, EveryStatementPreparesOnceTheSchemaIsThere) {
  const absl::Status too_early = session_->PrepareAll();
  EXPECT_TRUE(absl::IsInternal(too_early)) << too_early;
  EXPECT_THAT(std::string(too_early.message()), testing::StartsWith("prepare statement "));
  ASSERT_TRUE(BringSchemaUp(*session_, SchemaFiles()).ok());
  const absl::Status status = session_->PrepareAll();
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(PostgresSchemaTest, NothingIsKnownOfVariantsOfBeforeFactsWereRecorded) {
  ASSERT_TRUE(BringSchemaUp(*session_, SchemaFiles().first(1)).ok());
  const auto inserted = session_->RunScript("old rows",
                                            "INSERT INTO matrix_text VALUES ('d', '', '', '');"
                                            "INSERT INTO matrix VALUES ('m', 'd', false, now());"
                                            "INSERT INTO evaluation VALUES (1, 'm', 'd', '', 0, 'requested', "
                                            "'', '', now(), NULL, false);"
                                            "INSERT INTO variant VALUES (1, 'torch', 0, 'torch', '{}', NULL, "
                                            "'', '/nix/store/t.drv', '{}', '{}', '', '');",
                                            absl::Seconds(5));
  ASSERT_TRUE(inserted.ok()) << inserted.status();
  ASSERT_TRUE(BringSchemaUp(*session_, SchemaFiles()).ok());
  ASSERT_TRUE(session_->PrepareAll().ok());
  const auto variants = LoadVariants(*session_, {EvaluationId{1}});
  ASSERT_TRUE(variants.ok()) << variants.status();
  ASSERT_EQ(variants->size(), 1u);
  EXPECT_EQ(variants->front().derivation, "/nix/store/t.drv");
  EXPECT_EQ(variants->front().facts_json + variants->front().tier, "");
  EXPECT_TRUE(variants->front().findings.empty());
}

// The words of a C++ enum whose values count up from `first` for as long as they have a name.
template <class Enum>
std::vector<std::string> Words(std::string_view (*name)(Enum), Enum first, Enum last) {
  std::vector<std::string> words;
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i)
    words.emplace_back(name(static_cast<Enum>(i)));
  return words;
}

TEST_F(PostgresSchemaTest, EnumsHaveTheWordsOfTheirCppNames) {
  ASSERT_TRUE(BringSchemaUp(*session_, SchemaFiles()).ok());
  const auto rows = session_->RunScript("enums",
                                        "SELECT typname, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid "
                                        "= enumtypid ORDER BY typname, enumsortorder",
                                        absl::Seconds(5));
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::map<std::string, std::vector<std::string>> words;
  for (int i = 0; i < rows->size(); ++i) {
    RowReader row(*rows, i);
    const std::string type = row.Text();
    words[type].push_back(row.Text());
  }
  EXPECT_THAT(words["step_state"],
              ElementsAreArray(Words(&StepStateName, StepState::kBlocked, StepState::kDependencyFailed)));
  EXPECT_THAT(words["check_state"],
              ElementsAreArray(Words(&CheckStateName, CheckState::kWanted, CheckState::kSkipped)));
  EXPECT_THAT(words["evaluation_state"],
              ElementsAreArray(
                  Words(&EvaluationStateName, EvaluationState::kRequested, EvaluationState::kCancelled)));
  EXPECT_THAT(words["attempt_stage"],
              ElementsAreArray(Words(&AttemptStageName, AttemptStage::kLeased, AttemptStage::kEnded)));
  EXPECT_THAT(words["narinfo_state"],
              ElementsAreArray(Words(&NarInfoStateName, NarInfoState::kStaged, NarInfoState::kRetired)));
  EXPECT_THAT(words["narinfo_tier"],
              ElementsAreArray(Words(&NarInfoTierName, NarInfoTier::kPublic, NarInfoTier::kHeld)));
  EXPECT_THAT(words["severity"], ElementsAreArray(Words(&SeverityName, Severity::kWarn, Severity::kRefuse)));
  // In no order of its own.
  EXPECT_THAT(words["cause"],
              testing::UnorderedElementsAreArray(Words(&CauseName, Cause::kUnfree, Cause::kWrongResult)));
}

}  // namespace
}  // namespace hydrant
