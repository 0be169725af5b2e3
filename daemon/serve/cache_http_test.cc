#include "daemon/serve/cache_http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/serve/test_cache_http.h"
#include "tests/fakes/memory_blob_store.h"

namespace hydrant {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

class CacheHttpTest : public testing::Test {
 protected:
  std::string Url(const Package& package) { return absl::StrCat("/", package.hash_part(), ".narinfo"); }
  void ExpectAbsent(const Reply& reply) {
    EXPECT_EQ(reply.status, 404);
    EXPECT_THAT(reply.headers, Contains(Pair("Cache-Control", "no-store")));
  }
  TestCacheHttp t_;
  const Package a_ = MakePackage("a"), b_ = MakePackage("b", {a_.path()});
};

TEST_F(CacheHttpTest, TheCacheDescribesItself) {
  const Reply reply = t_.Ask("GET", "/nix-cache-info");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "StoreDir: /nix/store\nWantMassQuery: 1\nPriority: 30\n");
  EXPECT_THAT(reply.headers, Contains(Pair("Content-Type", "text/x-nix-cache-info")));
  EXPECT_EQ(t_.Ask("GET", "/public-key").body, t_.cache.release->PublicKey() + "\n");
}

TEST_F(CacheHttpTest, AnUploadByHandIsPublishedAtOnceAndSigned) {
  ASSERT_EQ(t_.Upload(a_).status, 201);
  ASSERT_EQ(t_.Upload(b_).status, 201);
  const Reply reply = t_.Ask("GET", Url(b_));
  ASSERT_EQ(reply.status, 200);
  EXPECT_THAT(reply.headers, Contains(Pair("Content-Type", "text/x-nix-narinfo")));
  const auto info = nix::ParseNarInfo(reply.body);
  ASSERT_TRUE(info.ok()) << info.status();
  ASSERT_EQ(info->signatures.size(), 1u);
  EXPECT_TRUE(nix::PublicKey::Parse(t_.cache.release->PublicKey())
                  ->Verify(nix::Fingerprint(*info), info->signatures[0]));
  EXPECT_EQ(t_.Ask("GET", "/" + info->url).body, b_.file);
}

TEST_F(CacheHttpTest, NarsMayBeKeptForEverAndResumed) {
  ASSERT_EQ(t_.Upload(a_).status, 201);
  const Reply whole = t_.Ask("GET", "/" + a_.info.url);
  EXPECT_THAT(whole.headers, Contains(Pair("Cache-Control", "public, max-age=31536000, immutable")));
  EXPECT_THAT(whole.headers, Contains(Pair("Accept-Ranges", "bytes")));
  EXPECT_THAT(whole.headers, Contains(Pair("ETag", absl::StrCat("\"", a_.info.file_hash->ToBase32(), "\""))));
  EXPECT_FALSE(whole.headers.contains("Content-Encoding"));
  const Reply rest = t_.Ask("GET", "/" + a_.info.url, "", {{"Range", "bytes=10-"}});
  EXPECT_EQ(rest.status, 206);
  EXPECT_EQ(rest.body, a_.file.substr(10));
}

TEST_F(CacheHttpTest, WhatIsAbsentIsNotKeptByProxies) {
  ExpectAbsent(t_.Ask("GET", Url(a_)));
  ExpectAbsent(t_.Ask("GET", "/" + a_.info.url));
  ExpectAbsent(t_.Ask("HEAD", "/" + a_.info.url));
  ExpectAbsent(t_.Ask("GET", absl::StrCat("/", a_.hash_part(), ".ls")));
  ExpectAbsent(t_.Ask("GET", absl::StrCat("/log/", a_.hash_part(), "-a.drv")));
}

TEST_F(CacheHttpTest, ALogIsServedByItsDerivation) {
  t_.logs[absl::StrCat("/nix/store/", a_.hash_part(), "-a.drv")] = "building\n";
  EXPECT_EQ(t_.Ask("GET", absl::StrCat("/log/", a_.hash_part(), "-a.drv")).body, "building\n");
}

