#include "daemon/serve/cache_http_route.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace hydrant {
namespace {

const std::string kHash32(32, 'a'), kHash52 = "0" + std::string(51, 'a');

TEST(CacheRouteTest, EachShapeIsKnownAndAlsoUnderStaged) {
  const std::pair<std::string, std::string> cases[] = {
      {"/nix-cache-info", "cache_info"},   {"/" + kHash32 + ".narinfo", "narinfo"},
      {"/nar/" + kHash52 + ".nar", "nar"}, {"/nar/" + kHash52 + ".nar.zst", "nar"},
      {"/" + kHash32 + ".ls", "listing"},  {"/log/" + kHash32 + "-a.drv", "log"},
      {"/public-key", "public_key"}};
  for (const auto& [path, name] : cases) {
    ASSERT_TRUE(ParseCachePath(path)) << path;
    EXPECT_EQ(CacheRouteName(*ParseCachePath(path)), name);
    ASSERT_TRUE(ParseCachePath("/staged" + path)) << path;
    EXPECT_EQ(CacheRouteName(*ParseCachePath("/staged" + path)), "staged_" + name);
  }
}

TEST(CacheRouteTest, NothingElseIs) {
  const std::vector<std::string> paths = {"/",
                                          "",
                                          "nix-cache-info",
                                          "/nix-cache-info/",
                                          "/staged",
                                          "/staged/",
                                          "//nix-cache-info",
                                          "/" + kHash32,
                                          "/" + kHash32 + ".narinfo2",
                                          "/" + std::string(31, 'a') + ".narinfo",
                                          "/" + std::string(32, 'e') + ".narinfo",
                                          "/nar/" + kHash52,
                                          "/nar/" + kHash52 + ".nar.",
                                          "/nar/" + kHash52 + ".nar/../x",
                                          "/nar/../" + kHash32 + ".narinfo",
                                          "/nar/" + std::string(51, 'a') + ".nar",
                                          "/nar/" + kHash52 + ".nar.ZST",
                                          "/log/" + kHash32 + "-a",
                                          "/log/../../etc/passwd",
                                          "/log/" + kHash32 + "-a/b.drv",
                                          "/staged/staged/nix-cache-info",
                                          "/nar/../../etc/passwd"};
  for (const std::string& path : paths) {
    EXPECT_FALSE(ParseCachePath(path)) << path;
  }
}

}  // namespace
}  // namespace hydrant
