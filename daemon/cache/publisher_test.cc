#include "daemon/cache/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "daemon/cache/test_cache.h"
#include "lib/nix/content_address.h"

namespace hydrant {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

TEST(PublisherTest, AClosureIsPublishedWholeAndSigned) {
  TestCache cache;
  const Package a = MakePackage("a"), b = MakePackage("b", {a.path()});
  ASSERT_TRUE(cache.Stage(a).ok());
  ASSERT_TRUE(cache.Stage(b).ok());
  const auto published = cache.publisher.Publish({b.path()});
  ASSERT_TRUE(published.ok()) << published.status();
  EXPECT_EQ(*published, 2);
  const auto record = cache.catalogue.FindPath(b.path());
  EXPECT_EQ(record->state, NarInfoState::kPublished);
  ASSERT_EQ(record->signatures.size(), 1u);
  EXPECT_TRUE(nix::PublicKey::Parse(cache.release->PublicKey())
                  ->Verify(nix::Fingerprint(b.info), record->signatures[0]));
  EXPECT_EQ(cache.store.Load()->narinfos.size(), 2u);
  EXPECT_EQ(*cache.publisher.Publish({b.path()}), 0);
}

TEST(PublisherTest, WhatTheUploaderSignedIsNotKept) {
  TestCache cache;
  Package a = MakePackage("a");
  a.info.signatures = {*cache.internal->Sign("anything")};
  ASSERT_TRUE(cache.Stage(a).ok());
  EXPECT_TRUE(cache.catalogue.FindPath(a.path())->signatures.empty());
}

TEST(PublisherTest, AReferenceThatIsNowhereIsNamed) {
  TestCache cache;
  const Package a = MakePackage("a"), b = MakePackage("b", {a.path()});
  const absl::Status staged = cache.Stage(b);
  EXPECT_EQ(staged.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(staged.message()), HasSubstr(a.path()));
}

TEST(PublisherTest, AReferenceHeldUpstreamIsEnough) {
  TestCache cache;
  const Package a = MakePackage("a"), b = MakePackage("b", {a.path()});
  cache.upstream = {a.path()};
  ASSERT_TRUE(cache.Stage(b).ok());
  EXPECT_EQ(*cache.publisher.Publish({b.path()}), 1);
}

TEST(PublisherTest, WhatIsNotKnownUpstreamIsAskedForBeforeItIsMissed) {
  TestCache cache;
  const Package a = MakePackage("a"), b = MakePackage("b", {a.path()});
  cache.found_when_asked = {a.path()};
  EXPECT_TRUE(cache.Stage(b).ok());
}

TEST(PublisherTest, AHoleInTheClosurePublishesNothing) {
  TestCache cache;
  const Package a = MakePackage("a"), b = MakePackage("b", {a.path()}), c = MakePackage("c", {b.path()});
  cache.upstream = {a.path()};
  ASSERT_TRUE(cache.Stage(b).ok());
  ASSERT_TRUE(cache.Stage(c).ok());
  cache.upstream.clear();
  const auto published = cache.publisher.Publish({c.path()});
  EXPECT_EQ(published.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(published.status().message()), HasSubstr(b.path()));
  EXPECT_EQ(cache.StateOf(c), NarInfoState::kStaged);
}

TEST(PublisherTest, TheFirstUploadWins) {
  TestCache cache;
  const Package first = MakePackage("a", {}, "first"), second = MakePackage("a", {}, "second");
  ASSERT_TRUE(cache.Stage(first).ok());
  EXPECT_TRUE(cache.Stage(first).ok());
  EXPECT_EQ(cache.Stage(second).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(cache.catalogue.FindPath(first.path())->nar_hash, first.info.nar_hash.ToBase32());
}

TEST(PublisherTest, ANarInfoThatClaimsOtherBytesIsRefused) {
  TestCache cache;
  const Package a = MakePackage("a");
  ASSERT_TRUE(cache.PutBlob(a).ok());
  nix::NarInfo wrong = a.info;
  wrong.nar_hash = nix::HashSha256("other");
  EXPECT_EQ(cache.publisher.Stage(wrong, {}).code(), StatusCode::kInvalidArgument);
  wrong = a.info;
  wrong.nar_size += 8;
  EXPECT_EQ(cache.publisher.Stage(wrong, {}).code(), StatusCode::kInvalidArgument);
  wrong = a.info;
  wrong.compression = "xz";
  EXPECT_EQ(cache.publisher.Stage(wrong, {}).code(), StatusCode::kInvalidArgument);
  wrong = a.info;
  wrong.file_size += 1;
  EXPECT_EQ(cache.publisher.Stage(wrong, {}).code(), StatusCode::kInvalidArgument);
}

TEST(PublisherTest, ANarInfoWithoutItsNarMustWait) {
  TestCache cache;
  EXPECT_EQ(cache.publisher.Stage(MakePackage("a").info, {}).code(), StatusCode::kFailedPrecondition);
}

TEST(PublisherTest, AContentAddressThatIsNotTheContentIsRefused) {
  TestCache cache;
  Package a = MakePackage("a", {}, "hello");
  a.info.content_address = "text:" + nix::HashSha256("other").ToNixString();
  EXPECT_EQ(cache.Stage(a).code(), StatusCode::kInvalidArgument);
  // The address gives the path, but the file is another one.
  a.info.store_path = *nix::PathOfContent(*nix::ContentAddress::Parse(a.info.content_address), "a");
  const absl::Status staged = cache.Stage(a);
  EXPECT_EQ(staged.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(staged.message()), HasSubstr("holds a file with"));
  a.info.content_address = "text:" + nix::HashSha256("hello").ToNixString();
  a.info.store_path = *nix::PathOfContent(*nix::ContentAddress::Parse(a.info.content_address), "a");
  EXPECT_TRUE(cache.Stage(a).ok());
}

TEST(PublisherTest, ByHandAStagedReferenceIsNotEnough) {
  TestCache cache;
  const Package a = MakePackage("a"), b = MakePackage("b", {a.path()});
  ASSERT_TRUE(cache.Stage(a).ok());
  ASSERT_TRUE(cache.PutBlob(b).ok());
  EXPECT_EQ(cache.publisher.PublishByHand(b.info).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(cache.catalogue.FindPath(b.path()), nullptr);
  ASSERT_TRUE(cache.publisher.Publish({a.path()}).ok());
  EXPECT_TRUE(cache.publisher.PublishByHand(b.info).ok());
  EXPECT_EQ(cache.StateOf(b), NarInfoState::kPublished);
}

TEST(PublisherTest, WithoutTheDatabaseNothingMoves) {
  TestCache cache;
  const Package a = MakePackage("a");
  cache.SetDatabaseAway(true);
  EXPECT_EQ(cache.Stage(a).code(), StatusCode::kUnavailable);
  EXPECT_EQ(cache.catalogue.FindPath(a.path()), nullptr);
  cache.SetDatabaseAway(false);
  ASSERT_TRUE(cache.Stage(a).ok());
  cache.SetDatabaseAway(true);
  EXPECT_EQ(cache.publisher.Publish({a.path()}).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(cache.StateOf(a), NarInfoState::kStaged);
}

TEST(PublisherTest, AfterACommitOfUnknownFateTheRecordIsRightAndMemoryIsReadAgain) {
  TestCache cache;
  const Package a = MakePackage("a");
  cache.store.database().FailNextCommits(1, CommitFault::kUnknownRecorded);
  EXPECT_TRUE(IsUnknownCommit(cache.Stage(a)));
  EXPECT_TRUE(IsUnknownCommit(cache.Stage(a)));
  cache.catalogue.Load(cache.store.Load()->narinfos);
  EXPECT_TRUE(cache.Stage(a).ok());
}

TEST(PublisherTest, NoReaderEverSeesHalfAClosure) {
  TestCache cache;
  std::vector<std::vector<Package>> chains;
  for (int chain = 0; chain < 20; ++chain) {
    std::vector<Package> packages;
    for (int i = 0; i < 5; ++i) {
      const std::vector<std::string> references =
          i == 0 ? std::vector<std::string>{} : std::vector{packages.back().path()};
      packages.push_back(MakePackage(absl::StrCat("c", chain, "-", i), references));
      ASSERT_TRUE(cache.Stage(packages.back()).ok());
    }
    chains.push_back(std::move(packages));
  }
  std::atomic<bool> done{false};
  std::atomic<int> holes{0};
  std::thread reader([&] {
    while (!done) {
      for (const auto& chain : chains) {
        if (cache.StateOf(chain.back()) != NarInfoState::kPublished) continue;
        for (const Package& package : chain) holes += cache.StateOf(package) != NarInfoState::kPublished;
      }
    }
  });
  for (const auto& chain : chains) EXPECT_TRUE(cache.publisher.Publish({chain.back().path()}).ok());
  done = true;
  reader.join();
  EXPECT_EQ(holes, 0);
}

}  // namespace
}  // namespace hydrant