TEST_F(CacheHttpTest, ASecondUploadIsAnsweredBeforeItsBody) {
  ASSERT_EQ(t_.Upload(a_).status, 201);
  const Reply again = t_.Put("/" + a_.info.url, a_.file);
  EXPECT_EQ(again.status, 201);
  EXPECT_TRUE(again.early);
  EXPECT_EQ(t_.Put(Url(a_), a_.narinfo()).status, 201);
}

TEST_F(CacheHttpTest, TwoUploadsOfOneFileAtOnceBothSucceed) {
  HttpRequest request{
      .method = "PUT", .path = "/" + a_.info.url, .content_length = static_cast<int64_t>(a_.file.size())};
  request.headers = {{"Authorization", "Bearer operator-token"}};
  auto first = std::get<std::unique_ptr<BodyReceiver>>(*t_.http->Handle(request));
  auto second = std::get<std::unique_ptr<BodyReceiver>>(*t_.http->Handle(request));
  first->Write(a_.file.substr(0, 20));
  second->Write(a_.file);
  EXPECT_EQ(second->Finish().status, 201);
  first->Write(a_.file.substr(20));
  EXPECT_EQ(first->Finish().status, 201);
}

TEST_F(CacheHttpTest, WithoutSpaceAnUploadIsAskedToComeAgainBeforeItsBody) {
  MemoryBlobStore full(10);
  NarIntake intake(full);
  CacheHttp http({.catalogue = t_.cache.catalogue,
                  .blobs = full,
                  .intake = intake,
                  .publisher = t_.cache.publisher,
                  .release = *t_.cache.release,
                  .internal = *t_.cache.internal,
                  .authenticator = *t_.authenticator,
                  .rights = t_.rights,
                  .log = nullptr,
                  .observe = nullptr});
  HttpRequest request{.method = "PUT", .path = "/" + a_.info.url, .content_length = 1000};
  request.headers = {{"Authorization", "Bearer operator-token"}};
  EXPECT_EQ(std::get<HttpResponse>(*http.Handle(request)).status, 503);
}

TEST_F(CacheHttpTest, BytesThatAreNotWhatTheyClaimAre422AndLeaveNothing) {
  EXPECT_EQ(t_.Put("/" + a_.info.url, b_.file).status, 422);
  EXPECT_EQ(t_.Put("/" + a_.info.url, "").status, 422);
  const std::string no_nar = Zstd("no archive");
  EXPECT_EQ(t_.Put(absl::StrCat("/nar/", nix::HashSha256(no_nar).ToBase32(), ".nar.zst"), no_nar).status,
            422);
  EXPECT_EQ(t_.Put(absl::StrCat("/nar/", a_.info.file_hash->ToBase32(), ".nar.br"), a_.file).status, 422);
  EXPECT_TRUE(t_.cache.blobs->List()->empty());
}

TEST_F(CacheHttpTest, ANarInfoThatIsNotOfItsNarIs422) {
  ASSERT_TRUE(t_.cache.PutBlob(a_).ok());
  Package wrong = a_;
  wrong.info.nar_hash = nix::HashSha256("other");
  const Reply reply = t_.Put(Url(a_), wrong.narinfo());
  EXPECT_EQ(reply.status, 422);
  EXPECT_THAT(reply.body, HasSubstr("NarHash"));
  EXPECT_EQ(t_.Put(Url(a_), "StorePath: nonsense\n").status, 422);
  EXPECT_EQ(t_.Put(Url(b_), a_.narinfo()).status, 422);
  ExpectAbsent(t_.Ask("GET", Url(a_)));
}

TEST_F(CacheHttpTest, ANarInfoWithAnAbsentReferenceIs409AndNamesIt) {
  const Reply reply = t_.Upload(b_);
  EXPECT_EQ(reply.status, 409);
  EXPECT_THAT(reply.body, HasSubstr(a_.path()));
}

TEST_F(CacheHttpTest, ANarInfoWithoutItsNarIs409) { EXPECT_EQ(t_.Put(Url(a_), a_.narinfo()).status, 409); }

