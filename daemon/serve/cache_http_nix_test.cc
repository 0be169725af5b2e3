// Stock Nix as writer and reader of a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "daemon/serve/http_server.h"
#include "daemon/serve/test_cache_http.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class StockNixTest : public testing::Test {
 protected:
  StockNixTest() {
    server_ = *HttpServer::Start({.listen = "127.0.0.1:0", .handlers = {t_.http.get()}});
    url_ = absl::StrCat("http://127.0.0.1:", server_->port());
    // c refers to b refers to a; c is a few MiB that do not compress well.
    const Completed made = Nix({"nix-instantiate", "--store", Dir("source"), "--eval", "--read-write-mode",
                                "--json", "--strict", "-E",
                                R"(let a = builtins.toFile "a" "hello";
                                       b = builtins.toFile "b" "see ${a}";
                                       h = builtins.hashString "sha512";
                                       noise = builtins.concatStringsSep "" (builtins.genList (i: h (toString i)) 20000);
                                   in [ a b (builtins.toFile "c" "${b} ${noise}") ])"});
    std::string text = made.out;
    std::erase_if(text, [](char c) { return absl::StrContains("[]\"\n", std::string(1, c)); });
    paths_ = absl::StrSplit(text, ',');
    EXPECT_EQ(paths_.size(), 3u) << made.err;
  }

  std::string Dir(const std::string& name) { return t_.cache.dir / name; }

  // Each call with a client cache of its own, so that it asks the server.
  Completed Nix(std::vector<std::string> argv, const std::string& config = "") {
    const auto done = hydrant::Run(
        {.argv = std::move(argv),
         .env = {{"NIX_CONFIG", absl::StrCat("experimental-features = nix-command\nsubstituters =\n"
                                             "build-users-group =\n",
                                             config)},
                 {"XDG_CACHE_HOME", Dir(absl::StrCat("xdg", ++calls_))},
                 {"HOME", t_.cache.dir.path()}},
         .pipe_stdout = true,
         .pipe_stderr = true},
        "", absl::Minutes(2));
    EXPECT_TRUE(done.ok()) << done.status();
    return done.ok() ? *done : Completed{};
  }

  Completed CopyTo(const std::string& path, std::string_view token,
                   const std::string& query = "?compression=zstd") {
    (void)WriteFileAtomically(
        Dir("netrc"), absl::StrCat("machine 127.0.0.1 login any password ", std::string(token), "\n"), 0600);
    return Nix({"nix", "copy", "--store", Dir("source"), "--to", url_ + query, path},
               absl::StrCat("netrc-file = ", Dir("netrc"), "\n"));
  }

  Completed CopyFrom(const std::string& path, const std::string& store, const std::string& key,
                     const std::string& suffix = "", const std::string& config = "") {
    return Nix({"nix", "copy", "--from", url_ + suffix, "--to", Dir(store), "--option", "require-sigs",
                "true", "--option", "trusted-public-keys", key, path},
               config);
  }

  TestCacheHttp t_;
  int calls_ = 0;
  std::unique_ptr<HttpServer> server_;
  std::string url_;
  std::vector<std::string> paths_;
};

TEST_F(StockNixTest, AClosureGoesInByTokenAndComesOutWithItsSignatureChecked) {
  const Completed in = CopyTo(paths_[2], TestCacheHttp::kOperator);
  ASSERT_TRUE(in.status.ok()) << in.err;
  EXPECT_EQ(t_.cache.catalogue.totals().published_paths, 3);
  const Completed out = CopyFrom(paths_[2], "target", t_.cache.release->PublicKey());
  ASSERT_TRUE(out.status.ok()) << out.err;
  EXPECT_EQ(*ReadFile(Dir("target") + paths_[2]), *ReadFile(Dir("source") + paths_[2]));
  const Completed verified = Nix({"nix", "store", "verify", "--store", Dir("target"), "--no-trust", "--all"});
  EXPECT_TRUE(verified.status.ok()) << verified.err;
}

TEST_F(StockNixTest, OtherCodecsAreTakenToo) {
  for (const std::string compression : {"xz", "none", "bzip2"}) {
    TestCacheHttp other;
    const auto server = *HttpServer::Start({.listen = "127.0.0.1:0", .handlers = {other.http.get()}});
    url_ = absl::StrCat("http://127.0.0.1:", server->port());
    const Completed in = CopyTo(paths_[1], TestCacheHttp::kOperator, "?compression=" + compression);
    ASSERT_TRUE(in.status.ok()) << compression << in.err;
    const Completed out = CopyFrom(paths_[1], "target-" + compression, other.cache.release->PublicKey());
    EXPECT_TRUE(out.status.ok()) << compression << out.err;
  }
}

