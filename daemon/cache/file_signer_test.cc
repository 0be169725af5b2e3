#include "daemon/cache/file_signer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

TEST(FileSignerTest, AnAbsentKeyNamesInit) {
  const auto signer = FileSigner::Open("/nonexistent/cache.sec");
  EXPECT_EQ(signer.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(signer.status().message()), HasSubstr("hydrantd init"));
}

TEST(FileSignerTest, AKeyThatOthersMayReadIsRefused) {
  TestDir dir;
  ASSERT_TRUE(FileSigner::OpenOrGenerate(dir / "key", "test-1").ok());
  ASSERT_EQ(chmod((dir / "key").c_str(), 0640), 0);
  const auto signer = FileSigner::Open(dir / "key");
  EXPECT_EQ(signer.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(signer.status().message()), HasSubstr("0640"));
}

TEST(FileSignerTest, GarbageIsNamedButNotQuoted) {
  TestDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "key", "test-1:c2VjcmV0", 0600).ok());
  const std::string message(FileSigner::Open(dir / "key").status().message());
  EXPECT_THAT(message, HasSubstr(dir / "key"));
  EXPECT_THAT(message, testing::Not(HasSubstr("c2VjcmV0")));
}

TEST(FileSignerTest, AGeneratedKeyIsPrivateStaysAndSigns) {
  TestDir dir;
  auto first = *FileSigner::OpenOrGenerate(dir / "key", "test-1");
  auto second = *FileSigner::OpenOrGenerate(dir / "key", "ignored");
  EXPECT_EQ(first->PublicKey(), second->PublicKey());
  struct stat info;
  ASSERT_EQ(stat((dir / "key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_TRUE(nix::PublicKey::Parse(first->PublicKey())->Verify("text", *second->Sign("text")));
}

}  // namespace
}  // namespace hydrant
