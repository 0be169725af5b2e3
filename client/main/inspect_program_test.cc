// `hydrant inspect` as users run it, against the machine's Nix where there is something to agree with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/run_program.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "lib/nix/narinfo.h"
#include "lib/nix/signing_key.h"
#include "lib/nix/test_store.h"

namespace hydrant::client {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

void Write(const std::string& path, std::string_view bytes) {
  ASSERT_TRUE(WriteFileAtomically(path, bytes).ok()) << path;
}

std::string Read(const std::string& path) { return ReadFile(path).value_or("cannot read " + path); }

Ran Inspect(std::vector<std::string> arguments, std::string_view input = {}) {
  arguments.insert(arguments.begin(), "inspect");
  return RunHydrant(std::move(arguments), {}, input);
}

constexpr char kHash[] = "0123456789abcdfghijklmnpqrsvwxyz";

// A derivation with one of everything that is printed.
std::string SampleDerivation() {
  return absl::StrReplaceAll(
      R"(Derive([("dev","/nix/store/H-a-dev","",""),("out","/nix/store/H-a","","")],)"
      R"([("/nix/store/H-b.drv",["dev","out"])],["/nix/store/H-c.patch"],"x86_64-linux","/bin/sh",["-c","echo \"x\"\n"],)"
      R"([("name","a"),("out","/nix/store/H-a"),("requiredSystemFeatures","cuda big-parallel"),("title","\tb)"
      "\x1b[2J\xff"
      R"(")]))",
      {{"H", kHash}});
}

class InspectDerivationTest : public ::testing::Test {
 protected:
  InspectDerivationTest() { Write(drv, SampleDerivation()); }
  TestDir dir;
  const std::string drv = dir / "a.drv";
};

TEST_F(InspectDerivationTest, AsTextShowsAllOfItAndNothingThatATerminalObeys) {
  const Ran ran = Inspect({"derivation", drv});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(
      absl::StrReplaceAll(ran.out, {{drv, "a.drv"}, {kHash, "H"}}),
      "a.drv\n"
      "  name        a\n"
      "  system      x86_64-linux\n"
      "  features    big-parallel cuda\n"
      "  builder     /bin/sh\n"
      "  arguments\n    -c\n    echo \"x\"\\n\n"
      "  outputs\n    dev  input-addressed  /nix/store/H-a-dev\n    out  input-addressed  /nix/store/H-a\n"
      "  inputs\n    /nix/store/H-b.drv  dev out\n"
      "  sources\n    /nix/store/H-c.patch\n"
      "  environment\n    name=a\n    out=/nix/store/H-a\n    requiredSystemFeatures=cuda big-parallel\n"
      "    title=\\tb\\x1b[2J\\xff\n");
}

TEST_F(InspectDerivationTest, AsJsonHasEachPartUnderItsName) {
  const Ran ran = Inspect({"derivation", drv, "-o", "jsonl"});
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr(R"("required_system_features":["big-parallel","cuda"])"),
                    HasSubstr(R"("out":{"kind":"input-addressed","path":"/nix/store/)"),
                    HasSubstr(R"("arguments":["-c","echo \"x\"\n"])"), HasSubstr(R"(-b.drv":["dev","out"]})"),
                    HasSubstr(R"("structured_attributes":null)"), HasSubstr("\xef\xbf\xbd")));
}

TEST_F(InspectDerivationTest, SeveralAreAListInJson) {
  EXPECT_THAT(Inspect({"derivation", drv, drv, "-o", "json"}).out, StartsWith("{\n  \"derivations\": [\n"));
}

TEST_F(InspectDerivationTest, RoundtripIsSilentWhenTheBytesAreTheSame) {
  const Ran ran = Inspect({"derivation", drv, "--roundtrip"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out + ran.err, IsEmpty());
}

TEST_F(InspectDerivationTest, RoundtripNamesTheFirstByteThatDiffers) {
  const std::string aterm = SampleDerivation();
  const std::string other = absl::StrReplaceAll(aterm, {{R"(["dev","out"])", R"(["out","dev"])"}});
  Write(drv, other);
  const Ran ran = Inspect({"derivation", drv, "--roundtrip"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("a.drv: "),
                             HasSubstr(absl::StrCat("byte ", aterm.find("\"dev\",\"out\"") + 1))));
}

TEST_F(InspectDerivationTest, AFaultyFileIsNamedWithItsOffsetAndTheOthersAreStillRead) {
  Write(dir / "bad.drv", R"(Derive([("out","/nix/store)");
  const Ran ran = Inspect({"derivation", dir / "bad.drv", drv});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, HasSubstr("bad.drv: derivation: byte 15: expected"));
  EXPECT_THAT(ran.out, HasSubstr("name        a"));
  EXPECT_EQ(Inspect({"derivation", dir / "none.drv"}).exit, 2);
}

