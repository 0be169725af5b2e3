#include "worker/push/cache_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "lib/nix/test_store.h"
#include "worker/build/nix_builder.h"
#include "worker/push/test_cache.h"

namespace hydrant::worker {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

WorkerStore StoreOf(const nix::TestStore& store) {
  return WorkerStore(
      {.store = store.root(), .sandbox_paths = {DefaultSandboxShell()}, .scratch = store.dir() / "home"});
}

// One worker builds `top`, which refers to `base`, and pushes; another fetches.
class CacheTransferTest : public testing::Test {
 protected:
  CacheTransferTest() {
    access_.staged = {.url = cache_.url(), .public_keys = {cache_.key().public_key().ToString()}};
    access_.token = "secret";
    access_.attempt_id = "7";
    access_.lease_token = "9";
    const auto built = builder_nix_.Nix({"nix-build", "--no-out-link", "-E",
                                         "let it = name: script: derivation { inherit name; system = "
                                         "builtins.currentSystem; builder = \"/bin/sh\"; "
                                         "args = [ \"-c\" script ]; }; "
                                         "base = it \"base\" \"echo base > $out\"; in it \"top\" \"mkdir "
                                         "$out; echo ${base} > $out/ref; echo > $out/self\""});
    EXPECT_TRUE(built.ok() && built->status.ok()) << built->err;
    top_ = built->out.substr(0, built->out.find('\n'));
    builder_ = *OpenSession(builder_store_, {});
    fetcher_ = *OpenSession(fetcher_store_, {});
    base_ = *builder_->client().QueryPathInfo(top_)->references.begin();
  }

  absl::StatusOr<PushResult> Push(const std::vector<std::string>& paths) {
    return transfer_.Push(*builder_, access_, paths, cancellation_);
  }
  absl::Status Fetch() { return transfer_.Fetch(*fetcher_, access_, {top_}, cancellation_); }
  void PushAll() {
    const auto pushed = Push({top_, base_});
    ASSERT_TRUE(pushed.ok()) << pushed.status();
  }
  static std::string NarInfoFile(const std::string& path) {
    return "/staged/" + path.substr(11, 32) + ".narinfo";
  }
  std::string NarFile(const std::string& path) {
    return "/staged/" + nix::ParseNarInfo(*cache_.File(NarInfoFile(path)))->url;
  }

  TestCache cache_;
  TestDir spool_;
  nix::TestStore builder_nix_, fetcher_nix_;
  const WorkerStore builder_store_ = StoreOf(builder_nix_), fetcher_store_ = StoreOf(fetcher_nix_);
  std::unique_ptr<StoreSession> builder_, fetcher_;
  CacheAccess access_;
  CacheTransfer transfer_{
      {.spool = spool_.path(),
       .upload = {.backoff = {.first = absl::Milliseconds(1), .most = absl::Milliseconds(2)}},
       .download = {.backoff = {.first = absl::Milliseconds(1), .most = absl::Milliseconds(2)},
                    .give_up_after = absl::Milliseconds(200)}}};
  Cancellation cancellation_;
  std::string top_, base_;
};

TEST_F(CacheTransferTest, WhatOnePushesAnotherFetches) {
  const auto pushed = Push({top_, base_});
  ASSERT_TRUE(pushed.ok()) << pushed.status();
  EXPECT_EQ(pushed->paths, 2);
  EXPECT_GT(pushed->bytes, 0);
  const TestCache::Request put = cache_.Last("PUT");
  EXPECT_EQ(put.headers.at("authorization"), "Bearer secret");
  EXPECT_EQ(put.headers.at("hydrant-attempt"), "7");
  EXPECT_EQ(put.headers.at("hydrant-token"), "9");

  const absl::Status fetched = Fetch();
  ASSERT_TRUE(fetched.ok()) << fetched;
  EXPECT_TRUE(*fetcher_->client().IsValidPath(base_));
  const auto there = *fetcher_->client().QueryPathInfo(top_), here = *builder_->client().QueryPathInfo(top_);
  EXPECT_EQ(there.nar_hash, here.nar_hash);
  EXPECT_EQ(there.references, here.references);
  EXPECT_EQ(*ReadFile(fetcher_->RealPath(top_) + "/ref"), base_ + "\n");
  EXPECT_EQ(rmdir(spool_.path().c_str()), 0) << "something is left in the spool";
}

TEST_F(CacheTransferTest, NothingIsSentTwice) {
  PushAll();
  const auto again = Push({top_, base_});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->paths, 0);
}

TEST_F(CacheTransferTest, ServerErrorsAndLostConnectionsAreTriedAgain) {
  cache_.Order({.method = "PUT", .part = "/nar/", .code = 500});
  cache_.Order({.method = "PUT", .part = "/nar/", .code = 0});
  cache_.Order({.method = "PUT", .part = ".narinfo", .times = 2, .code = 503});
  cache_.Order({.method = "HEAD", .part = "/staged/", .code = 502});
  PushAll();
  EXPECT_TRUE(Fetch().ok());
}

TEST_F(CacheTransferTest, AnArchiveThatIsThereIsNotSent) {
  cache_.Order({.method = "PUT", .part = "/nar/", .code = 201, .before_body = true});
  const auto pushed = Push({base_});
  EXPECT_TRUE(pushed.ok()) << pushed.status();
  EXPECT_TRUE(cache_.File(NarInfoFile(base_)).has_value());
}