// Content-addressed paths need no signature; these are made to look input-addressed.
TEST_F(StockNixTest, AnotherKeyIsRefused) {
  const Package a = MakePackage("a");
  ASSERT_EQ(t_.Upload(a).status, 201);
  const std::string other = (*FileSigner::OpenOrGenerate(Dir("other.sec"), "test-1"))->PublicKey();
  const Completed refused = CopyFrom(a.path(), "target", other);
  EXPECT_FALSE(refused.status.ok());
  EXPECT_THAT(refused.err, HasSubstr("signature"));
  const Completed taken = CopyFrom(a.path(), "target", t_.cache.release->PublicKey());
  EXPECT_TRUE(taken.status.ok()) << taken.err;
  EXPECT_EQ(*ReadFile(Dir("target") + a.path()), a.content);
}

TEST_F(StockNixTest, WithoutAGoodTokenNothingGoesInAndNixSaysWhy) {
  const Completed wrong = CopyTo(paths_[0], "wrong");
  EXPECT_FALSE(wrong.status.ok());
  // What Nix 2.8 makes of a 401, and what a newer one does.
  EXPECT_THAT(wrong.err,
              AnyOf(HasSubstr("does not appear to be a binary cache"), HasSubstr("not known here")));
  const Completed reader = CopyTo(paths_[0], TestCacheHttp::kReader);
  EXPECT_FALSE(reader.status.ok());
  EXPECT_THAT(reader.err, HasSubstr("403"));
  EXPECT_TRUE(t_.cache.blobs->List()->empty());
}

TEST_F(StockNixTest, StagedIsReadByWhoHasTheTokenAndTheInternalKey) {
  const Package a = MakePackage("a");
  t_.rights.outputs = {a.path()};
  ASSERT_EQ(t_.Upload(a, TestCacheHttp::kWorker, TestCacheHttp::Lease()).status, 201);
  const std::string key = t_.cache.internal->PublicKey();
  EXPECT_FALSE(CopyFrom(a.path(), "target", key, "/staged").status.ok());
  EXPECT_FALSE(CopyFrom(a.path(), "target", key).status.ok());
  ASSERT_TRUE(WriteFileAtomically(Dir("netrc"),
                                  absl::StrCat("machine 127.0.0.1 login any password ",
                                               std::string(TestCacheHttp::kWorker), "\n"),
                                  0600)
                  .ok());
  const Completed taken =
      CopyFrom(a.path(), "target", key, "/staged", absl::StrCat("netrc-file = ", Dir("netrc"), "\n"));
  EXPECT_TRUE(taken.status.ok()) << taken.err;
}

TEST_F(StockNixTest, WhatIsPrivateComesOutOnlyByNetrc) {
  const Package secret = MakePackage("secret"), open = MakePackage("open");
  for (const Package& package : {secret, open}) ASSERT_TRUE(t_.cache.Stage(package).ok());
  ASSERT_TRUE(t_.cache.publisher.Publish({secret.path()}, {.roots = NarInfoTier::kPrivate}).ok());
  ASSERT_TRUE(t_.cache.publisher.Publish({open.path()}).ok());
  const std::string key = t_.cache.release->PublicKey();
  EXPECT_FALSE(CopyFrom(secret.path(), "target", key).status.ok());
  EXPECT_TRUE(CopyFrom(open.path(), "target", key).status.ok());
  ASSERT_TRUE(WriteFileAtomically(Dir("netrc"),
                                  absl::StrCat("machine 127.0.0.1 login any password ",
                                               std::string(TestCacheHttp::kReader), "\n"),
                                  0600)
                  .ok());
  const Completed taken =
      CopyFrom(secret.path(), "target", key, "", absl::StrCat("netrc-file = ", Dir("netrc"), "\n"));
  ASSERT_TRUE(taken.status.ok()) << taken.err;
  EXPECT_EQ(*ReadFile(Dir("target") + secret.path()), secret.content);
}

TEST_F(StockNixTest, ASubstituterFillsAnEmptyStore) {
  ASSERT_TRUE(CopyTo(paths_[2], TestCacheHttp::kOperator).status.ok());
  const Completed realised = Nix(
      {"nix-store", "--store", Dir("target"), "-r", paths_[2]},
      absl::StrCat("substituters = ", url_, "\ntrusted-public-keys = ", t_.cache.release->PublicKey(), "\n"));
  ASSERT_TRUE(realised.status.ok()) << realised.err;
  EXPECT_TRUE(FileExists(Dir("target") + paths_[0]));
}

TEST_F(StockNixTest, ALogIsRead) {
  const Package a = MakePackage("a");
  const std::string derivation = absl::StrCat("/nix/store/", a.hash_part(), "-a.drv");
  t_.logs[derivation] = "it was built\n";
  const auto done = hydrant::Run(
      {.argv = {"curl", "-sf", url_ + "/log/" + std::string(derivation.substr(11))}, .pipe_stdout = true});
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->out, "it was built\n");
}

}  // namespace
}  // namespace hydrant
