// Against a real nix-daemon on a store of its own.
#include "daemon/cache/store_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "daemon/cache/test_cache.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

constexpr std::string_view kNixConfig =
    "experimental-features = nix-command\nsubstituters =\nbuild-users-group =\n";

class StoreImportTest : public testing::Test {
 protected:
  // The paths of two text files, the second of which refers to the first.
  std::vector<std::string> MakePaths() {
    const auto done = hydrant::Run(
        {.argv = {"nix-instantiate", "--store", root_, "--eval", "--read-write-mode", "--json", "--strict",
                  "-E",
                  R"(let a = builtins.toFile "a" "hello"; in "${a} ${builtins.toFile "b" "see ${a}"}")"},
         .env = {{"NIX_CONFIG", std::string(kNixConfig)}, {"XDG_CACHE_HOME", cache_.dir / "xdg"}},
         .pipe_stdout = true,
         .pipe_stderr = true});
    EXPECT_TRUE(done.ok() && done->status.ok()) << (done.ok() ? done->err : done.status().ToString());
    std::string text = done->out;
    std::erase_if(text, [](char c) { return c == '"' || c == '\n'; });
    return absl::StrSplit(text, ' ');
  }
  TestCache cache_;
  const std::string root_ = cache_.dir / "store";
  StoreImport import_{
      [this] {
        return nix::DaemonClient::Connect({.store_root = root_, .nix_config = std::string(kNixConfig)});
      },
      cache_.intake, cache_.publisher};
};

TEST_F(StoreImportTest, AClosureComesInStaged) {
  const std::vector<std::string> paths = MakePaths();
  ASSERT_EQ(paths.size(), 2u);
  const absl::Status imported = import_.Import({paths[1]});
  ASSERT_TRUE(imported.ok()) << imported;
  const auto b = cache_.catalogue.FindPath(paths[1]);
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->state, NarInfoState::kStaged);
  EXPECT_THAT(b->references, testing::ElementsAre(paths[0]));
  EXPECT_THAT(b->content_address, testing::StartsWith("text:sha256:"));
  EXPECT_NE(cache_.catalogue.FindPath(paths[0]), nullptr);
  EXPECT_TRUE(import_.Import({paths[1]}).ok());
}

TEST_F(StoreImportTest, WhatUpstreamHoldsIsNotImported) {
  const std::vector<std::string> paths = MakePaths();
  cache_.upstream = {paths[0]};
  ASSERT_TRUE(import_.Import({paths[1]}).ok());
  EXPECT_EQ(cache_.catalogue.FindPath(paths[0]), nullptr);
}

TEST_F(StoreImportTest, APathThatTheStoreLacksIsNamed) {
  MakePaths();
  const std::string path = "/nix/store/00000000000000000000000000000000-x";
  const absl::Status imported = import_.Import({path});
  EXPECT_EQ(imported.code(), absl::StatusCode::kNotFound) << imported;
  EXPECT_THAT(std::string(imported.message()), testing::HasSubstr(path));
}

}  // namespace
}  // namespace hydrant
