#include "lib/nix/nar_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lib/base/file.h"
#include "lib/nix/nar.h"
#include "lib/nix/nar_listing_json.h"
#include "lib/nix/test_store.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void MakeTree(const std::string& root) {
  ASSERT_TRUE(MakeDirectories(root + "/sub/empty").ok());
  ASSERT_TRUE(MakeDirectories(root + "/sub/z").ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/run", "x", 0755).ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/nothing", "").ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/q\"uo\\te\ttab\nnew\rline\x01\b\x7Fü", "12345678").ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/sub/.hidden", "", 0755).ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/sub/z/last", std::string(100'001, 'b')).ok());
  ASSERT_EQ(symlink("../no\"where", (root + "/sub/link").c_str()), 0);
}

std::string Dump(const std::string& path) {
  StringSink sink;
  EXPECT_TRUE(DumpPath(path, sink).ok());
  return sink.value;
}

NarListing List(const std::string& path) {
  const std::string nar = Dump(path);
  StringSource source(nar);
  return ListNar(source).value();
}

std::string Out(absl::StatusOr<Completed> done) {
  EXPECT_TRUE(done.ok() && done->status.ok()) << done.status() << (done.ok() ? done->err : "");
  return done.ok() ? done->out : "";
}

TEST(NarListingTest, PrintsWhatNixPrints) {
  const TestStore store;
  MakeTree(store.dir() / "tree");
  const std::string nar = store.dir() / "nar";
  ASSERT_TRUE(WriteFileAtomically(nar, Dump(store.dir() / "tree")).ok());
  const NarListing listing = List(store.dir() / "tree");
  for (const std::string path : {"/", "/sub", "/sub/link", "/run", "/sub/empty"}) {
    for (const std::string flags : {"", "l", "R", "d", "lR", "ld"}) {
      const ListFormat format{.details = flags.find('l') != std::string::npos,
                              .recursive = flags.find('R') != std::string::npos,
                              .folder_itself = flags.find('d') != std::string::npos};
      std::vector<std::string> argv = {"nix", "nar", "ls", nar, path};
      if (!flags.empty()) argv.push_back("-" + flags);
      EXPECT_EQ(PrintListing(listing, path, format).value(), Out(store.Nix(argv))) << flags << " " << path;
    }
  }
}

TEST(NarListingTest, JsonIsWhatNixWritesIntoACache) {
  const TestStore store;
  MakeTree(store.dir() / "tree");
  ASSERT_TRUE(WriteFileAtomically(store.dir() / "file", "x").ok());
  ASSERT_EQ(symlink("target", (store.dir() / "link").c_str()), 0);
  for (const char* name : {"tree", "file", "link", "tree/sub/empty"}) {
    std::string path = Out(store.Nix({"nix-store", "--add", store.dir() / name}));
    path.pop_back();
    const std::string cache = store.dir() / "cache";
    Out(store.Nix({"nix", "copy", "--to", absl::StrCat("file://", cache, "?write-nar-listing=true"), path}));
    const std::string ls = ReadFile(absl::StrCat(cache, "/", path.substr(11, 32), ".ls")).value();
    const std::string ours = PrintListingJson(List(store.dir() / name)).value();
    EXPECT_EQ(PrintListingJson(ParseListingJson(ls).value()).value(), ours);
    EXPECT_EQ(nlohmann::json::parse(ours), nlohmann::json::parse(ls));
    // Newer versions of Nix sort the keys; before, the bytes are the same.
    if (ls.starts_with("{\"version\"")) {
      EXPECT_EQ(ours, ls);
    }
  }
}

