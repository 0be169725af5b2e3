// Who may read and write what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/serve/test_cache_http.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

class CacheRightsTest : public testing::Test {
 protected:
  CacheRightsTest() { t_.rights.outputs = {a_.path(), b_.path()}; }
  std::string Url(const Package& package) { return absl::StrCat("/", package.hash_part(), ".narinfo"); }
  TestCacheHttp t_;
  const Package a_ = MakePackage("a"), b_ = MakePackage("b", {a_.path()}), c_ = MakePackage("c");
};

TEST_F(CacheRightsTest, AnUploadWithoutATokenIs401FromItsHeaders) {
  const Reply reply = t_.Put("/" + a_.info.url, a_.file, "");
  EXPECT_EQ(reply.status, 401);
  EXPECT_TRUE(reply.early);
  EXPECT_TRUE(reply.headers.contains("WWW-Authenticate"));
  EXPECT_EQ(t_.Put(Url(a_), a_.narinfo(), "").status, 401);
  EXPECT_EQ(t_.Put("/nix-cache-info", "StoreDir: /nix/store\n", "").status, 401);
}

TEST_F(CacheRightsTest, ABadTokenIs401EvenForReading) {
  EXPECT_EQ(t_.Put("/" + a_.info.url, a_.file, "wrong").status, 401);
  EXPECT_EQ(t_.Ask("GET", "/nix-cache-info", "wrong").status, 401);
}

TEST_F(CacheRightsTest, AReaderMayNotUpload) {
  const Reply reply = t_.Put("/" + a_.info.url, a_.file, TestCacheHttp::kReader);
  EXPECT_EQ(reply.status, 403);
  EXPECT_TRUE(reply.early);
}

TEST_F(CacheRightsTest, AWorkerUploadsOnlyForItsLease) {
  EXPECT_EQ(t_.Put("/" + a_.info.url, a_.file, TestCacheHttp::kWorker).status, 403);
  EXPECT_EQ(t_.Put("/" + a_.info.url, a_.file, TestCacheHttp::kWorker, TestCacheHttp::Lease(8, 3)).status,
            403);
  const Reply fenced = t_.Put("/" + a_.info.url, a_.file, TestCacheHttp::kWorker, TestCacheHttp::Lease(7, 2));
  EXPECT_EQ(fenced.status, 409);
  EXPECT_TRUE(fenced.early);
  EXPECT_EQ(t_.Put("/" + a_.info.url, a_.file, TestCacheHttp::kWorker,
                   {{"Hydrant-Attempt", "x"}, {"Hydrant-Token", "3"}})
                .status,
            403);
  EXPECT_EQ(t_.Upload(a_, TestCacheHttp::kWorker, TestCacheHttp::Lease()).status, 201);
  EXPECT_EQ(t_.cache.catalogue.FindPath(a_.path())->attempt, AttemptId{7});
  const Reply foreign = t_.Upload(c_, TestCacheHttp::kWorker, TestCacheHttp::Lease());
  EXPECT_EQ(foreign.status, 403);
  EXPECT_THAT(foreign.body, HasSubstr(c_.path()));
}

TEST_F(CacheRightsTest, WhatAWorkerUploadedIsStagedAndNoReaderSeesIt) {
  ASSERT_EQ(t_.Upload(a_, TestCacheHttp::kWorker, TestCacheHttp::Lease()).status, 201);
  for (std::string_view token :
       {std::string_view(), TestCacheHttp::kReader, TestCacheHttp::kWorker, TestCacheHttp::kOperator}) {
    EXPECT_EQ(t_.Ask("GET", Url(a_), token).status, 404);
    EXPECT_EQ(t_.Ask("GET", "/" + a_.info.url, token).status, 404);
  }
  EXPECT_EQ(t_.Ask("HEAD", "/" + a_.info.url, TestCacheHttp::kReader).status, 404);
  EXPECT_EQ(t_.Ask("HEAD", "/" + a_.info.url, TestCacheHttp::kWorker).status, 200);
}

TEST_F(CacheRightsTest, WhatIsPrivateIsNotThereWithoutAToken) {
  Package secret = MakePackage("secret");
  secret.info.deriver = absl::StrCat(secret.hash_part(), "-secret.drv");
  t_.logs["/nix/store/" + secret.info.deriver] = "compiling\n";
  ASSERT_TRUE(t_.cache.Stage(secret).ok());
  ASSERT_TRUE(t_.cache.publisher.Publish({secret.path()}, {.roots = NarInfoTier::kPrivate}).ok());
  const Package nothing = MakePackage("nothing");
  const auto urls = [&](const Package& package) {
    const std::string base(package.path().substr(11));
    return std::vector<std::string>{Url(package), "/" + package.info.url,
                                    absl::StrCat("/", package.hash_part(), ".ls"),
                                    absl::StrCat("/log/", base, ".drv")};
  };
  for (const std::string method : {"GET", "HEAD"}) {
    for (size_t i = 0; i < urls(secret).size(); ++i) {
      SCOPED_TRACE(urls(secret)[i]);
      // To the byte as what is not there.
      const Reply hidden = t_.Ask(method, urls(secret)[i]), absent = t_.Ask(method, urls(nothing)[i]);
      EXPECT_EQ(hidden.status, 404);
      EXPECT_EQ(hidden.body, absent.body);
      EXPECT_EQ(hidden.headers, absent.headers);
      if (urls(secret)[i].ends_with(".ls")) continue;
      for (std::string_view token :
           {TestCacheHttp::kReader, TestCacheHttp::kWorker, TestCacheHttp::kOperator}) {
        EXPECT_EQ(t_.Ask(method, urls(secret)[i], token).status, 200);
      }
    }
  }
  EXPECT_EQ(t_.Ask("GET", "/nix-cache-info").status, 200);
}

