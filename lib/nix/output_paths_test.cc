#include "lib/nix/output_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/content_address.h"
#include "lib/nix/test_store.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;

// A Nix expression of `count` derivations that use one another in every way that makes a difference to paths.
class GeneratedExpression {
 public:
  GeneratedExpression(unsigned seed, int count) : random_(seed) {
    text_ =
        "let\n  drv = a: derivation ({ system = \"x86_64-linux\"; builder = \"/bin/sh\"; } // a);\n"
        "  hash = algo: text: builtins.hashString algo text;\n";
    for (int i = 0; i < count; ++i) Add(i);
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) all.push_back(absl::StrCat("d", i));
    absl::StrAppend(&text_, "in drv { name = \"top\"; all = [ ", absl::StrJoin(all, " "), " ]; }\n");
  }
  const std::string& text() const { return text_; }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::string Some(int i) {  // an earlier output, as a string
    const int j = Below(i);
    return absl::StrCat("\"${d", j, ".", outputs_[j][Below(static_cast<int>(outputs_[j].size()))], "}\"");
  }

  void Add(int i) {
    outputs_.push_back({"out"});
    std::string attributes = absl::StrCat("name = \"p", i, (i % 7 == 0 ? "+x=1.0?_" : ""), "\"; ");
    const int kind = Below(10);
    if (kind < 3) {
      const std::string algorithm = std::vector<std::string>{"md5", "sha1", "sha256", "sha512"}[Below(4)];
      absl::StrAppend(&attributes, "outputHashAlgo = \"", algorithm, "\"; outputHash = hash \"", algorithm,
                      "\" \"", i / 2, "\"; outputHashMode = \"", Below(2) == 0 ? "flat" : "recursive",
                      "\"; ");
      if (i > 0) absl::StrAppend(&attributes, "mirror = ", Some(i), "; ");
    } else {
      if (Below(2) == 0) {
        outputs_[i] = {"dev", "out", "lib-x"};
        attributes += "outputs = [ \"out\" \"dev\" \"lib-x\" ]; self = builtins.placeholder \"dev\"; ";
      }
      for (int n = Below(6); n > 0 && i > 0; --n) absl::StrAppend(&attributes, "in", n, " = ", Some(i), "; ");
    }
    if (kind == 3) attributes += "__structuredAttrs = true; list = [ 1 null { deep = \"ü\\n\"; } ]; ";
    if (kind == 4) {
      absl::StrAppend(&attributes, "script = builtins.toFile \"s", i,
                      "\" \"\\t${builtins.toFile \"inner\" \"", i, "\"}\"; ");
    }
    if (kind == 5) {
      absl::StrAppend(
          &attributes, "tree = builtins.path { path = /usr/share/common-licenses; name = \"tree", i,
          "\"; recursive = true; }; flat = builtins.path { path = /etc/passwd; name = \"flat\"; recursive "
          "= false; }; ");
    }
    // A .drv itself as an input brings all that it needs, with all outputs.
    if (kind == 6 && i > 0 && i < 40) absl::StrAppend(&attributes, "recipe = d", Below(i), ".drvPath; ");
    absl::StrAppend(&text_, "  d", i, " = drv { ", attributes, "};\n");
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<std::vector<std::string>> outputs_;
};

TEST(OutputPathsTest, AGeneratedClosureIsRecomputedToTheByte) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const TestStore store;
    const auto top = store.Instantiate(GeneratedExpression(seed, 100).text());
    ASSERT_TRUE(top.ok()) << top.status();
    const auto loader = ClosureLoader::Open({.store_root = store.root()}).value();
    const auto closure = loader->Load(std::vector{*top});
    ASSERT_TRUE(closure.ok()) << closure.status();
    EXPECT_EQ(closure->counts().derivations, 101u);
    EXPECT_GT(closure->counts().fixed_outputs, 10u);
    EXPECT_EQ(VerifyOutputPaths(*closure, store.root()), absl::OkStatus());
    for (const std::string& path : closure->SortedPaths()) {
      const std::string text = ReadFile(store.RealPath(path)).value();
      EXPECT_EQ(PrintDerivation(ParseDerivation(text).value()), text);
    }
  }
}

// b uses a's output, whose path is known only when a is built; c is pinned by its content.
constexpr char kContentAddressed[] = R"nix(
let
  drv = a: derivation ({ system = "x86_64-linux"; builder = "/bin/sh"; } // a);
  a = drv { name = "a"; outputs = [ "out" "dev" ]; __contentAddressed = true; outputHashMode = "recursive"; outputHashAlgo = "sha256";
            args = [ "-c" "echo > $out; echo > $dev" ]; };
  b = drv { name = "b"; used = a.dev; };
  c = drv { name = "c"; used = a.out; outputHashMode = "flat"; outputHashAlgo = "sha256"; outputHash = builtins.hashString "sha256" ""; };
  i = drv { name = "i"; __impure = true; inherit b; };
in drv { name = "top"; inherit c; impure = i; }
)nix";

class ContentAddressedTest : public testing::Test {
 protected:
  ContentAddressedTest() {
    const auto done = store_.Nix({"nix-instantiate", "--extra-experimental-features",
                                  "ca-derivations impure-derivations", "--expr", kContentAddressed});
    EXPECT_TRUE(done.ok() && done->status.ok()) << done->err;
    top_ = done->out.substr(0, done->out.find('\n'));
    loader_ = ClosureLoader::Open({.store_root = store_.root()}).value();
    closure_ = loader_->Load(std::vector{top_}).value();
  }
  std::string PathOf(std::string_view name) {
    for (const DerivationId id : closure_.topological()) {
      if (StorePath::Parse(closure_.node(id).path())->name() == absl::StrCat(AbslView(name), ".drv"))
        return closure_.node(id).path();
    }
    return "";
  }
  Derivation Read(std::string_view name) {
    return ParseDerivation(ReadFile(store_.RealPath(PathOf(name))).value()).value();
  }

