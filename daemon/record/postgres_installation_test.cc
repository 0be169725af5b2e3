#include "daemon/record/postgres_installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

void Install(const TestDir& folder, int version) {
  const std::string programs = folder / absl::StrCat(version, "/bin");
  ASSERT_TRUE(MakeDirectories(programs).ok());
  for (const char* program : {"initdb", "pg_ctl", "postgres", "createdb"}) {
    ASSERT_TRUE(WriteFileAtomically(absl::StrCat(programs, "/", program), "", 0755).ok());
  }
}

TEST(FindPostgresTest, TakesTheNewestOrTheOneThatIsWanted) {
  const TestDir folder;
  Install(folder, 90);
  Install(folder, 100);
  EXPECT_EQ(FindPostgres(std::nullopt, folder.path())->version, 100);
  EXPECT_EQ(FindPostgres(90, folder.path())->programs, folder / "90/bin");
}

TEST(FindPostgresTest, NamesThePackageThatIsMissing) {
  const TestDir folder;
  Install(folder, 90);
  const absl::Status status = FindPostgres(91, folder.path()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(status.message(), testing::HasSubstr(absl::StrCat("there is 90 (", folder.path(), "/90/bin)")));
  EXPECT_THAT(status.message(), testing::HasSubstr("install the package postgresql-91"));
}

}  // namespace
}  // namespace hydrant
