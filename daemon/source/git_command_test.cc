#include "daemon/source/git_command.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

TEST(GitError, NamesTheSourceWithoutItsAccountAndWithoutControlCharacters) {
  const GitAddress address = *ParseGitAddress("https://me:secret@host/x");
  const absl::Status status =
      GitError(address, "fatal: unable to access 'https://me:secret@host/x': \x1b[31mno\n");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr("https://host/x"), testing::Not(HasSubstr("secret")),
                             testing::Not(HasSubstr("\x1b"))));
}

TEST(GitError, TheServersOwnWordsDecideNothing) {
  const absl::Status status =
      GitError(*ParseGitAddress("https://host/x"), "remote: No space left on device\nfatal: early EOF\n");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

}  // namespace
}  // namespace hydrant