TEST(InspectStore, AStorePathIsReadBelowTheRootThatIsGiven) {
  nix::TestStore store;
  const auto drv = store.Instantiate(nix::ProbeExpression("echo x > $out"));
  ASSERT_TRUE(drv.ok()) << drv.status();
  EXPECT_EQ(Inspect({"derivation", *drv}).exit, 2);
  const Ran ran = Inspect({"derivation", "--store", store.root(), *drv + "!out"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith(*drv + "\n  name        probe\n"));
  EXPECT_EQ(Inspect({"derivation", "--store", store.root(), "--roundtrip", *drv}).exit, 0);
}

// b needs a, both of one store.
constexpr char kTwo[] =
    "let sh = { system = \"x86_64-linux\"; builder = \"/bin/sh\"; }; a = derivation (sh // { name = \"a\"; "
    "outputHashMode "
    "= \"flat\"; outputHashAlgo = \"sha256\"; outputHash = builtins.hashString \"sha256\" \"a\"; }); in "
    "derivation (sh // "
    "{ name = \"b\"; args = [ \"${a}\" ]; requiredSystemFeatures = [ \"cuda\" ]; })";

class InspectClosureTest : public ::testing::Test {
 protected:
  InspectClosureTest() : drv(store.Instantiate(kTwo).value()) {}
  Ran Closure(std::vector<std::string> more) {
    more.insert(more.begin(), {"closure", "--store", store.root()});
    return Inspect(more);
  }
  nix::TestStore store;
  const std::string drv;
};

TEST_F(InspectClosureTest, CountsAndListsInOrder) {
  const Ran text = Closure({drv});
  EXPECT_THAT(text.out, StartsWith("2 derivations, 1 edge, 2 outputs, 1 fixed-output\n/nix/store/"))
      << text.err;
  EXPECT_THAT(text.out, HasSubstr("\n" + drv + "\n"));
  const Ran json = Closure({drv, "-o", "json"});
  EXPECT_THAT(
      json.out,
      StartsWith("{\n  \"derivations\": 2,\n  \"edges\": 1,\n  \"outputs\": 2,\n  \"fixed_output\": 1,\n"
                 "  \"paths\": [\n    \"/nix/store/"));
}

TEST_F(InspectClosureTest, JsonLinesAreTheGraphInputsFirst) {
  const Ran ran = Closure({drv, "-o", "jsonl"});
  const std::vector<std::string> lines = absl::StrSplit(ran.out, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 2u) << ran.err;
  EXPECT_THAT(lines[0], AllOf(HasSubstr("-a.drv\",\"system\":\"x86_64-linux\""), HasSubstr("\"inputs\":{}")));
  EXPECT_THAT(lines[1],
              AllOf(HasSubstr("\"required_system_features\":[\"cuda\"]"), HasSubstr("-a.drv\":[\"out\"]}}")));
}

TEST_F(InspectClosureTest, ALinkIntoTheStoreIsFollowed) {
  const std::string link = store.dir() / "link";
  ASSERT_EQ(symlink(store.RealPath(drv).c_str(), link.c_str()), 0);
  EXPECT_EQ(Closure({link}).out, Closure({drv + "!out"}).out);
}

TEST_F(InspectClosureTest, VerifyNamesADerivationWhosePathsDoNotFollowFromIt) {
  const Ran right = Closure({drv, "--verify"});
  EXPECT_EQ(right.exit, 0) << right.err;
  EXPECT_THAT(right.out + right.err, IsEmpty());
  const std::string file = store.RealPath(drv);
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  Write(file, absl::StrReplaceAll(Read(file), {{"\"/bin/sh\"", "\"/bin/ash\""}}));
  const Ran wrong = Closure({drv, "--verify"});
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_THAT(wrong.err, HasSubstr(drv));
}

TEST_F(InspectClosureTest, WhatIsNoDerivationIsAnErrorOfUsageAndAHoleIsNot) {
  EXPECT_THAT(Closure({"/nix/store/x"}).err, StartsWith("hydrant: /nix/store/x: "));
  EXPECT_EQ(Closure({"/nix/store/x"}).exit, 2);
  EXPECT_EQ(Inspect({"closure", drv}).exit, 2);
  const Ran graph = Closure({drv, "-o", "jsonl"});
  const size_t input = graph.out.find("/nix/store/");
  ASSERT_EQ(unlink(store.RealPath(graph.out.substr(input, graph.out.find('"', input) - input)).c_str()), 0);
  const Ran ran = Closure({drv});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("-a.drv"), HasSubstr(drv)));
}

