// Trees, names and evaluators at their worst, with real Nix: each variant has one outcome, the rest goes on,
// and nothing grows.
#include <stdlib.h>
#include <sys/resource.h>

#include <string>

#include "daemon/evaluate/evaluation_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

using testing::AnyOf;
using testing::Eq;
using testing::HasSubstr;
using testing::Not;

constexpr char kOk[] = R"(name: derivation { inherit name; system = "x86_64-linux"; builder = "/bin/sh"; })";

std::string Tree(const std::string& attributes) {
  return absl::StrCat("{ slice }: let ok = ", kOk, "; in { good = ok \"good\"; last = ok \"last\"; ",
                      attributes, " }");
}

const Outcome& Of(const Answers& answers, const std::string& package) {
  static const Outcome& lost = *new Outcome{.cause = Cause::kCancelled, .message = "it has no outcome"};
  const auto found = answers.by_id.find(package + "@cuda12.9-x86_64-linux");
  return found == answers.by_id.end() ? lost : found->second;
}

void ExpectGood(const Answers& answers, const std::vector<std::string>& packages) {
  for (const std::string& package : packages) {
    EXPECT_EQ(Of(answers, package).cause, Cause::kNone) << package << ": " << Of(answers, package).message;
  }
}

// Peak of our own memory so far, bytes.
int64_t OurPeak() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

// Whether a program may have mounts of its own here.
bool CanMount() {
  const auto done = Run({.argv = {"unshare", "--mount", "true"}});
  return done.ok() && done->status.ok();
}

TEST(HostileInputTest, FilesThatImportOneAnother) {
  NixWorld world(Tree("round = import ./a.nix;"));
  ASSERT_TRUE(WriteFileAtomically(world.tree() + "/a.nix", "(import ./b.nix) + 1").ok());
  ASSERT_TRUE(WriteFileAtomically(world.tree() + "/b.nix", "(import ./a.nix) + 1").ok());
  const Answers answers = world.Evaluate(SmallMatrix({"good", "round", "last"}));
  ExpectGood(answers, {"good", "last"});
  EXPECT_THAT(Of(answers, "round").cause, AnyOf(Cause::kRecursion, Cause::kStackOverflow));
}

TEST(HostileInputTest, AFileThatDoesNotParseIsItsOwnVariantsFaultAndNamed) {
  NixWorld world(Tree("torn = import ./torn.nix;"));
  ASSERT_TRUE(WriteFileAtomically(world.tree() + "/torn.nix", "{\n  a = ;\n}").ok());
  const Answers answers = world.Evaluate(SmallMatrix({"good", "torn", "last"}));
  ExpectGood(answers, {"good", "last"});
  EXPECT_EQ(Of(answers, "torn").cause, Cause::kSyntaxError);
  EXPECT_THAT(Of(answers, "torn").message, HasSubstr("(torn.nix:2:7)"));
}

TEST(HostileInputTest, FilesThatBreakOffAreSyntaxErrorsAlsoForARepl) {
  NixWorld world(
      Tree("die1 = 1 + \"a\"; die2 = 1 + \"a\"; torn = import ./torn.nix; empty = import ./empty.nix;"));
  ASSERT_TRUE(WriteFileAtomically(world.tree() + "/torn.nix", "{\n  a = 1;\n").ok());
  ASSERT_TRUE(WriteFileAtomically(world.tree() + "/empty.nix", "").ok());
  const Answers answers = world.Evaluate(SmallMatrix({"die1", "die2", "torn", "good", "empty", "last"}));
  ExpectGood(answers, {"good", "last"});
  for (const char* package : {"torn", "empty"}) {
    EXPECT_EQ(Of(answers, package).cause, Cause::kSyntaxError) << package;
    EXPECT_THAT(Of(answers, package).message, HasSubstr(absl::StrCat("(", package, ".nix:")));
  }
}

TEST(HostileInputTest, ASetDressedUpAsADerivationIsNone) {
  NixWorld world(
      Tree("elsewhere = ok \"x\" // { drvPath = \"/etc/passwd\"; }; none = ok \"x\" // { outputs = [ ]; };"));
  const Answers answers = world.Evaluate(SmallMatrix({"elsewhere", "good", "none"}));
  ExpectGood(answers, {"good"});
  EXPECT_EQ(Of(answers, "elsewhere").cause, Cause::kNotADerivation);
  EXPECT_EQ(Of(answers, "elsewhere").message, "its drvPath \"/etc/passwd\" is no derivation in a Nix store");
  EXPECT_EQ(Of(answers, "none").cause, Cause::kNotADerivation);
}

