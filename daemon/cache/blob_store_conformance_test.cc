// What every BlobStore must do, run against the local folder and its in-memory twin.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon/cache/local_blob_store.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "lib/nix/hash.h"
#include "tests/fakes/memory_blob_store.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

BlobName NameOf(std::string_view bytes) { return {nix::HashSha256(bytes).ToBase32(), ".zst"}; }

std::string Content(BlobStore::Blob blob) {
  std::string bytes(static_cast<size_t>(blob.size), '\0');
  EXPECT_EQ(read(blob.fd.get(), bytes.data(), bytes.size()), blob.size);
  return bytes;
}

class BlobStoreTest : public testing::TestWithParam<const char*> {
 protected:
  BlobStoreTest() {
    if (std::string_view(GetParam()) == "memory") {
      store_ = std::make_unique<MemoryBlobStore>();
    } else {
      store_ = *LocalBlobStore::Open({.directory = dir_ / "cache"});
    }
  }
  void Put(std::string_view bytes) {
    auto upload = *store_->Begin(0);
    ASSERT_TRUE(upload->Write(bytes).ok());
    ASSERT_TRUE(upload->Commit(NameOf(bytes)).ok());
  }
  TestDir dir_;
  std::unique_ptr<BlobStore> store_;
};

TEST_P(BlobStoreTest, WhatWasCommittedIsRead) {
  Put("hello");
  auto blob = store_->Open(NameOf("hello"));
  ASSERT_TRUE(blob.ok()) << blob.status();
  EXPECT_EQ(Content(*std::move(blob)), "hello");
  EXPECT_TRUE(store_->Has(NameOf("hello")));
  EXPECT_THAT(*store_->List(), ElementsAre(NameOf("hello")));
}

TEST_P(BlobStoreTest, NothingIsSeenBeforeCommitNorAfterAnAbandonedUpload) {
  {
    auto upload = *store_->Begin(5);
    ASSERT_TRUE(upload->Write("hello").ok());
    EXPECT_FALSE(store_->Has(NameOf("hello")));
  }
  EXPECT_FALSE(store_->Has(NameOf("hello")));
  EXPECT_EQ(store_->Open(NameOf("hello")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(*store_->List(), IsEmpty());
}

TEST_P(BlobStoreTest, ASecondCommitOfTheSameNameKeepsTheFirstBytes) {
  Put("hello");
  auto upload = *store_->Begin(0);
  ASSERT_TRUE(upload->Write("other").ok());
  EXPECT_TRUE(upload->Commit(NameOf("hello")).ok());
  EXPECT_EQ(Content(*store_->Open(NameOf("hello"))), "hello");
}

TEST_P(BlobStoreTest, AReaderKeepsABlobThatIsDeleted) {
  Put("hello");
  auto blob = store_->Open(NameOf("hello"));
  EXPECT_TRUE(store_->Delete(NameOf("hello")).ok());
  EXPECT_TRUE(store_->Delete(NameOf("hello")).ok());
  EXPECT_FALSE(store_->Has(NameOf("hello")));
  EXPECT_EQ(Content(*std::move(blob)), "hello");
}

TEST_P(BlobStoreTest, WhatDoesNotFitIsRefusedBeforeAByteComes) {
  EXPECT_EQ(store_->Begin(int64_t{1} << 60).status().code(), absl::StatusCode::kResourceExhausted);
}

INSTANTIATE_TEST_SUITE_P(Stores, BlobStoreTest, testing::Values("local", "memory"),
                         [](const auto& info) { return std::string(info.param); });

size_t Entries(const std::string& folder) {
  size_t n = 0;
  DIR* dir = opendir(folder.c_str());
  while (const dirent* entry = readdir(dir)) n += entry->d_name[0] != '.';
  closedir(dir);
  return n;
}

TEST(LocalBlobStoreTest, LeftoversOfADeadProcessAreRemovedAndALiveUploadIsNot) {
  TestDir dir;
  auto first = *LocalBlobStore::Open({.directory = dir.path()});
  auto upload = *first->Begin(0);
  ASSERT_TRUE(WriteFileAtomically(dir / "incoming/dead", "half").ok());
  auto second = *LocalBlobStore::Open({.directory = dir.path()});
  EXPECT_EQ(Entries(dir / "incoming"), 1u);
  ASSERT_TRUE(upload->Write("hello").ok());
  EXPECT_TRUE(upload->Commit(NameOf("hello")).ok());
  EXPECT_TRUE(second->Has(NameOf("hello")));
}

TEST(LocalBlobStoreTest, AFolderThatCannotBeMadeIsNamed) {
  TestDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "file", "").ok());
  const auto store = LocalBlobStore::Open({.directory = dir / "file"});
  EXPECT_THAT(std::string(store.status().message()), testing::HasSubstr(dir / "file"));
}

TEST(BlobNameTest, OnlyTheExactShape) {
  const std::string hash(52, '0');
  EXPECT_TRUE(BlobName::Parse(hash + ".nar.zst").ok());
  EXPECT_TRUE(BlobName::Parse(hash + ".nar").ok());
  for (const std::string& bad :
       {hash + ".nar.br", hash + ".nar.zst/", hash, std::string(51, '0') + ".nar",
        std::string(52, 'e') + ".nar", "../" + std::string(49, '0') + ".nar", hash + ".narzst"}) {
    EXPECT_FALSE(BlobName::Parse(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace hydrant
