// Trees of 100,000 entries and of a large file: as Nix, in little memory. A program of its own, so that it
// holds little itself.
#include "lib/base/fd_stream.h"
#include "lib/nix/nar_fixture.h"
#include "lib/nix/nar_listing_json.h"
#include "lib/nix/nar_memory_fixture.h"

namespace hydrant::nix {
namespace {

UniqueFd ForReading(const std::string& path) { return UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC)); }
UniqueFd ForWriting(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

std::string NixHash(const std::string& path) { return Printed({"nix-hash", "--type", "sha256", path}); }

absl::Status Expect(bool holds) {
  return holds ? absl::OkStatus() : absl::InternalError("not what was expected");
}

TEST(NarLargeTest, HundredThousandEntries) {
  MemoryDir dir;
  const std::string tree = dir / "tree";
  for (int folder = 0; folder < 10; ++folder) {
    const std::string path = absl::StrCat(tree, "/", folder);
    ASSERT_TRUE(MakeDirectories(path).ok());
    for (int i = 0; i < 9'999; ++i) {  // made in an order that is not theirs
      const std::string name = absl::StrCat(path, "/entry ", i * 7919 % 100'003);
      if (i % 3 == 0) {
        ASSERT_EQ(symlink("a target", name.c_str()), 0);
      } else {
        const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, i % 2 == 0 ? 0755 : 0644);
        ASSERT_GE(fd, 0);
        if (i % 50 == 0) {
          ASSERT_EQ(write(fd, "some", 4), 4);
        }
        close(fd);
      }
    }
  }
  const std::string hash = NixHash(tree), nar = dir / "nar";
  ExpectSmall([&] {
    const UniqueFd out = ForWriting(nar);
    FdSink sink(out.get(), "the archive");
    return DumpPath(tree, sink);
  });
  ExpectSmall([&]() -> absl::Status {
    const UniqueFd in = ForReading(nar);
    FdSource source(in.get(), "the archive");
    NarVerifier verifier(NarQuestions{.listing = true});
    HYDRANT_RETURN_IF_ERROR(Copy(source, verifier).status());
    HYDRANT_ASSIGN_OR_RETURN(const NarFacts facts, verifier.Finish());
    HYDRANT_RETURN_IF_ERROR(Expect(facts.hash.ToBase16() + "\n" == hash));
    return Expect(facts.listing->entries().size() == 100'001);
  });
  ExpectSmall([&] {
    const UniqueFd in = ForReading(nar);
    FdSource source(in.get(), "the archive");
    return RestorePath(source, dir / "again");
  });
  EXPECT_EQ(NixHash(dir / "again"), hash);
}

TEST(NarLargeTest, SparseFile) {
  MemoryDir dir;
  const std::string file = dir / "file";
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(pwrite(fd, "x", 1, (200 << 20) + 12'345), 1);
  close(fd);
  const std::string hash = NixHash(file);
  ExpectSmall([&]() -> absl::Status {
    HYDRANT_ASSIGN_OR_RETURN(const NarFacts facts, DescribePath(file));
    return Expect(facts.hash.ToBase16() + "\n" == hash);
  });
  ExpectSmall([&]() -> absl::Status {
    const UniqueFd out = ForWriting(dir / "nar");
    FdSink sink(out.get(), "the archive");
    return DumpPath(file, sink);
  });
  ExpectSmall([&] {
    const UniqueFd in = ForReading(dir / "nar");
    FdSource source(in.get(), "the archive");
    return RestorePath(source, dir / "again");
  });
  EXPECT_EQ(NixHash(dir / "again"), hash);
}

}  // namespace
}  // namespace hydrant::nix