class InspectNarTest : public ::testing::Test {
 protected:
  InspectNarTest() {
    EXPECT_TRUE(MakeDirectories(tree + "/sub/empty").ok());
    Write(tree + "/sub/file", "contents\n");
    Write(tree + "/odd\xe9 name", "");
    Write(tree + "/tool", "#!/bin/sh\n");
    chmod((tree + "/tool").c_str(), 0755);
    EXPECT_EQ(symlink("../nowhere", (tree + "/sub/link").c_str()), 0);
    nar = hydrant::Run({.argv = {"nix-store", "--dump", tree}}).value().out;
  }
  TestDir dir;
  const std::string tree = dir / "tree";
  std::string nar;
};

TEST_F(InspectNarTest, DumpGivesTheBytesThatNixGives) { EXPECT_EQ(Inspect({"nar", "dump", tree}).out, nar); }

TEST_F(InspectNarTest, RestoreMakesATreeThatNixDumpsAlike) {
  const Ran ran = Inspect({"nar", "restore", dir / "new"}, nar);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(hydrant::Run({.argv = {"nix-store", "--dump", dir / "new"}}).value().out, nar);
}

TEST_F(InspectNarTest, HashIsThatOfNix) {
  const auto nix = hydrant::Run({.argv = {"nix-hash", "--type", "sha256", "--base32", tree}});
  EXPECT_EQ(Inspect({"nar", "hash", tree}).out, "sha256:" + nix->out);
  EXPECT_THAT(Inspect({"nar", "hash", tree, "-o", "jsonl"}).out,
              HasSubstr(absl::StrCat("\"nar_size\":", nar.size(), "}")));
}

TEST_F(InspectNarTest, ListShowsEveryEntryWithItsOddNameEscaped) {
  EXPECT_EQ(Inspect({"nar", "list"}, nar).out,
            "mode        size  path\n"
            "dr-xr-xr-x        .\n"
            "-r--r--r--     0  odd\\xe9 name\n"
            "dr-xr-xr-x        sub\n"
            "dr-xr-xr-x        sub/empty\n"
            "-r--r--r--     9  sub/file\n"
            "lrwxrwxrwx        sub/link -> ../nowhere\n"
            "-r-xr-xr-x    10  tool\n");
}

TEST_F(InspectNarTest, ListAsJsonIsTheLsOfACache) {
  const std::string plain = hydrant::Run({.argv = {"nix-store", "--dump", tree + "/sub"}}).value().out;
  EXPECT_THAT(Inspect({"nar", "list", "-o", "json"}, plain).out,
              AllOf(StartsWith(R"({"version":1,"root":{"type":"directory","entries":{"empty":)"),
                    EndsWith("}}}}\n")));
  EXPECT_THAT(Inspect({"nar", "list", "-o", "jsonl"}, plain).out,
              HasSubstr(R"({"path":"link","type":"symlink","target":"../nowhere"})"
                        "\n"));
  const Ran odd = Inspect({"nar", "list", "-o", "json"}, nar);
  EXPECT_EQ(odd.exit, 1);
  EXPECT_THAT(odd.err, HasSubstr("UTF-8"));
}

TEST_F(InspectNarTest, AHalfRestoredTreeIsRemoved) {
  const Ran ran = Inspect({"nar", "restore", dir / "new"}, std::string_view(nar).substr(0, nar.size() - 100));
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("NAR byte "), HasSubstr("the archive ends too early")));
  EXPECT_FALSE(FileExists(dir / "new"));
}

