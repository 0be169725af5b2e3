#include "lib/nix/derivation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "lib/base/file.h"
#include "lib/nix/test_store.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kText[] =
    R"(Derive([("out","/nix/store/8s0dvb1ggh8mzy8wmqaiy8pc9lmgkxk9-a","","")],)"
    R"([("/nix/store/lzq2qy24r5ifd7rhc5wdzrsxfxkbmy4v-b.drv",["dev","out"])],)"
    R"(["/nix/store/9krlzvny65gdc8s7kpb6lkx8cd02c25b-builder.sh"],)"
    R"("x86_64-linux","/bin/sh",["-c","a \"b\" \\\n\r\t\\n"],)"
    R"([("name","a"),("out","/nix/store/8s0dvb1ggh8mzy8wmqaiy8pc9lmgkxk9-a"),("requiredSystemFeatures"," cuda  big-parallel ")]))";

TEST(DerivationTest, AllPartsAreReadAndWrittenBack) {
  const Derivation d = ParseDerivation(kText).value();
  EXPECT_EQ(d.outputs.at("out").path, "/nix/store/8s0dvb1ggh8mzy8wmqaiy8pc9lmgkxk9-a");
  EXPECT_THAT(d.input_derivations.at("/nix/store/lzq2qy24r5ifd7rhc5wdzrsxfxkbmy4v-b.drv"),
              ElementsAre("dev", "out"));
  EXPECT_EQ(d.input_sources.size(), 1u);
  EXPECT_THAT(d.arguments, ElementsAre("-c", "a \"b\" \\\n\r\t\\n"));
  EXPECT_EQ(d.name(), "a");
  EXPECT_THAT(d.required_system_features(), ElementsAre("big-parallel", "cuda"));
  EXPECT_FALSE(d.fixed_output());
  EXPECT_EQ(PrintDerivation(d), kText);
}

struct Refusal {
  std::string from, to, message;
};

TEST(DerivationTest, GarbageIsRefusedWithOffsetAndExpectation) {
  for (const Refusal& r : std::vector<Refusal>{
           {"Derive(", "Derivx(", "byte 5: expected \"e(\", got \"x\""},
           {"Derive(", "DrvWithVersion(\"xp-dyn-drv\",", "byte 0: expected \"Derive(\"; DrvWithVersion"},
           {",\"\",\"\")],", ",\"\")],", "expected \",\", got \")\""},
           {"-b.drv\"", "-b\"", "byte 73: expected a path that ends in .drv"},
           {"\"/nix/store/9krl", "\"/nix/store/../9krl", "byte 142: store path"},
           {"x86_64-linux\",", "x86_64-linux", "expected \",\""},
           {"big-parallel \")])", "big-parallel ", "expected a string, which has no closing quote"},
           {"big-parallel \")])", "big-parallel \\", "no closing quote"},
           {"big-parallel \")])", "big-parallel \")])x", "expected the end of the file"},
           {"(\"name\",\"a\")", "(\"out\",\"a\")", "named twice"},
           {"[(\"out\",\"/nix/store/8s0dvb1ggh8mzy8wmqaiy8pc9lmgkxk9-a\",\"\",\"\")]", "[]",
            "at least one output"}}) {
    const absl::Status status = ParseDerivation(absl::StrReplaceAll(kText, {{r.from, r.to}})).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << r.to;
    EXPECT_THAT(std::string(status.message()), HasSubstr(r.message)) << r.to;
  }
}

TEST(DerivationTest, EveryTruncationIsRefused) {
  for (size_t length = 0; length + 1 < sizeof kText; ++length) {
    EXPECT_FALSE(ParseDerivation(std::string_view(kText).substr(0, length)).ok()) << length;
  }
}

TEST(DerivationTest, StructuredAttributesAreReadFromJson) {
  Derivation d = ParseDerivation(kText).value();
  d.environment = {{"__json", R"({"name":"s","requiredSystemFeatures":["cuda",3]})"},
                   {"requiredSystemFeatures", "kvm"}};
  EXPECT_EQ(d.name(), "s");
  EXPECT_THAT(d.required_system_features(), ElementsAre("cuda"));
  d.environment["__json"] = "{broken";
  EXPECT_THAT(d.required_system_features(), ElementsAre("kvm"));
  d.environment.clear();
  EXPECT_THAT(d.required_system_features(), IsEmpty());
  EXPECT_EQ(d.name(), "");
}

// Escapes, non-ASCII and all kinds of outputs, as Nix itself writes them.
constexpr char kExpression[] = R"nix(
let
  drv = a: derivation ({ system = "x86_64-linux"; builder = "/bin/sh"; } // a);
  source = builtins.toFile "source.txt" "quote \" backslash \\ \n";
  fixed = drv { name = "fixed.tar.gz"; outputHashAlgo = "sha256"; outputHashMode = "flat";
                outputHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; };
  recursive = drv { name = "tree"; outputHashMode = "recursive"; outputHash = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="; };
  many = drv { name = "many+more=1.0?x"; outputs = [ "out" "dev" "lib" ]; inherit fixed recursive source; };
  structured = drv { name = "structured"; __structuredAttrs = true; list = [ 1 "two" { three = "ü"; } ];
                     requiredSystemFeatures = [ "cuda" "big-parallel" ]; };
in drv {
  name = "top";
  args = [ "-c" "line\nline\ttab\rreturn \"quoted\" back\\slash 'single' \${x}" "äöü 日本語 🚰" "" ];
  requiredSystemFeatures = [ "kvm" ];
  empty = ""; path = many.dev; lib = many.lib; inherit structured source;
}
)nix";

TEST(DerivationTest, EveryRealFileOfAClosureComesBackByteForByte) {
  const TestStore store;
  const auto top = store.Instantiate(kExpression);
  ASSERT_TRUE(top.ok()) << top.status();
  const auto closure = store.Nix({"nix-store", "-qR", *top});
  ASSERT_TRUE(closure.ok() && closure->status.ok());
  int derivations = 0;
  const std::vector<std::string> paths = absl::StrSplit(closure->out, '\n', absl::SkipEmpty());
  for (const std::string& path : paths) {
    if (!path.ends_with(".drv")) continue;
    const std::string text = ReadFile(store.RealPath(path)).value();
    const auto derivation = ParseDerivation(text);
    ASSERT_TRUE(derivation.ok()) << path << derivation.status();
    EXPECT_EQ(PrintDerivation(*derivation), text);
    EXPECT_EQ(ParseDerivation(PrintDerivation(*derivation)).value(), *derivation);
    EXPECT_EQ(derivation->fixed_output(), path.ends_with("fixed.tar.gz.drv") || path.ends_with("tree.drv"))
        << path;
    if (path.ends_with("structured.drv")) {
      EXPECT_THAT(derivation->required_system_features(), ElementsAre("big-parallel", "cuda"));
    }
    ++derivations;
  }
  EXPECT_EQ(derivations, 5);
  EXPECT_EQ(ParseDerivation(ReadFile(store.RealPath(*top)).value())->arguments.at(2), "äöü 日本語 🚰");
}

}  // namespace
}  // namespace hydrant::nix
