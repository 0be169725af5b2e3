#include "daemon/serve/http_message.h"

#include <gtest/gtest.h>

#include "daemon/serve/http_token.h"

namespace hydrant {
namespace {

TEST(SplitTargetTest, PathAndQuery) {
  EXPECT_EQ(SplitTarget("/a/b?c=%20")->first, "/a/b");
  EXPECT_EQ(SplitTarget("/a/b?c=%20")->second, "c=%20");
  EXPECT_EQ(SplitTarget("/a%2Bb%3f")->first, "/a+b?");
}

TEST(SplitTargetTest, WhatIsNoPathIsRefused) {
  for (const char* bad : {"", "*", "http://x/", "/a%", "/a%2", "/a%zz", "/a%00b"})
    EXPECT_FALSE(SplitTarget(bad).ok()) << bad;
}

TEST(HttpTokenTest, BearerAndBasicPasswordAreTokens) {
  const auto token = [](const char* header) { return TokenOf({.headers = {{"authorization", header}}}); };
  EXPECT_EQ(token("Bearer abc"), "abc");
  EXPECT_EQ(token("bearer  abc "), "abc");
  EXPECT_EQ(token("Basic dXNlcjphYmM="), "abc");  // user:abc
  EXPECT_EQ(token("Basic dXNlcjphOmI="), "a:b");  // user:a:b
  EXPECT_EQ(TokenOf({}), std::nullopt);
}

TEST(HttpTokenTest, WhatCannotBeReadIsATokenThatNobodyHas) {
  const auto token = [](const char* header) { return TokenOf({.headers = {{"Authorization", header}}}); };
  for (const char* bad : {"", "abc", "Basic !!", "Basic dXNlcg==", "Digest x"})
    EXPECT_EQ(token(bad), "") << bad;
}

}  // namespace
}  // namespace hydrant
