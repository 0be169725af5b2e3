#include "daemon/evaluate/evaluation_cache.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "lib/nix/hash.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

std::string Key(int n) { return nix::HashSha256(absl::StrCat(n)).ToBase32(); }

CachedSlice Sample() {
  return {{{"python3Packages.torch", true},
           {.message = "no interpreter",
            .derivation = "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-torch.drv",
            .outputs = {{"dev", "/nix/store/d"}, {"out", "/nix/store/o"}},
            .environment = "/nix/store/e.drv",
            .environment_output = "/nix/store/e",
            .facts = {.licences = {{"bsd3", true}, {"CUDA EULA", false}},
                      .unfree_through = "cudatoolkit-12.9",
                      .unfree_licence = "CUDA EULA",
                      .unfree_inputs = {"magma"},
                      .broken = false,
                      .cuda_support = true,
                      .cuda_version = "12.9",
                      .cuda_capabilities = {"8.9", "9.0a"},
                      .python_version = "3.12",
                      .found_as = "python3Packages.pytorch",
                      .named = {{"cudnn", "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-cudnn.drv"}},
                      .hygiene = {"name: Package ‘cudatoolkit’ has an unfree license"}}}},
          {{"héllo \"x\"\n", false}, {.cause = Cause::kThrow, .message = "line one\nline two \xff"}}};
}

class EvaluationCacheTest : public testing::Test {
 protected:
  EvaluationCacheTest() { Reopen(); }
  void Reopen(uint64_t max_bytes = 1 << 20) {
    auto opened = EvaluationCache::Open({.folder = dir_ / "cache", .max_bytes = max_bytes});
    ASSERT_TRUE(opened.ok()) << opened.status();
    cache_ = *std::move(opened);
  }
  std::string FileOf(int n) { return dir_ / "cache/" + Key(n); }

  TestDir dir_;
  std::unique_ptr<EvaluationCache> cache_;
};

TEST_F(EvaluationCacheTest, WhatWasSavedIsThereAfterARestart) {
  ASSERT_TRUE(cache_->Save(Key(1), Sample()).ok());
  Reopen();
  const CachedSlice found = cache_->Find(Key(1));
  ASSERT_EQ(found.size(), 2u);
  const Outcome& torch = found.at({"python3Packages.torch", true});
  EXPECT_EQ(torch.message, "no interpreter");
  EXPECT_EQ(torch.derivation, "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-torch.drv");
  EXPECT_EQ(torch.outputs.at("dev"), "/nix/store/d");
  EXPECT_EQ(torch.environment, "/nix/store/e.drv");
  EXPECT_EQ(torch.environment_output, "/nix/store/e");
  EXPECT_EQ(torch.facts, Sample().at({"python3Packages.torch", true}).facts);
  const Outcome& refused = found.at({"héllo \"x\"\n", false});
  EXPECT_EQ(refused.cause, Cause::kThrow);
  EXPECT_THAT(refused.message, HasSubstr("line one\nline two"));
  EXPECT_TRUE(cache_->Find(Key(2)).empty());
}

TEST_F(EvaluationCacheTest, AFileThatIsCutOrChangedAnywhereIsRemoved) {
  const std::string good = *PrintCachedSlice(Sample());
  std::vector<std::string> damaged = {"", good + "x", good.substr(0, good.size() / 2)};
  for (size_t at = 0; at < good.size(); at += 29) {
    damaged.push_back(good);
    damaged.back()[at] ^= 1;
  }
  for (const std::string& bytes : damaged) {
    ASSERT_TRUE(cache_->Save(Key(1), Sample()).ok());
    ASSERT_TRUE(WriteFileAtomically(FileOf(1), bytes).ok());
    EXPECT_TRUE(cache_->Find(Key(1)).empty());
    EXPECT_FALSE(FileExists(FileOf(1)));
  }
  EXPECT_EQ(cache_->bytes(), 0u);
}

TEST_F(EvaluationCacheTest, TheLeastRecentlyUsedGoesFirst) {
  const uint64_t each = PrintCachedSlice(Sample())->size();
  Reopen(3 * each);
  for (int n : {1, 2, 3}) ASSERT_TRUE(cache_->Save(Key(n), Sample()).ok());
  EXPECT_FALSE(cache_->Find(Key(1)).empty());
  ASSERT_TRUE(cache_->Save(Key(4), Sample()).ok());
  EXPECT_TRUE(cache_->Find(Key(2)).empty());
  EXPECT_FALSE(FileExists(FileOf(2)));
  for (int n : {1, 3, 4}) EXPECT_FALSE(cache_->Find(Key(n)).empty()) << n;
  EXPECT_EQ(cache_->bytes(), 3 * each);
}

TEST_F(EvaluationCacheTest, ASmallerBoundHoldsFromTheNextStart) {
  for (int n : {1, 2, 3}) ASSERT_TRUE(cache_->Save(Key(n), Sample()).ok());
  const uint64_t each = cache_->bytes() / 3;
  Reopen(each);
  EXPECT_EQ(cache_->bytes(), each);
  EXPECT_FALSE(cache_->Find(Key(3)).empty());
}

TEST_F(EvaluationCacheTest, WhatAWriterThatDiedLeftIsRemoved) {
  ASSERT_TRUE(WriteFileAtomically(FileOf(1) + ".tmp", "half").ok());
  Reopen();
  EXPECT_FALSE(FileExists(FileOf(1) + ".tmp"));
}

TEST_F(EvaluationCacheTest, ANameThatIsNoKeyIsRefused) {
  EXPECT_EQ(cache_->Save("../x", Sample()).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(cache_->Find("../x").empty());
}

}  // namespace
}  // namespace hydrant