TEST_F(InspectNarTest, ARestoreThatCannotBeUndoneTellsFirstWhatWentWrong) {
  std::string deep = tree;
  for (int i = 0; i < 60; ++i) deep += "/d";
  ASSERT_TRUE(MakeDirectories(deep).ok());
  Write(dir / "nar", hydrant::Run({.argv = {"nix-store", "--dump", tree}}).value().out);
  const Completed done =
      hydrant::Run({.argv = {"bash", "-c", "ulimit -n 32; exec \"$0\" inspect nar restore \"$1\" <\"$2\"",
                             HYDRANT_BIN_DIR "/hydrant", dir / "new", dir / "nar"}})
          .value();
  EXPECT_EQ(done.status.code, 1);
  EXPECT_THAT(done.err, StartsWith("hydrant: restore " + (dir / "new") + ": "));
  EXPECT_THAT(done.err, HasSubstr("Too many open files; what was made is left: "));
}

TEST_F(InspectNarTest, WhatIsThereIsNeitherOverwrittenNorRemoved) {
  const Ran ran = Inspect({"nar", "restore", tree}, nar);
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("expected a path where nothing is yet"));
  EXPECT_EQ(Read(tree + "/sub/file"), "contents\n");
  EXPECT_EQ(Inspect({"nar", "restore", dir / "no/folder"}, nar).exit, 2);
}

TEST_F(InspectNarTest, AnInterruptedRestoreLeavesNothing) {
  Write(tree + "/big", std::string(1'000'000, 'x'));
  nar = hydrant::Run({.argv = {"nix-store", "--dump", tree}}).value().out;
  auto process =
      Subprocess::Start({.argv = {HYDRANT_BIN_DIR "/hydrant", "inspect", "nar", "restore", dir / "new"},
                         .pipe_stdin = true,
                         .pipe_stderr = true});
  ASSERT_TRUE(process.ok());
  // More than a pipe holds: once all is written the program has made what the first bytes tell of.
  ASSERT_EQ(write((*process)->stdin_fd().get(), nar.data(), 400'000), 400'000);
  (*process)->Signal(SIGTERM);
  EXPECT_EQ((*process)->Wait().code, 1);
  EXPECT_FALSE(FileExists(dir / "new"));
}

TEST_F(InspectNarTest, AReaderThatLeavesAndAFullDiskAreErrors) {
  const auto run = [&](const std::string& command) {
    return hydrant::Run({.argv = {"bash", "-c", command, HYDRANT_BIN_DIR "/hydrant", tree}}).value();
  };
  const Completed full = run("exec \"$0\" inspect nar dump \"$1\" >/dev/full");
  EXPECT_EQ(full.status.code, 1);
  EXPECT_EQ(full.err, "hydrant: write standard output: No space left on device\n");
  Write(tree + "/big", std::string(1'000'000, 'x'));  // more than a pipe holds
  const Completed left = run("{ \"$0\" inspect nar dump \"$1\"; echo $? >&2; } | true");
  EXPECT_EQ(left.err, "hydrant: write standard output: Broken pipe\n1\n");
}

TEST_F(InspectNarTest, WhatCannotBeArchivedIsNamed) {
  EXPECT_EQ(Inspect({"nar", "dump", dir / "none"}).exit, 2);
  ASSERT_EQ(mkfifo((tree + "/pipe").c_str(), 0600), 0);
  const Ran ran = Inspect({"nar", "hash", tree});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, HasSubstr("tree/pipe: expected a file, symlink or folder"));
}

class InspectNarinfoTest : public ::testing::Test {
 protected:
  InspectNarinfoTest() { info.signatures = {key.Sign(nix::Fingerprint(info))}; }
  static nix::NarInfo Sample() {
    return {.store_path = nix::StorePath::Parse(absl::StrCat("/nix/store/", kHash, "-a")).value(),
            .url = "nar/x.nar.zst",
            .compression = "zstd",
            .nar_hash = nix::HashSha256("x"),
            .nar_size = 120};
  }
  Ran Judge(std::vector<std::string> keys, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"narinfo", "-"};
    for (const std::string& text : keys) arguments.insert(arguments.end(), {"--key", text});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Inspect(arguments, nix::PrintNarInfo(info));
  }
  const nix::SecretKey key = nix::SecretKey::Generate("farm-1"), other = nix::SecretKey::Generate("other-1");
  nix::NarInfo info = Sample();
};

