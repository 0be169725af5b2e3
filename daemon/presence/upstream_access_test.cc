#include "daemon/presence/upstream_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class UpstreamAccessTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& text, mode_t mode = 0600) {
    const std::string path = dir_ / "credentials";
    EXPECT_EQ(WriteFileAtomically(path, text, mode), absl::OkStatus());
    return path;
  }
  TestDir dir_;
};

TEST_F(UpstreamAccessTest, TheFirstColonDividesUserAndPassword) {
  const auto access = OpenUpstreamAccess({.credentials = Write("farm:se:cret\n")});
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_EQ(access->user, "farm");
  EXPECT_EQ(access->password, "se:cret");
}

TEST_F(UpstreamAccessTest, CredentialsThatOthersMayReadAreRefused) {
  const std::string path = Write("farm:secret", 0644);
  for (const UpstreamAccessFiles& files : {UpstreamAccessFiles{.credentials = path}, {.netrc = path}}) {
    const auto access = OpenUpstreamAccess(files);
    EXPECT_EQ(access.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(access.status().message()), AllOf(HasSubstr(path), HasSubstr("chmod 600")));
  }
}

TEST_F(UpstreamAccessTest, AFileOfAnotherFormIsNamedButNotTold) {
  for (const char* text : {"secret", ":secret", "a:secret\nb:secret", ""}) {
    const auto access = OpenUpstreamAccess({.credentials = Write(text)});
    EXPECT_EQ(access.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(access.status().message()),
                AllOf(HasSubstr("credentials"), HasSubstr("user:password"), Not(HasSubstr("secret"))));
  }
}

TEST_F(UpstreamAccessTest, AFileThatIsNotThereIsNamed) {
  for (const UpstreamAccessFiles& files :
       {UpstreamAccessFiles{.credentials = "/no/c"}, {.netrc = "/no/n"}, {.ca = "/no/ca"}}) {
    const auto access = OpenUpstreamAccess(files);
    EXPECT_EQ(access.status().code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(access.status().message()), HasSubstr("/no/"));
  }
}

}  // namespace
}  // namespace hydrant