TEST_F(CacheTransferTest, ARefusalIsFinalAndTellsTheServersText) {
  cache_.Order({.method = "PUT", .part = "/nar/", .code = 403, .before_body = true, .text = "token too old"});
  const auto pushed = Push({base_});
  EXPECT_TRUE(absl::IsFailedPrecondition(pushed.status())) << pushed.status();
  EXPECT_THAT(std::string(pushed.status().message()), HasSubstr("token too old"));
  EXPECT_THAT(std::string(pushed.status().message()), HasSubstr(base_));
}

TEST_F(CacheTransferTest, AReferenceThatTheCacheLacksGoesFirst) {
  cache_.DemandReferences();
  const auto pushed = Push({top_});
  ASSERT_TRUE(pushed.ok()) << pushed.status();
  EXPECT_EQ(pushed->paths, 2);
  EXPECT_TRUE(cache_.File(NarInfoFile(base_)).has_value());
}

TEST_F(CacheTransferTest, AConflictWithoutMissingReferencesIsFinal) {
  cache_.Order({.method = "PUT",
                .part = ".narinfo",
                .times = 9,
                .code = 409,
                .text = "published with another NarHash"});
  const auto pushed = Push({base_});
  EXPECT_THAT(std::string(pushed.status().message()), HasSubstr("another NarHash"));
}

TEST_F(CacheTransferTest, ADamagedStoreIsNotUploaded) {
  const std::string file = builder_->RealPath(base_);
  chmod(file.c_str(), 0644);
  ASSERT_TRUE(WriteFileAtomically(file, "evil\n", 0444).ok());
  const auto pushed = Push({base_});
  EXPECT_TRUE(absl::IsDataLoss(pushed.status())) << pushed.status();
  EXPECT_THAT(cache_.Seen(), Not(Contains(testing::StartsWith("PUT"))));
}

TEST_F(CacheTransferTest, APathThatNobodyHasIsNamedWithEveryAddress) {
  access_.substituters = {{.url = cache_.url() + "/upstream", .public_keys = access_.staged.public_keys}};
  const absl::Status fetched = Fetch();
  EXPECT_TRUE(absl::IsNotFound(fetched)) << fetched;
  for (const std::string& part : {top_, cache_.url() + NarInfoFile(top_), cache_.url() + "/upstream/"}) {
    EXPECT_THAT(std::string(fetched.message()), HasSubstr(part));
  }
}

TEST_F(CacheTransferTest, ASubstituterHelpsWithItsOwnKeyAndSeesNoToken) {
  PushAll();
  for (const std::string& path : {top_, base_}) {
    const std::string nar = NarFile(path), narinfo = NarInfoFile(path);
    cache_.Put("/upstream" + nar.substr(7), *cache_.File(nar));
    cache_.Put("/upstream" + narinfo.substr(7), *cache_.File(narinfo));
    cache_.Remove(nar);
    cache_.Remove(narinfo);
  }
  access_.substituters = {{.url = cache_.url() + "/upstream", .public_keys = access_.staged.public_keys}};
  const absl::Status fetched = Fetch();
  ASSERT_TRUE(fetched.ok()) << fetched;
  EXPECT_FALSE(cache_.Last("GET").headers.contains("authorization"));
}

TEST_F(CacheTransferTest, ASignatureOfAStrangerIsRefused) {
  PushAll();
  access_.staged.public_keys = {nix::SecretKey::Generate("staged-test-1").public_key().ToString()};
  const absl::Status fetched = Fetch();
  EXPECT_TRUE(absl::IsPermissionDenied(fetched)) << fetched;
  EXPECT_FALSE(*fetcher_->client().IsValidPath(top_));
}

TEST_F(CacheTransferTest, ANarInfoOfAnotherPathIsRefused) {
  PushAll();
  cache_.Put(NarInfoFile(top_), *cache_.File(NarInfoFile(base_)));
  EXPECT_TRUE(absl::IsDataLoss(Fetch()));
}

TEST_F(CacheTransferTest, ATruncatedArchiveIsRefused) {
  PushAll();
  cache_.Order({.method = "GET", .part = NarFile(top_), .truncate = true});
  const absl::Status fetched = Fetch();
  EXPECT_FALSE(fetched.ok());
  EXPECT_THAT(std::string(fetched.message()), HasSubstr(top_));
  EXPECT_FALSE(*fetcher_->client().IsValidPath(top_));
}

TEST_F(CacheTransferTest, AnArchiveOfOtherBytesIsRefused) {
  PushAll();
  cache_.Put(NarFile(top_), *cache_.File(NarFile(base_)));
  const absl::Status fetched = Fetch();
  EXPECT_TRUE(absl::IsDataLoss(fetched)) << fetched;
  const auto later = OpenSession(fetcher_store_, {});
  EXPECT_FALSE(*(*later)->client().IsValidPath(top_));
}

TEST_F(CacheTransferTest, CancellingEndsFetchAndPush) {
  cancellation_.Cancel();
  EXPECT_TRUE(absl::IsCancelled(Fetch()));
  EXPECT_TRUE(absl::IsCancelled(Push({base_}).status()));
}

}  // namespace
}  // namespace hydrant::worker