  TestStore store_;
  std::string top_;
  std::unique_ptr<ClosureLoader> loader_;
  Closure closure_;
};

TEST_F(ContentAddressedTest, EachKindOfOutputIsRecognised) {
  EXPECT_EQ(Read("a").outputs.at("dev").kind(), OutputKind::kFloating);
  EXPECT_EQ(Read("b").outputs.at("out").kind(), OutputKind::kDeferred);
  EXPECT_EQ(Read("c").outputs.at("out").kind(), OutputKind::kFixed);
  EXPECT_EQ(Read("i").outputs.at("out").kind(), OutputKind::kImpure);
  EXPECT_EQ(Read("top").outputs.at("out").kind(), OutputKind::kDeferred);
  EXPECT_FALSE(Read("i").outputs.at("out").fixed());
  EXPECT_EQ(VerifyOutputPaths(closure_, store_.root()), absl::OkStatus());
}

TEST_F(ContentAddressedTest, AnInputIsNamedByItsPlaceholder) {
  EXPECT_EQ(Read("b").environment.at("used"), PlaceholderOfInput(*StorePath::Parse(PathOf("a")), "dev"));
}

TEST_F(ContentAddressedTest, TheDigestIsThatOfTheRealisation) {
  const std::string features = "ca-derivations";
  const auto built =
      store_.Nix({"nix-store", "--realise", PathOf("a"), "--extra-experimental-features", features});
  ASSERT_TRUE(built.ok() && built->status.ok()) << built->err;
  const auto digest = OutputPaths().Compute("a", Read("a"))->digest;
  const auto ask = [&](const std::string& outputs) {
    return store_.Nix({"nix", "realisation", "info", "--json", "--extra-experimental-features", features,
                       PathOf("a") + outputs});
  };
  auto realisation = ask("^*");
  if (realisation.ok() && !realisation->status.ok()) realisation = ask("");  // before Nix 2.15
  ASSERT_TRUE(realisation.ok()) << realisation.status();
  EXPECT_THAT(realisation->out, HasSubstr(absl::StrCat("sha256:", digest.ToBase16(), "!out")))
      << realisation->err;
}

class OutputPathsOfOneTest : public testing::Test {
 protected:
  OutputPathsOfOneTest() {
    const std::string drv =
        store_.Instantiate(ProbeExpression("x", "outputs = [ \"out\" \"dev\" ];")).value();
    path_ = *StorePath::Parse(drv);
    derivation_ = ParseDerivation(ReadFile(store_.RealPath(drv)).value()).value();
  }
  std::string Wrong() { return std::string(OutputPaths().Verify(path_, derivation_).message()); }
  TestStore store_;
  StorePath path_;
  Derivation derivation_;
};

TEST_F(OutputPathsOfOneTest, TheFirstWrongPathIsNamedWithTheRightOne) {
  EXPECT_EQ(Wrong(), "");
  const std::string right = derivation_.outputs["out"].path;
  derivation_.outputs["out"].path = "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-probe";
  EXPECT_THAT(Wrong(),
              HasSubstr("output out: the path is /nix/store/0123456789abcdfghijklmnpqrsvwxyz-probe, but "
                        "should be " +
                        right));
  derivation_.outputs["out"].path = right;
  derivation_.environment["dev"] = "elsewhere";
  EXPECT_THAT(Wrong(), HasSubstr("variable dev: the value should be " + derivation_.outputs["dev"].path));
}

TEST_F(OutputPathsOfOneTest, AChangedDerivationHasOtherOutputs) {
  derivation_.arguments.push_back("more");
  EXPECT_THAT(Wrong(), HasSubstr("output dev: the path is "));
}

TEST_F(OutputPathsOfOneTest, TheFilesOwnPathIsChecked) {
  path_ = *StorePath::Parse("/nix/store/0123456789abcdfghijklmnpqrsvwxyz-probe.drv");
  EXPECT_THAT(Wrong(), HasSubstr("the file's content gives the path /nix/store/"));
}

TEST_F(OutputPathsOfOneTest, AnInputMustBeAddedFirstAndHaveTheOutput) {
  OutputPaths paths;
  Derivation user = derivation_;
  user.input_derivations[path_.path()] = {"dev", "doc"};
  EXPECT_TRUE(absl::IsFailedPrecondition(paths.Compute("user", user).status()));
  ASSERT_TRUE(paths.Add(path_, derivation_).ok());
  EXPECT_THAT(std::string(paths.Compute("user", user).status().message()), HasSubstr("has no output doc"));
}

TEST_F(OutputPathsOfOneTest, OutputsThatDoNotGoTogetherAreRefused) {
  derivation_.outputs["dev"] = {.hash_algo = "r:sha256"};
  EXPECT_THAT(Wrong(), HasSubstr("outputs of two kinds: dev is floating, out is input-addressed"));
  derivation_.outputs = {
      {"dev",
       {.path = derivation_.outputs["out"].path, .hash_algo = "sha256", .hash = HashSha256("").ToBase16()}}};
  EXPECT_THAT(Wrong(), HasSubstr("must be the only one, and be named out"));
}

}  // namespace
}  // namespace hydrant::nix
