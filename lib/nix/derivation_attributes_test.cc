#include "lib/nix/derivation_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/nix/derivation.h"
#include "lib/nix/test_store.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Environment = std::map<std::string, std::string>;

DerivationAttributes Parse(const Environment& environment) {
  return DerivationAttributes::Parse(environment).value();
}

TEST(DerivationAttributesTest, TheEnvironmentHasTexts) {
  const auto attributes = Parse({{"name", "a"}, {"yes", "1"}, {"no", "true"}, {"list", " x\ty\n x "}});
  EXPECT_FALSE(attributes.structured());
  EXPECT_EQ(attributes.String("name").value(), "a");
  EXPECT_EQ(attributes.Bool("yes").value(), true);
  EXPECT_EQ(attributes.Bool("no").value(), false);
  EXPECT_EQ(attributes.Bool("none").value(), std::nullopt);
  EXPECT_THAT(*attributes.Strings("list").value(), ElementsAre("x", "y", "x"));
}

TEST(DerivationAttributesTest, StructuredOnesHaveTypes) {
  const auto attributes =
      Parse({{"__json", R"({"name":"a","yes":true,"list":["x y"],"n":1})"}, {"other", "1"}});
  EXPECT_TRUE(attributes.structured());
  EXPECT_EQ(attributes.String("name").value(), "a");
  EXPECT_EQ(attributes.Bool("yes").value(), true);
  EXPECT_THAT(*attributes.Strings("list").value(), ElementsAre("x y"));
  EXPECT_EQ(attributes.String("other").value(), std::nullopt);
  EXPECT_EQ(attributes.Bool("n").status().message(),
            "derivation: attribute n: expected a boolean, got number");
  EXPECT_THAT(std::string(attributes.Strings("name").status().message()),
              HasSubstr("name: expected a list of"));
  EXPECT_THAT(std::string(attributes.String("list").status().message()),
              HasSubstr("list: expected a string"));
}

TEST(DerivationAttributesTest, BrokenJsonIsRefused) {
  for (const std::string json : {"", "{broken", "[]", "null", "{}x"})
    EXPECT_TRUE(absl::IsInvalidArgument(DerivationAttributes::Parse(Environment{{"__json", json}}).status()))
        << json;
}

TEST(DerivationAttributesTest, FeaturesOfJsonOfAnyShape) {
  const auto features = [](const std::string& json) {
    return RequiredSystemFeatures(Environment{{"__json", json}});
  };
  EXPECT_THAT(features(R"({"requiredSystemFeatures":["kvm","cuda",3,"kvm"]})"), ElementsAre("cuda", "kvm"));
  EXPECT_THAT(features(R"({"a":{"requiredSystemFeatures":["kvm"]},"b":[{"x":[1]}]})"), IsEmpty());
  EXPECT_THAT(features(R"({"requiredSystemFeatures":"kvm"})"), IsEmpty());
  EXPECT_THAT(features(R"({"x":)" + std::string(100'000, '[') + std::string(100'000, ']') +
                       R"(,"requiredSystemFeatures":["kvm"]})"),
              ElementsAre("kvm"));
  EXPECT_THAT(features(std::string(100'000, '[')), IsEmpty());
}

constexpr char kAttributes[] =
    "requiredSystemFeatures = [ \"kvm\" \"cuda\" ]; preferLocalBuild = true; allowSubstitutes = false; "
    "outputHashMode = \"recursive\"; outputHashAlgo = \"sha256\"; outputHash = builtins.hashString "
    "\"sha256\" \"\";";

TEST(DerivationOptionsTest, TheSameFromTheEnvironmentAndFromStructuredAttributesOfNix) {
  const TestStore store;
  for (const std::string structured : {"", "__structuredAttrs = true; "}) {
    const auto drv = store.Instantiate(ProbeExpression("x", structured + kAttributes));
    ASSERT_TRUE(drv.ok()) << drv.status();
    const Derivation d = ParseDerivation(ReadFile(store.RealPath(*drv)).value()).value();
    EXPECT_EQ(d.environment.contains("__json"), !structured.empty());
    EXPECT_EQ(OptionsOf(d.environment).value(),
              (DerivationOptions{.name = "probe",
                                 .required_system_features = {"cuda", "kvm"},
                                 .prefer_local_build = true,
                                 .allow_substitutes = false,
                                 .output_hash_mode = "recursive"}));
    EXPECT_THAT(d.required_system_features(), ElementsAre("cuda", "kvm"));
    EXPECT_EQ(d.name(), "probe");
  }
}

TEST(DerivationOptionsTest, WhatIsNotSaidIsAsInNix) {
  EXPECT_EQ(OptionsOf({}).value(), DerivationOptions());
  EXPECT_TRUE(DerivationOptions().allow_substitutes);
}

}  // namespace
}  // namespace hydrant::nix