TEST(NarListingTest, EntryIsFoundByItsPath) {
  TestDir dir;
  MakeTree(dir / "tree");
  const NarListing listing = List(dir / "tree");
  const NarEntry& last = listing.entries()[listing.Find("sub/z/last").value()];
  EXPECT_EQ(last.name, "last");
  EXPECT_EQ(last.size, 100'001u);
  EXPECT_EQ(last.depth, 3);
  EXPECT_EQ(Dump(dir / "tree").substr(last.nar_offset, last.size), std::string(100'001, 'b'));
  EXPECT_EQ(listing.Find("").value(), 0u);
  EXPECT_EQ(listing.Find("/").value(), 0u);
  EXPECT_EQ(listing.Find("/sub/").value(), listing.Find("sub").value());
}

TEST(NarListingTest, WhatIsMissingIsToldWithWhatIsThere) {
  TestDir dir;
  MakeTree(dir / "tree");
  const NarListing listing = List(dir / "tree");
  const auto message = [&](std::string_view path) {
    const absl::Status status = listing.Find(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << path;
    return std::string(status.message());
  };
  EXPECT_EQ(message("sub/hidden"), R"(no "hidden" in "sub/"; it has ".hidden", "empty", "link", "z")");
  EXPECT_EQ(message("/sub/empty/x"), R"(no "x" in "sub/empty/"; it is empty)");
  EXPECT_EQ(message("run/x/y"), R"(no "x" in "run/", which is no folder)");
  EXPECT_THAT(message("//sub"), HasSubstr(R"(no "" in the archive's root)"));
}

TEST(NarListingTest, TooLargeAListingIsRefusedBeforeItTakesTheMemory) {
  TestDir dir;
  MakeTree(dir / "tree");
  const std::string nar = Dump(dir / "tree");
  StringSource source(nar);
  EXPECT_EQ(ListNar(source, 300).status().code(), absl::StatusCode::kResourceExhausted);
  const std::string json = PrintListingJson(List(dir / "tree")).value();
  EXPECT_EQ(ParseListingJson(json, 300).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(NarListingTest, NameThatIsNotUtf8IsListedButNotAsJson) {
  TestDir dir;
  for (const std::string name :
       {"\xE9", "a\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\x80"}) {
    const std::string root = dir / absl::StrCat("t", absl::BytesToHexString(name));
    ASSERT_TRUE(MakeDirectories(root).ok());
    ASSERT_TRUE(WriteFileAtomically(root + "/" + name, "x").ok());
    const NarListing listing = List(root);
    EXPECT_EQ(PrintListing(listing, "", {}).value(), "./" + name + "\n");
    EXPECT_THAT(std::string(PrintListingJson(listing).status().message()), HasSubstr("is not UTF-8"));
  }
  ASSERT_EQ(symlink("\xE9", (dir / "link").c_str()), 0);
  EXPECT_THAT(std::string(PrintListingJson(List(dir / "link")).status().message()), HasSubstr("the target"));
}

TEST(NarListingTest, KeysOfAnObjectMayComeInAnyOrder) {
  const NarListing listing =
      ParseListingJson(R"( {"root": {"entries": {"a": {"narOffset": 96, "size": 3, "executable": false,
        "type": "regular"}, "b": {"target": "\u00fc", "type": "symlink"}}, "type": "directory"}, "version": 1}
        )")
          .value();
  EXPECT_EQ(
      PrintListingJson(listing).value(),
      R"({"version":1,"root":{"type":"directory","entries":{"a":{"type":"regular","size":3,"narOffset":96},)"
      R"("b":{"type":"symlink","target":"ü"}}}})");
}

struct Fault {
  std::string from, to, message;
};

TEST(NarListingTest, BadJsonIsRefusedWithPlaceAndField) {
  const std::string good =
      R"({"version":1,"root":{"type":"directory","entries":{"a":{"type":"directory","entries":)"
      R"({"x":{"type":"regular","size":1,"narOffset":96}}},"b":{"type":"symlink","target":"t"}}}})";
  ASSERT_TRUE(ParseListingJson(good).ok());
  for (const Fault& f : std::vector<Fault>{
           {R"("version":1)", R"("version":2)", "version: expected 1, got 2"},
           {R"("version":1)", R"("version":"1")", "expected another value of \"version\", got a string"},
           {R"("version":1,)", "", "\"version\" or \"root\" is missing"},
           {R"("version":1,)", R"("version":1,"more":1,)",
            "unknown field \"more\", expected one of version, root"},
           {R"("size":1)", R"("size":1,"mode":1)", "listing at /a/x: unknown field \"mode\""},
           {R"("size":1)", R"("size":1,"size":1)", "listing at /a/x: the field \"size\" is there twice"},
           {R"("size":1)", R"("size":-1)",
            "listing at /a/x: expected another value of \"size\", got a negative"},
           {R"("size":1)", R"("size":1.5)", "got a fraction"},
           {R"("size":1)", R"("size":9223372036854775808)", "size: expected less than 2^63"},
           {R"("size":1)", R"("size":99999999999999999999)", "got a fraction"},
           {R"("size":1,)", "", "listing at /a/x: a regular needs the field \"size\""},
           {R"("size":1)", R"("size":{})", "expected another value of \"size\", got an object"},
           {R"("size":1)", R"("size":1,"target":"t")", "a regular has no field \"target\""},
           {R"("target":"t")", R"("target":"")", "listing at /b: target: expected 1 to 4095 bytes"},
           {R"("target":"t")", R"("target":"\u0000")", "listing at /b: target: expected"},
           {R"("symlink")", R"("device")", "listing at /b: type: expected"},
           {R"("b":{)", R"("a":{)", "expected a name after \"a\" in byte order, got \"a\""},
           {R"("b":{)", R"("B":{)", "expected a name after \"a\" in byte order, got \"B\""},
           {R"("b":{)", R"("..":{)", "no archive can have the name \"..\""},
           {R"("x":{)", R"("x/y":{)", "no archive can have the name \"x/y\""},
           {R"("x":{)", R"("x\u0000":{)", "no archive can have the name \"x\\x00\""},
           {R"("x":{)", "\"\xE9\":{", "not JSON"},
           {R"("b":{)", R"("b":[],"c":{)", "expected an object for each entry, got an array"},
           {R"({"version")", R"([{"version")", "expected an object with version and root, got an array"},
           {R"("t"}}}})", R"("t"}}})", "not JSON"},
           {R"("t"}}}})", R"("t"}}}}})", "not JSON"},
           {R"({"version":1)", R"(true)", "got true or false"}}) {
    const std::string text = absl::StrReplaceAll(good, {{f.from, f.to}});
    ASSERT_NE(text, good) << f.from;
    const absl::Status status = ParseListingJson(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << f.to;
    EXPECT_THAT(std::string(status.message()), HasSubstr(f.message)) << f.to;
  }
}

TEST(NarListingTest, JsonThatIsNestedTooDeepIsRefused) {
  std::string text = R"({"version":1,"root":)";
  for (int i = 0; i < 100'000; ++i) text.append(R"({"type":"directory","entries":{"a":)");
  EXPECT_THAT(std::string(ParseListingJson(text).status().message()), HasSubstr("deeper than 256"));
  EXPECT_EQ(ParseListingJson(std::string(1'000'000, '[')).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hydrant::nix
