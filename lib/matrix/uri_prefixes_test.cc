#include "lib/matrix/uri_prefixes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

TEST(UriPrefixesTest, PrefixesThatArePrefixes) {
  for (const char* good : {"https://github.com", "https://github.com/NixOS/", "http://127.0.0.1:8000",
                           "github:NixOS", "git+ssh://git@example.org/", "file:///srv/mirror"}) {
    EXPECT_EQ(UriPrefixFault(good), "") << good;
  }
}

TEST(UriPrefixesTest, PrefixesThatAreNone) {
  const std::pair<const char*, const char*> faults[] = {{"", "no prefix"},
                                                        {"github.com", "no prefix"},
                                                        {"/etc", "no prefix"},
                                                        {"https:", "no prefix"},
                                                        {"HTTPS://x", "no prefix"},
                                                        {"https://", "names no host"},
                                                        {"https:///x", "names no host"},
                                                        {"file:///", "names no folder"},
                                                        {"https://a b", "a space"},
                                                        {"https://a\nsandbox = false", "a space"},
                                                        {"https://a/#x", "a #"},
                                                        {"https://a/../b", "'..'"}};
  for (const auto& [prefix, fault] : faults) EXPECT_THAT(UriPrefixFault(prefix), HasSubstr(fault)) << prefix;
  EXPECT_THAT(UriPrefixFault("https://" + std::string(3000, 'a')), HasSubstr("2048"));
}

TEST(UriPrefixesTest, OneCoversWhatLiesUnderItAtASlash) {
  EXPECT_TRUE(UriPrefixCovers("https://a.org", "https://a.org"));
  EXPECT_TRUE(UriPrefixCovers("https://a.org", "https://a.org/b"));
  EXPECT_TRUE(UriPrefixCovers("https://a.org/", "https://a.org/b"));
  EXPECT_FALSE(UriPrefixCovers("https://a.org", "https://a.organ/b"));
  EXPECT_FALSE(UriPrefixCovers("https://a.org", "https://a.org@evil.org/"));
  EXPECT_FALSE(UriPrefixCovers("https://a.org/b", "https://a.org"));
  EXPECT_FALSE(UriPrefixCovers("", "https://a.org"));
}

TEST(UriPrefixesTest, ARefusalNamesWhatIsAskedWhatIsPermittedAndTheSetting) {
  EXPECT_EQ(UriRefusal({"https://a.org/x"}, {"https://a.org"}), "");
  EXPECT_EQ(UriRefusal({"https://a.org/x", "https://b.org"}, {"https://a.org"}),
            "[nixpkgs] allowed_uris asks for https://b.org; this farm permits https://a.org ([nix] "
            "allowed_uris of hydrantd)");
  EXPECT_THAT(UriRefusal({"https://b.org"}, {}), HasSubstr("permits none"));
}

}  // namespace
}  // namespace hydrant