TEST_F(CacheRightsTest, AProxyOnTheSameMachineReadsNothingPrivate) {
  ASSERT_TRUE(t_.cache.Stage(a_).ok());
  ASSERT_TRUE(t_.cache.publisher.Publish({a_.path()}, {.roots = NarInfoTier::kPrivate}).ok());
  for (const std::string& path : {Url(a_), "/" + a_.info.url}) {
    const auto decision = t_.http->Handle({.method = "GET", .path = path, .loopback = true});
    EXPECT_EQ(std::get<HttpResponse>(*decision).status, 404);
  }
}

TEST_F(CacheRightsTest, WhatIsPrivateIsKeptByNoProxyForOthers) {
  ASSERT_TRUE(t_.cache.Stage(a_).ok());
  ASSERT_TRUE(t_.cache.publisher.Publish({a_.path()}, {.roots = NarInfoTier::kPrivate}).ok());
  for (const std::string& path : {Url(a_), "/" + a_.info.url}) {
    const Reply reply = t_.Ask("GET", path, TestCacheHttp::kReader);
    EXPECT_THAT(reply.headers.at("Cache-Control"), testing::StartsWith("private, "));
    EXPECT_EQ(reply.headers.at("Vary"), "Authorization");
  }
}

TEST_F(CacheRightsTest, OfARestrictedLogNobodyHearsWithoutAToken) {
  t_.logs["/nix/store/" + a_.hash_part() + "-a.drv"] = "building\n";
  t_.restricted_logs = true;
  const std::string path = absl::StrCat("/log/", a_.hash_part(), "-a.drv");
  EXPECT_EQ(t_.Ask("GET", path).status, 404);
  EXPECT_EQ(t_.Ask("GET", path, TestCacheHttp::kReader).body, "building\n");
}

TEST_F(CacheRightsTest, StagedIsForWorkersAndOperators) {
  ASSERT_EQ(t_.Upload(a_, TestCacheHttp::kWorker, TestCacheHttp::Lease()).status, 201);
  for (const std::string& path :
       {Url(a_), "/" + a_.info.url, std::string("/nix-cache-info"), std::string("/public-key")}) {
    EXPECT_EQ(t_.Ask("GET", "/staged" + path).status, 401) << path;
    EXPECT_EQ(t_.Ask("GET", "/staged" + path, TestCacheHttp::kReader).status, 403) << path;
    EXPECT_EQ(t_.Ask("GET", "/staged" + path, TestCacheHttp::kWorker).status, 200) << path;
    EXPECT_EQ(t_.Ask("GET", "/staged" + path, TestCacheHttp::kOperator).status, 200) << path;
  }
  EXPECT_EQ(t_.Put("/staged/" + c_.info.url, c_.file).status, 405);
}

TEST_F(CacheRightsTest, StagedIsSignedWithTheInternalKeyOnly) {
  ASSERT_EQ(t_.Upload(a_, TestCacheHttp::kWorker, TestCacheHttp::Lease()).status, 201);
  ASSERT_EQ(t_.Upload(c_).status, 201);
  const auto internal = *nix::PublicKey::Parse(t_.cache.internal->PublicKey());
  for (const Package& package : {a_, c_}) {
    const Reply reply = t_.Ask("GET", "/staged" + Url(package), TestCacheHttp::kWorker);
    const auto info = nix::ParseNarInfo(reply.body);
    ASSERT_TRUE(info.ok()) << info.status();
    ASSERT_EQ(info->signatures.size(), 1u);
    EXPECT_TRUE(internal.Verify(nix::Fingerprint(*info), info->signatures[0]));
    EXPECT_EQ(reply.headers.at("Cache-Control"), "private, no-store");
  }
}

TEST_F(CacheRightsTest, ABlobWithoutANarInfoIsNobodysToRead) {
  ASSERT_EQ(t_.Put("/" + a_.info.url, a_.file).status, 201);
  EXPECT_EQ(t_.Ask("GET", "/" + a_.info.url).status, 404);
  EXPECT_EQ(t_.Ask("GET", "/staged/" + a_.info.url, TestCacheHttp::kWorker).status, 404);
}

TEST_F(CacheRightsTest, AnOperatorDoesNotPublishWhatStagedPathsAreBehind) {
  ASSERT_EQ(t_.Upload(a_, TestCacheHttp::kWorker, TestCacheHttp::Lease()).status, 201);
  EXPECT_EQ(t_.Upload(b_).status, 409);
  EXPECT_EQ(t_.cache.StateOf(a_), NarInfoState::kStaged);
}

}  // namespace
}  // namespace hydrant
