// Trees that change, cannot be read or have odd modes.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <functional>

#include "lib/nix/nar_fixture.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Does something at the first block, then checks what comes.
class Meddler final : public Sink {
 public:
  explicit Meddler(std::function<void()> meddle) : meddle_(std::move(meddle)) {}
  absl::Status Write(std::string_view bytes) override {
    if (meddle_) std::exchange(meddle_, nullptr)();
    return verifier_.Write(bytes);
  }
  absl::Status Finish() { return verifier_.Finish().status(); }

 private:
  std::function<void()> meddle_;
  NarVerifier verifier_;
};

TEST(NarTreeTest, FileThatChangesItsSizeMeanwhileIsAnErrorAndTheArchiveIsCutOff) {
  MemoryDir dir;
  const std::string file = dir / "file";
  for (const off_t size : {0, 100, 999'999, 1'000'001, 5'000'000}) {
    ASSERT_TRUE(WriteFileAtomically(file, std::string(1'000'000, 'x')).ok());
    Meddler sink([&] { ASSERT_EQ(truncate(file.c_str(), size), 0); });
    const absl::Status status = DumpPath(file, sink);
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << size;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat(file, ": the file became ", size < 1'000'000 ? "shorter" : "longer")));
    EXPECT_THAT(std::string(sink.Finish().message()), HasSubstr("ends too early")) << size;
  }
}

TEST(NarTreeTest, FileThatSaysItIsEmptyAndIsNotIsAnError) {
  StringSink sink;
  EXPECT_THAT(std::string(DumpPath("/proc/self/status", sink).message()),
              HasSubstr("the file became longer"));
}

// Runs `act` as nobody; its message.
std::string AsNobody(const std::function<absl::Status()>& act) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(1);
    const std::string message = act().ToString();
    _exit(write(ends[1], message.data(), message.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  char message[4096];
  const ssize_t n = read(ends[0], message, sizeof message);
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return {message, static_cast<size_t>(std::max<ssize_t>(n, 0))};
}

TEST(NarTreeTest, WhatCannotBeReadIsNamed) {
  MemoryDir dir;
  ASSERT_TRUE(MakeDirectories(dir / "a/b").ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "a/b/secret", "x").ok());
  ASSERT_EQ(chmod((dir / "a/b/secret").c_str(), 0), 0);
  const auto dump = [&] {
    StringSink sink;
    return DumpPath(dir / "a", sink);
  };
  EXPECT_THAT(AsNobody(dump), StartsWith("PERMISSION_DENIED: open " + (dir / "a/b/secret")));
  ASSERT_EQ(chmod((dir / "a/b").c_str(), 0), 0);
  EXPECT_THAT(AsNobody(dump), StartsWith("PERMISSION_DENIED: open " + (dir / "a/b")));
  ASSERT_EQ(chmod((dir / "a/b").c_str(), 0755), 0);
}

TEST(NarTreeTest, WhatCannotBeWrittenIsNamed) {
  MemoryDir dir;
  const std::string nar = NarTokens({"(", "type", "regular", "contents", "x", ")"});
  EXPECT_THAT(AsNobody([&] {
                StringSource source(nar);
                return RestorePath(source, dir / "out");
              }),
              StartsWith("PERMISSION_DENIED: create " + (dir / "out")));
}

mode_t Mode(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST(NarTreeTest, RestoredModesAreNixsWhateverTheUmask) {
  MemoryDir dir;
  ASSERT_TRUE(MakeDirectories(dir / "tree/folder").ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "tree/run", "x", 04711).ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "tree/file", "x", 0600).ok());
  const std::string nar = OurDump(dir / "tree");
  for (const mode_t mask : {0077, 0022, 0000, 0777}) {
    const std::string ours = dir / absl::StrCat("ours", mask), nixs = dir / absl::StrCat("nix", mask);
    StringSource source(nar);
    const mode_t before = umask(mask);
    const absl::Status restored = RestorePath(source, ours);
    Printed({"nix-store", "--restore", nixs}, nar);
    umask(before);
    ASSERT_TRUE(restored.ok()) << restored;
    for (const char* name : {"", "/folder", "/run", "/file"}) {
      EXPECT_EQ(Mode(ours + name), Mode(nixs + name)) << name << " " << mask;
    }
  }
}

TEST(NarTreeTest, FoldersNestedTooDeepAreRefusedOnBothSides) {
  MemoryDir dir;
  std::string path = dir / "tree";
  for (size_t i = 0; i < kNarMaxDepth; ++i) {
    ASSERT_EQ(mkdir(path.c_str(), 0755), 0);
    path += "/d";
  }
  const std::string nar = OurDump(dir / "tree");
  StringSource source(nar);
  EXPECT_TRUE(RestorePath(source, dir / "again").ok());
  ASSERT_EQ(mkdir(path.c_str(), 0755), 0);
  StringSink sink;
  EXPECT_THAT(std::string(DumpPath(dir / "tree", sink).message()), HasSubstr("deeper than 256"));
}

TEST(NarTreeTest, TooLargeAListingLeavesTheOtherFacts) {
  MemoryDir dir;
  ASSERT_TRUE(MakeDirectories(dir / "tree/a/b").ok());
  const NarFacts all = DescribePath(dir / "tree", {.listing = true}).value();
  const NarFacts facts = DescribePath(dir / "tree", {.listing = true, .max_listing_bytes = 120}).value();
  EXPECT_EQ(facts.listing.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(facts.hash, all.hash);
  EXPECT_TRUE(all.listing.ok());
  EXPECT_EQ(DescribePath(dir / "tree").value().listing.status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace hydrant::nix
