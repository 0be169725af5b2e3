#include "daemon/cache/nar_intake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon/cache/test_cache.h"
#include "lib/base/file.h"
#include "tests/fakes/memory_blob_store.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class NarIntakeTest : public testing::Test {
 protected:
  // Sends `body`, announced with `length`, under the name of `named`.
  absl::StatusOr<BlobFacts> Send(const std::string& name, std::string_view body, int64_t length) {
    auto upload = intake_.Begin(*BlobName::Parse(name), length);
    if (!upload.ok()) return upload.status();
    for (size_t at = 0; at < body.size(); at += 100) {
      if (absl::Status written = (*upload)->Write(body.substr(at, 100)); !written.ok()) return written;
    }
    return (*upload)->Finish();
  }
  absl::StatusOr<BlobFacts> Send(const Package& package) {
    return Send(package.blob(), package.file, static_cast<int64_t>(package.file.size()));
  }
  void ExpectRefused(const absl::Status& status, const std::string& why) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_THAT(*blobs_.List(), IsEmpty());
  }
  MemoryBlobStore blobs_{1 << 20};
  NarIntake intake_{blobs_, 1 << 20};
  const Package hello_ = MakePackage("hello");
};

TEST_F(NarIntakeTest, AGoodUploadIsKeptWithItsFacts) {
  const auto facts = Send(hello_);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->nar_hash, hello_.info.nar_hash);
  EXPECT_EQ(facts->nar_size, static_cast<int64_t>(hello_.info.nar_size));
  EXPECT_TRUE(blobs_.Has(*BlobName::Parse(hello_.blob())));
}

TEST_F(NarIntakeTest, ATruncatedBodyLeavesNothing) {
  ExpectRefused(
      Send(hello_.blob(), hello_.file.substr(0, 40), static_cast<int64_t>(hello_.file.size())).status(),
      "ended after 40 of");
}

TEST_F(NarIntakeTest, AnEmptyRetryLeavesNothing) {
  ExpectRefused(Send(hello_.blob(), "", static_cast<int64_t>(hello_.file.size())).status(),
                "ended after 0 of");
}

TEST_F(NarIntakeTest, ABodyLongerThanAnnouncedIsRefused) {
  ExpectRefused(Send(hello_.blob(), hello_.file + "x", static_cast<int64_t>(hello_.file.size())).status(),
                "longer than");
}

TEST_F(NarIntakeTest, ABodyWithAnotherHashIsRefused) {
  const Package other = MakePackage("other");
  ExpectRefused(Send(hello_.blob(), other.file, static_cast<int64_t>(other.file.size())).status(),
                "not what its name says");
}

TEST_F(NarIntakeTest, WhatIsNotANarIsRefused) {
  const std::string file = Zstd("this is no archive");
  const std::string name = nix::HashSha256(file).ToBase32() + ".nar.zst";
  ExpectRefused(Send(name, file, static_cast<int64_t>(file.size())).status(), "is not a NAR");
}

TEST_F(NarIntakeTest, WhatIsNotZstdIsRefused) {
  const std::string file = NarOf("plain");
  const std::string name = nix::HashSha256(file).ToBase32() + ".nar.zst";
  ExpectRefused(Send(name, file, static_cast<int64_t>(file.size())).status(), "is not a NAR");
}

TEST_F(NarIntakeTest, BytesBehindTheArchiveAreRefused) {
  const std::string file = Zstd(NarOf("plain") + "more");
  const std::string name = nix::HashSha256(file).ToBase32() + ".nar.zst";
  ExpectRefused(Send(name, file, static_cast<int64_t>(file.size())).status(), "is not a NAR");
}

TEST_F(NarIntakeTest, ASmallFileThatDecodesToTooMuchIsRefused) {
  const Package bomb = MakePackage("bomb", {}, std::string(2 << 20, 'a'));
  ASSERT_LT(bomb.file.size(), 10000u);
  ExpectRefused(Send(bomb).status(), "larger than 1048576 bytes");
}

TEST_F(NarIntakeTest, AFullDiskIsToldBeforeAByteComes) {
  EXPECT_EQ(intake_.Begin(*BlobName::Parse(hello_.blob()), 2 << 20).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(NarIntakeTest, FactsSurviveARestartByReadingTheFileAgain) {
  ASSERT_TRUE(Send(hello_).ok());
  NarIntake restarted(blobs_);
  const auto facts = restarted.Facts(*BlobName::Parse(hello_.blob()));
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->nar_hash, hello_.info.nar_hash);
  EXPECT_EQ(facts->file_size, static_cast<int64_t>(hello_.info.file_size));
}

TEST_F(NarIntakeTest, ABlobThatRottedIsDataLoss) {
  TestCache cache;
  ASSERT_TRUE(cache.PutBlob(hello_).ok());
  const std::string file =
      cache.dir / absl::StrCat("cache/nar/", hello_.blob().substr(0, 2), "/", hello_.blob());
  ASSERT_TRUE(WriteFileAtomically(file, "rotten").ok());
  NarIntake restarted(*cache.blobs);
  EXPECT_EQ(restarted.Facts(*BlobName::Parse(hello_.blob())).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(NarIntakeTest, AnUncompressedNarIsTakenToo) {
  const std::string nar = NarOf("plain");
  EXPECT_TRUE(Send(nix::HashSha256(nar).ToBase32() + ".nar", nar, static_cast<int64_t>(nar.size())).ok());
}

TEST_F(NarIntakeTest, AnArchiveOfOursIsTakenAndDecodesToItself) {
  const std::string nar = NarOf(std::string(100000, 'x'));
  const auto taken = intake_.Take([&](Sink& sink) { return sink.Write(nar); });
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->facts.nar_hash, nix::HashSha256(nar));
  StringSink back;
  EXPECT_TRUE(intake_.Decode(taken->name, back).ok());
  EXPECT_EQ(back.value, nar);
}

}  // namespace
}  // namespace hydrant
