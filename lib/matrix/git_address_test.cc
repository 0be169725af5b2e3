#include "lib/matrix/git_address.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

TEST(GitAddress, WhatGitReachesOverItsFiveWaysIsAnAddress) {
  for (const char* text :
       {"https://github.com/NixOS/nixpkgs", "http://127.0.0.1:80/x.git", "ssh://git@host/x", "ssh://[::1]/x",
        "git://host/x", "git@github.com:NixOS/nixpkgs.git", "file:///srv/x.git", "/srv/x.git"}) {
    EXPECT_TRUE(ParseGitAddress(text).ok()) << text;
  }
}

TEST(GitAddress, AFileHasADirectoryToJudgeItBy) {
  EXPECT_EQ(ParseGitAddress("file:///srv/x")->directory, "/srv/x");
  EXPECT_EQ(ParseGitAddress("/srv/x")->url, "file:///srv/x");
  EXPECT_EQ(ParseGitAddress("https://host/x")->directory, "");
}

TEST(GitAddress, OptionsHelpersAndHalfAddressesAreRefused) {
  for (const char* text : {"",
                           "-u./x",
                           "--upload-pack=touch x",
                           "ext::sh -c x",
                           "fd::3",
                           "ftp://host/x",
                           "ssh://-oProxyCommand=x/y",
                           "ssh://-x@host/y",
                           "-oProxyCommand=x:y",
                           "user@-x:y",
                           "relative/x",
                           "x",
                           "file://host/x",
                           "https://",
                           "https:///x",
                           "https://host/a b",
                           "https://host/a\nb",
                           "file:///srv/%2e%2e/x",
                           "/srv/%2e",
                           "File:///x"}) {
    const auto address = ParseGitAddress(text);
    EXPECT_TRUE(absl::IsInvalidArgument(address.status())) << text;
  }
}

TEST(GitAddress, AFlakesAddressIsToldWhatGitCallsIt) {
  EXPECT_THAT(std::string(ParseGitAddress("github:NixOS/nixpkgs").status().message()),
              HasSubstr("https://github.com/NixOS/nixpkgs"));
}

TEST(GitAddress, AccountsAreNotShown) {
  EXPECT_EQ(ParseGitAddress("https://me:se@cret@host/x@y")->shown, "https://host/x@y");
  EXPECT_THAT(std::string(ParseGitAddress("ftp://me:secret@host/x").status().message()),
              testing::Not(HasSubstr("secret")));
}

TEST(RefName, GitsOwnRules) {
  for (const char* name : {"main", "release-24.11", "a/b", "v1.0", "é"}) EXPECT_TRUE(IsRefName(name)) << name;
  for (const char* name : {"",       "-x", "a..b", "a b",  "a^", "a~1", "a:b", "a*", "a?",    "[a",   "a\\b",
                           "a.lock", ".a", "a/.b", "a//b", "/a", "a/",  "a.",  "@",  "a@{1}", "a\x01"}) {
    EXPECT_FALSE(IsRefName(name)) << name;
  }
}

}  // namespace
}  // namespace hydrant
