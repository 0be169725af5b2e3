#include "daemon/record/statement_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydrant {
namespace {

TEST(StatementFileTest, TakesEachStatementUnderItsNameWithoutComments) {
  const auto statements = ParseStatements(
      "a.sql", "-- About.\n\n-- Why.\n-- name: one\nSELECT 1 -- first\n  + 2;\n\n-- name: two\nBEGIN;\n");
  ASSERT_TRUE(statements.ok()) << statements.status();
  ASSERT_EQ(statements->size(), 2u);
  EXPECT_EQ((*statements)[0].name, "one");
  EXPECT_EQ((*statements)[0].text, "SELECT 1 \n  + 2");
  EXPECT_EQ((*statements)[1].text, "BEGIN");
}

TEST(StatementFileTest, SaysWhereAFileIsWrong) {
  const auto message = [](std::string_view text) {
    return std::string(ParseStatements("a.sql", text).status().message());
  };
  EXPECT_EQ(message("SELECT 1;"), "a.sql:1: a statement without a line \"-- name: …\" before it");
  EXPECT_EQ(message("-- name: Two Words\nSELECT 1;"), "a.sql:1: bad name \"Two Words\": expected [a-z_]+");
  EXPECT_EQ(message("-- name: one\nSELECT 1"), "a.sql:2: statement one is empty or does not end with ;");
  EXPECT_EQ(message("-- name: one\n-- name: two\nSELECT 1;"),
            "a.sql:2: statement one is empty or does not end with ;");
  EXPECT_EQ(message("-- name: one\nSELECT 1; SELECT 2;"),
            "a.sql:2: statement one is more than one statement");
}

TEST(StatementFileTest, RefusesANameThatStandsInTwoFiles) {
  const EmbeddedFile files[] = {{"a.sql", "-- name: one\nBEGIN;", ""},
                                {"b.sql", "-- name: one\nCOMMIT;", ""}};
  EXPECT_EQ(ParseStatementFiles(files).status().message(), "b.sql: statement one is there twice");
}

TEST(StatementFileTest, ReadsTheEmbeddedFiles) {
  const auto statements = ParseStatementFiles(QueryFiles());
  ASSERT_TRUE(statements.ok()) << statements.status();
  EXPECT_GT(statements->size(), 30u);
  ASSERT_FALSE(SchemaFiles().empty());
  EXPECT_EQ(SchemaFiles()[0].name, "0001_first.sql");
  EXPECT_EQ(SchemaFiles()[0].sha256.size(), 64u);
}

}  // namespace
}  // namespace hydrant