TEST_F(CacheHttpTest, TheFirstUploadOfAPathWins) {
  ASSERT_EQ(t_.Upload(a_).status, 201);
  const Package other = MakePackage("a", {}, "other content");
  EXPECT_EQ(t_.Upload(other).status, 409);
  EXPECT_THAT(t_.Ask("GET", Url(a_)).body, HasSubstr(a_.info.nar_hash.ToNixString()));
}

TEST_F(CacheHttpTest, WhatIsTooLargeIsRefusedFromItsHeaders) {
  HttpRequest request{.method = "PUT", .path = "/" + a_.info.url, .content_length = 64 << 20};
  request.headers = {{"Authorization", "Bearer operator-token"}};
  auto decision = t_.http->Handle(request);
  EXPECT_EQ(std::get<HttpResponse>(*decision).status, 413);
  request.path = Url(a_);
  decision = t_.http->Handle(request);
  EXPECT_EQ(std::get<HttpResponse>(*decision).status, 413);
  request.content_length.reset();
  decision = t_.http->Handle(request);
  EXPECT_EQ(std::get<HttpResponse>(*decision).status, 411);
}

TEST_F(CacheHttpTest, ACompressedNarInfoIsDecoded) {
  ASSERT_TRUE(t_.cache.PutBlob(a_).ok());
  EXPECT_EQ(
      t_.Put(Url(a_), Zstd(a_.narinfo()), TestCacheHttp::kOperator, {{"Content-Encoding", "zstd"}}).status,
      201);
  EXPECT_EQ(t_.Put(Url(a_), a_.narinfo(), TestCacheHttp::kOperator, {{"Content-Encoding", "zstd"}}).status,
            422);
  EXPECT_EQ(t_.Put(Url(a_), Zstd(std::string(2 << 20, 'x')), TestCacheHttp::kOperator,
                   {{"Content-Encoding", "zstd"}})
                .status,
            422);
}

TEST_F(CacheHttpTest, TheCachesDescriptionCannotBeReplaced) {
  EXPECT_EQ(t_.Put("/nix-cache-info", "StoreDir: /nix/store\n").status, 200);
  EXPECT_EQ(t_.Put("/nix-cache-info", "StoreDir: /other\n").status, 403);
}

TEST_F(CacheHttpTest, WithoutTheDatabaseStockNixGetsNoLate5xxAndAWorkerIsToldToComeAgain) {
  ASSERT_TRUE(t_.cache.PutBlob(a_).ok());
  t_.rights.outputs = {a_.path()};
  t_.cache.SetDatabaseAway(true);
  EXPECT_EQ(t_.Put(Url(a_), a_.narinfo()).status, 409);
  const Reply reply = t_.Put(Url(a_), a_.narinfo(), TestCacheHttp::kWorker, TestCacheHttp::Lease());
  EXPECT_EQ(reply.status, 503);
  EXPECT_TRUE(reply.headers.contains("Retry-After"));
}

TEST_F(CacheHttpTest, WhatIsPublishedIsReadWhileTheDatabaseIsAway) {
  ASSERT_EQ(t_.Upload(a_).status, 201);
  t_.cache.SetDatabaseAway(true);
  EXPECT_EQ(t_.Ask("GET", Url(a_)).status, 200);
  EXPECT_EQ(t_.Ask("GET", "/" + a_.info.url).status, 200);
}

TEST_F(CacheHttpTest, OtherMethodsAndOtherPathsAreNotOurs) {
  EXPECT_EQ(t_.Ask("POST", "/nix-cache-info").status, 405);
  EXPECT_EQ(t_.Ask("DELETE", Url(a_), TestCacheHttp::kOperator).status, 405);
  EXPECT_FALSE(t_.http->Handle({.method = "GET", .path = "/"}).has_value());
}

TEST_F(CacheHttpTest, EachRequestIsCountedByKindAndCode) {
  t_.Upload(a_);
  t_.Ask("GET", Url(a_));
  t_.Ask("GET", Url(b_));
  MutexLock lock(t_.mu);
  EXPECT_THAT(t_.seen, testing::ElementsAre("put_nar 201", "put_narinfo 201", "narinfo 200", "narinfo 404"));
}

}  // namespace
}  // namespace hydrant
