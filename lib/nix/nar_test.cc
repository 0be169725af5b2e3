#include "lib/nix/nar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <random>

#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "lib/nix/nar_fixture.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kReference = "0c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d";

// A tree with everything that an archive can hold.
void MakeTree(const std::string& root) {
  ASSERT_TRUE(MakeDirectories(root + "/bin").ok());
  ASSERT_TRUE(MakeDirectories(root + "/empty").ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/bin/run", "#!/nix/store/" + kReference + "-sh\n", 0755).ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/nothing", "").ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/eight", "12345678").ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/Name with blanks ü", "x").ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/name-2", "x").ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/name", std::string(1'500'001, 'b')).ok());
  ASSERT_EQ(symlink("../target that is not there", (root + "/bin/link").c_str()), 0);
}

// What checking and restoring say; they must agree.
absl::Status Refusal(const std::string& nar) {
  NarVerifier verifier;
  absl::Status status = verifier.Write(nar);
  if (status.ok()) status = verifier.Finish().status();
  TestDir dir;
  StringSource source(nar);
  EXPECT_EQ(RestorePath(source, dir / "out").ok(), status.ok());
  return status;
}

TEST(NarTest, DumpIsWhatNixDumps) {
  TestDir dir;
  MakeTree(dir / "tree");
  EXPECT_EQ(OurDump(dir / "tree"), NixDump(dir / "tree"));
  EXPECT_EQ(OurDump(dir / "tree/bin/run"), NixDump(dir / "tree/bin/run"));
  EXPECT_EQ(OurDump(dir / "tree/bin/link"), NixDump(dir / "tree/bin/link"));
}

TEST(NarTest, RestoredTreeDumpsToTheSameBytes) {
  TestDir dir;
  MakeTree(dir / "tree");
  const std::string nar = OurDump(dir / "tree");
  StringSource source(nar);
  ASSERT_TRUE(RestorePath(source, dir / "again").ok());
  EXPECT_EQ(OurDump(dir / "again"), nar);
}

TEST(NarTest, RestoreDoesNotTouchWhatExists) {
  TestDir dir;
  MakeTree(dir / "tree");
  ASSERT_TRUE(WriteFileAtomically(dir / "file", "x").ok());
  ASSERT_TRUE(MakeDirectories(dir / "folder").ok());
  ASSERT_EQ(symlink("/nowhere", (dir / "link").c_str()), 0);
  const std::string nar = OurDump(dir / "tree");
  for (const char* existing : {"file", "folder", "link"}) {
    StringSource source(nar);
    EXPECT_EQ(RestorePath(source, dir / existing).code(), absl::StatusCode::kAlreadyExists) << existing;
  }
}

TEST(NarTest, SocketCannotBeArchivedAndIsNamed) {
  TestDir dir;
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  StringSink sink;
  EXPECT_THAT(std::string(DumpPath(dir / "pipe", sink).message()),
              HasSubstr("pipe: expected a file, symlink or folder"));
  EXPECT_EQ(DumpPath(dir / "absent", sink).code(), absl::StatusCode::kNotFound);
}

TEST(NarVerifierTest, RealArchiveInRandomPieces) {
  TestDir dir;
  MakeTree(dir / "tree");
  const std::string nar = NixDump(dir / "tree");
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    NarVerifier verifier({kReference, std::string(32, 'z')});
    const size_t most = size_t{1} << round;
    for (size_t at = 0; at < nar.size();) {
      const size_t piece = 1 + random() % most;
      ASSERT_TRUE(verifier.Write(std::string_view(nar).substr(at, piece)).ok());
      at += piece;
    }
    const NarFacts facts = verifier.Finish().value();
    EXPECT_EQ(facts.hash, HashSha256(nar));
    EXPECT_EQ(facts.size, nar.size());
    EXPECT_THAT(facts.references, ElementsAre(kReference));
  }
}

TEST(NarVerifierTest, EveryTruncationOfASmallArchiveIsRefused) {
  const std::string nar = NarTokens({"(", "type", "directory", "entry", "(", "name", "a", "node", "(", "type",
                                     "regular", "contents", "12345", ")", ")", ")"});
  EXPECT_TRUE(Refusal(nar).ok());
  for (size_t length = 0; length < nar.size(); ++length) {
    NarVerifier verifier;
    ASSERT_TRUE(verifier.Write(nar.substr(0, length)).ok());
    EXPECT_THAT(std::string(verifier.Finish().status().message()), HasSubstr("ends too early"));
  }
  EXPECT_THAT(std::string(Refusal(nar + '\0').message()), HasSubstr("more bytes follow"));
}

struct Fault {
  std::string nar, message;
};

TEST(NarVerifierTest, FaultsAreRefusedWithOffset) {
  const auto entry = [](std::string_view name) {
    return NarToken("entry") + NarToken("(") + NarToken("name") + NarToken(name) + NarToken("node") +
           NarToken("(") + NarToken("type") + NarToken("regular") + NarToken("contents") + NarToken("") +
           NarToken(")") + NarToken(")");
  };
  const std::string directory = NarTokens({"(", "type", "directory"}),
                    file = NarTokens({"(", "type", "regular", "contents"});
  std::string deep = NarToken("nix-archive-1");
  for (int i = 0; i < 300; ++i) {
    for (const char* token : {"(", "type", "directory", "entry", "(", "name", "a", "node"})
      deep += NarToken(token);
  }
  std::string bad_padding = file + NarToken("12345") + NarToken(")");
  bad_padding[file.size() + 8 + 7] = 'x';
  for (const Fault& f : std::vector<Fault>{
           {NarToken("nix-archive-2") + NarToken("("), "NAR byte 0: expected \"nix-archive-1\""},
           {std::string(8, '\xff'), "NAR byte 0: expected \"nix-archive-1\" of at most 64"},
           {NarTokens({"(", "type", "device"}), "NAR byte 56: expected \"regular\""},
           {directory + entry("b") + entry("a") + NarToken(")"), "a name after \"b\""},
           {directory + entry("a") + entry("a") + NarToken(")"), "a name after \"a\""},
           {directory + entry("") + NarToken(")"), "the name of a file"},
           {directory + entry(".") + NarToken(")"), "the name of a file"},
           {directory + entry("..") + NarToken(")"), "the name of a file"},
           {directory + entry("a/b") + NarToken(")"), "the name of a file"},
           {directory + entry(std::string_view("a\0b", 3)) + NarToken(")"), "the name of a file"},
           {directory + entry(std::string(256, 'a')) + NarToken(")"), "a name of at most 255"},
           {NarTokens({"(", "type", "symlink", "target", std::string(4096, 'a'), ")"}),
            "target of at most 4095"},
           {NarTokens({"(", "type", "symlink", "target", "", ")"}), "not empty"},
           {NarTokens({"(", "type", "regular", "executable", "yes", "contents", "", ")"}),
            "expected \"\", got \"yes\""},
           {NarTokens({"(", "type", "regular", "contents", "", "contents"}), "after the contents"},
           {file + std::string(8, '\xff'), "file size below 2^63"},
           {bad_padding, "padding"},
           {deep, "deeper than 256"}}) {
    const absl::Status status = Refusal(f.nar);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << f.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(f.message));
  }
}

TEST(NarVerifierTest, FileWithoutContentsIsEmpty) {
  EXPECT_TRUE(Refusal(NarTokens({"(", "type", "regular", ")"})).ok());
  EXPECT_TRUE(Refusal(NarTokens({"(", "type", "regular", "executable", "", ")"})).ok());
}

}  // namespace
}  // namespace hydrant::nix