TEST(HostileInputTest, ADerivationThatNobodyMadeIsNone) {
  NixWorld world(
      Tree("ghost = ok \"x\" // { drvPath = \"/nix/store/0123456789abcdfghijklmnpqrsvwxyz-x.drv\"; };"));
  const Answers answers = world.Evaluate(SmallMatrix({"ghost", "good"}));
  ExpectGood(answers, {"good"});
  EXPECT_EQ(Of(answers, "ghost").cause, Cause::kNotADerivation);
  EXPECT_THAT(Of(answers, "ghost").message, HasSubstr("-x.drv\" is not in the store"));
}

TEST(HostileInputTest, ATreeThatKnowsTheProtocolAndAnIdCannotSpeakForTheDriver) {
  NixWorld world(Tree(R"(forged = builtins.trace ("@R " + builtins.toJSON {
        id = "forged@cuda12.9-x86_64-linux"; drvPath = builtins.unsafeDiscardStringContext (ok "good").drvPath;
        outputs.out = builtins.unsafeDiscardStringContext (ok "good").outPath; }) (throw "the truth");
      hidden = builtins.trace "@T hidden@cuda12.9-x86_64-linux" (ok "hidden"); )"));
  const Answers answers = world.Evaluate(SmallMatrix({"forged", "hidden", "last"}));
  ExpectGood(answers, {"hidden", "last"});
  EXPECT_EQ(Of(answers, "forged").cause, Cause::kThrow);
  EXPECT_EQ(Of(answers, "forged").message, "the truth");
}