TEST_F(InspectNarinfoTest, ShowsTheFieldsAndWhatIsMissing) {
  const Ran ran = Judge({});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("  compression zstd\n"), HasSubstr("  nar size    120\n"),
                             HasSubstr("  signature   farm-1: not judged\n"),
                             HasSubstr("  missing     FileHash FileSize Deriver\n")));
}

TEST_F(InspectNarinfoTest, ASignatureOfAGivenKeySuffices) {
  const std::string good = key.public_key().ToString();
  EXPECT_EQ(Judge({good}).exit, 0);
  EXPECT_THAT(Judge({other.public_key().ToString(), good}).out,
              AllOf(HasSubstr("farm-1: right\n"), HasSubstr("other-1: missing\n")));
}

TEST_F(InspectNarinfoTest, AWrongSignatureIsNamed) {
  info.nar_size = 121;
  const Ran ran = Judge({key.public_key().ToString()}, {"-o", "jsonl"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_EQ(ran.err, "hydrant: -: the signature of farm-1 is not that of this narinfo\n");
  EXPECT_THAT(ran.out, HasSubstr("\"right\":false"));
}

TEST_F(InspectNarinfoTest, AKeyThatSignedNothingIsNamed) {
  const Ran ran = Judge({other.public_key().ToString()});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_EQ(ran.err, "hydrant: -: no signature of other-1; it has one of farm-1\n");
}

TEST_F(InspectNarinfoTest, AFaultyKeyIsAnErrorOfUsageAndAFaultyNarinfoIsNot) {
  EXPECT_EQ(Judge({"farm-1:AAAA"}).exit, 2);
  const Ran ran = Inspect({"narinfo", "-"}, "StorePath: /nix/store/x\n");
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, StartsWith("hydrant: -: narinfo line 1: StorePath"));
}

TEST(InspectClassify, NamesTheClassItsStageAndTheLine) {
  const Ran ran =
      Inspect({"classify", "-o", "jsonl"}, "building\ncp: error writing x: No space left on device\n");
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.out,
            R"({"class":"disk_full","stage":"attempt","fault":"farm","reason":"another worker has more",)"
            R"("retryable":true,"message":"cp: error writing x: No space left on device","line":2})"
            "\n");
}

TEST(InspectClassify, TheStageMayBeGiven) {
  constexpr char kText[] = "Killed signal terminated program";
  EXPECT_THAT(Inspect({"classify", "--stage", "check"}, kText).out,
              StartsWith("wrong_result\n  stage       check\n"));
  EXPECT_THAT(Inspect({"classify"}, "all is well").out, StartsWith("unknown\n"));
  EXPECT_THAT(Inspect({"classify", "--stage", "attemt"}).err, HasSubstr("'attemt' is none of evaluation"));
}

TEST(InspectUsage, AWrongWordIsAnsweredWithTheNearestRightOne) {
  EXPECT_THAT(Inspect({"narinf"}).err, HasSubstr("the nearest is 'narinfo'\ntry 'hydrant inspect --help'"));
  EXPECT_THAT(Inspect({"nar", "hsah"}).err,
              HasSubstr("the nearest is 'hash'\ntry 'hydrant inspect nar --help'"));
  EXPECT_EQ(Inspect({"nar"}).exit, 2);
}

TEST(InspectUsage, EveryVerbExplainsItselfWithAnExample) {
  const std::vector<std::vector<std::string>> verbs = {{"derivation"},  {"nar", "dump"}, {"nar", "restore"},
                                                       {"nar", "list"}, {"nar", "hash"}, {"narinfo"},
                                                       {"classify"}};
  for (std::vector<std::string> words : verbs) {
    words.push_back("--help");
    const Ran ran = Inspect(words);
    EXPECT_EQ(ran.exit, 0);
    EXPECT_THAT(ran.out, AllOf(HasSubstr("Usage: hydrant inspect"), HasSubstr("hydrant inspect " + words[0])))
        << words[0];
  }
}

}  // namespace
}  // namespace hydrant::client