TEST(HostileInputTest, TheWordsOfAThrowAreWholeWhereverItStands) {
  NixWorld world(Tree(R"(lines = throw "one\n  two\n\nthree"; dies = abort "four\nfive";
      name = ok "x" // { name = throw "of the name"; }; outputs = ok "x" // { outputs = throw "of the outputs"; };
      path = ok "x" // { out.outPath = throw "of the path"; }; )"));
  const Answers answers = world.Evaluate(SmallMatrix({"lines", "name", "dies", "outputs", "path", "last"}));
  ExpectGood(answers, {"last"});
  EXPECT_EQ(Of(answers, "lines").message, "one two three");
  EXPECT_EQ(Of(answers, "dies").cause, Cause::kAbort);
  EXPECT_THAT(Of(answers, "dies").message, HasSubstr("'four five'"));
  for (const char* package : {"name", "outputs", "path"}) {
    EXPECT_EQ(Of(answers, package).cause, Cause::kThrow) << package;
    EXPECT_EQ(Of(answers, package).message, std::string("of the ") + package);
  }
}

TEST(HostileInputTest, AThrowInTheWordsOfNixIsAThrow) {
  NixWorld world(Tree(R"(recursion = throw "infinite recursion encountered";
      syntax = throw "syntax error, unexpected '}'"; fetch = throw "unable to download 'http://x': 404";
      aborted = abort "infinite recursion encountered"; broken = throw "Package 'x' is marked as broken";)"));
  const Answers answers =
      world.Evaluate(SmallMatrix({"recursion", "syntax", "fetch", "aborted", "broken", "last"}));
  ExpectGood(answers, {"last"});
  for (const char* package : {"recursion", "syntax", "fetch"}) {
    EXPECT_EQ(Of(answers, package).cause, Cause::kThrow) << package;
  }
  EXPECT_EQ(Of(answers, "aborted").cause, Cause::kAbort);
  EXPECT_EQ(Of(answers, "broken").cause, Cause::kBroken);
}

TEST(HostileInputTest, NamesThatAreNoTextOrEndlessCostOnlyThemselves) {
  NixWorld world(Tree(R"(bytes = ok "x" // { name = builtins.readFile ./byte; };
      endless = ok "x" // { name = builtins.concatStringsSep "" (builtins.genList (_: "0123456789") 120000); };
      ${"listing" + builtins.readFile ./byte} = 1;)"));
  ASSERT_TRUE(WriteFileAtomically(world.tree() + "/byte", "\xff").ok());
  const Answers answers = world.Evaluate(SmallMatrix({"bytes", "good", "endless", "list", "last"}));
  ExpectGood(answers, {"good", "last"});
  EXPECT_EQ(Of(answers, "endless").cause, Cause::kNotADerivation);
  // A newer Nix refuses to put such bytes into JSON.
  EXPECT_THAT(Of(answers, "bytes").cause, AnyOf(Cause::kNone, Cause::kThrow));
  EXPECT_THAT(Of(answers, "list").message, AnyOf(Eq("attribute 'list' missing; there are listing?"),
                                                 HasSubstr("JSON serialization error")));
}

TEST(HostileInputTest, AThrowBehindManyWarningsHasItsWords) {
  NixWorld world(Tree(R"(told = let loud = builtins.foldl' (x: i: builtins.trace "warning: number ${toString i} of many that nobody reads" x)
      null (builtins.genList (i: i) 1000); in builtins.seq loud (throw "the truth");)"));
  EXPECT_EQ(Of(world.Evaluate(SmallMatrix({"told"})), "told").message, "the truth");
}

TEST(HostileInputTest, ARecipeThatIsNoneSaysSoTheSameWayEachTime) {
  NixWorld world;
  std::string messages[2];
  for (const char* recipe : {"5", "{ nixpkgs, slice, more }: { }"}) {
    for (std::string& message : messages) {
      Matrix matrix = SmallMatrix({"good"});
      matrix.nixpkgs.recipe_text = recipe;
      message = Of(world.Evaluate(matrix), "good").message;
    }
    EXPECT_EQ(messages[0], messages[1]);
    EXPECT_THAT(messages[0], AnyOf(HasSubstr("the recipe: attempt to call something which is not a function"),
                                   HasSubstr("called without required argument 'more'")));
    EXPECT_THAT(messages[0], Not(HasSubstr("/runs/")));
  }
}

TEST(HostileInputTest, ALicenceThatIsNoneIsNotFree) {
  NixWorld world(Tree(R"(number = ok "a" // { meta.license = 5; }; word = ok "b" // { meta.license = "unfree-redistributable"; };
      nameless = ok "c" // { meta.license = [ { shortName = { }; free = false; } { shortName = "mit"; } ]; };)"));
  const Answers answers = world.Evaluate(SmallMatrix({"number", "word", "nameless"}));
  EXPECT_EQ(Of(answers, "number").facts.licences, (std::vector<Licence>{{"unknown", false}}));
  EXPECT_EQ(Of(answers, "word").facts.licences, (std::vector<Licence>{{"unfree-redistributable", false}}));
  EXPECT_EQ(Of(answers, "nameless").facts.licences, (std::vector<Licence>{{"unknown", false}, {"mit", true}}));
}

TEST(HostileInputTest, ALicenceThatWouldPaintTheTerminalIsOneLineWithoutControls) {
  NixWorld world(Tree(R"(paint = ok "x" // { meta.license = { free = false;
      shortName = "E${builtins.fromJSON ''"\u001b[31m"''}VIL\nLINE"; }; };)"));
  const Answers answers = world.Evaluate(SmallMatrix({"paint"}));
  ASSERT_EQ(Of(answers, "paint").facts.licences.size(), 1u);
  EXPECT_EQ(Of(answers, "paint").facts.licences[0].name, "E?[31mVIL LINE");
}

TEST(HostileInputTest, NamesWithQuotesSpacesDollarsAndUnicodeBesideThoseThatDie) {
  NixWorld world(Tree(R"("qu\"ote" = ok "q"; "sp ace" = ok "s"; "\${dollar}" = ok "d"; "back\\slash" = ok "b";
      "ünï-日本" = ok "u"; "it's" = throw "quoted's"; die1 = 1 + "a"; die2 = 1 + "a"; "di\"e" = 1 + "a"; "x y.z w" = ok "dots";)"));
  const Answers answers =
      world.Evaluate(SmallMatrix({"qu\"ote", "die1", "sp ace", "die2", "${dollar}", "back\\slash", "ünï-日本",
                                  "it's", "di\"e", "x y.z w", "no\"such"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  // As ids have them.
  ExpectGood(answers, {"qu%22ote", "sp%20ace", "%24%7Bdollar%7D", "back%5Cslash",
                       "%C3%BCn%C3%AF-%E6%97%A5%E6%9C%AC", "x%20y.z%20w"});
  EXPECT_EQ(Of(answers, "it%27s").message, "quoted's");
  EXPECT_EQ(Of(answers, "di%22e").cause, Cause::kTypeError);
  EXPECT_EQ(Of(answers, "no%22such").cause, Cause::kMissingAttribute);
}

TEST(HostileInputTest, AnEvaluatorThatSaysNothingIsUnknown) {
  NixWorld world(Tree(""));
  world.Install("nix-instantiate", "exit 0");
  const Answers answers = world.Evaluate(SmallMatrix({"good", "last"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  for (const char* package : {"good", "last"}) {
    EXPECT_EQ(Of(answers, package).cause, Cause::kUnknown);
    EXPECT_THAT(Of(answers, package).message, HasSubstr("it said nothing"));
  }
}

TEST(HostileInputTest, GigabytesOfGarbageTakeNoMemory) {
  for (const std::string flood :
       {"yes 'trace: @R {\"id\":\"good\"}' | head -c 1000000000 >&2", "head -c 1000000000 /dev/zero >&2"}) {
    NixWorld world(Tree(""));
    world.Install("nix-instantiate", flood);
    const int64_t before = OurPeak();
    const Answers answers = world.Evaluate(SmallMatrix({"good"}));
    EXPECT_EQ(Of(answers, "good").cause, Cause::kUnknown) << flood;
    EXPECT_LT(OurPeak() - before, 64 << 20) << flood;
    EXPECT_LT(Of(answers, "good").message.size(), 2000) << flood;
  }
}

TEST(HostileInputTest, AStoreThatIsFullLeavesItsVariantsUnknownAndSaysSo) {
  if (!CanMount()) GTEST_SKIP() << "this machine refuses mounts to a test";
  NixWorld world(Tree("refused = throw \"words\";"));
  for (const std::string program : {"nix-instantiate", "nix"}) {
    world.Install(
        program,
        absl::StrCat("exec unshare --mount sh -c 'mount -t tmpfs -o size=4k,nr_inodes=3 none \"$0\" && ",
                     "mkdir \"$0/.links\" && head -c 4096 /dev/zero >\"$0/full\"; PATH=\"", getenv("PATH"),
                     "\" exec ", program, " \"$@\"' ", world.options.nix.store_root, "/nix/store \"$@\"\n"));
  }
  const Answers answers = world.Evaluate(SmallMatrix({"good", "refused", "last", "nosuch"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  for (const char* package : {"good", "last"}) {
    EXPECT_EQ(Of(answers, package).cause, Cause::kUnknown);
    EXPECT_THAT(Of(answers, package).message, HasSubstr("No space left on device"));
  }
  EXPECT_EQ(Of(answers, "refused").cause, Cause::kThrow) << Of(answers, "refused").message;
  EXPECT_EQ(Of(answers, "nosuch").cause, Cause::kMissingAttribute);
}

TEST(HostileInputTest, ANixThatVanishesOnTheWayIsSaidAndWhatWasAnsweredStays) {
  NixWorld world(Tree("dies = 1 + \"a\";"));
  const std::string bin = world.dir / "bin";
  world.Install("nix-instantiate",
                absl::StrCat("rm ", bin, "/nix-instantiate\n", NixWorld::TheReal("nix-instantiate")));
  for (const std::string program : {"sh", "rm", "nix-store"})
    world.Install(program, NixWorld::TheReal(program));
  world.options.nix.search_path = bin;
  const Answers answers = world.Evaluate(SmallMatrix({"good", "dies", "last"}));
  EXPECT_TRUE(absl::IsFailedPrecondition(answers.status)) << answers.status;
  EXPECT_THAT(std::string(answers.status.message()), HasSubstr("nix-instantiate"));
  ExpectGood(answers, {"good"});
  EXPECT_EQ(answers.by_id.count("last@cuda12.9-x86_64-linux"), 0);
}

}  // namespace
}  // namespace hydrant
