// What takes long: run by name (label bench).
#include "lib/nix/nar_fixture.h"
#include "lib/nix/nar_memory_fixture.h"

namespace hydrant::nix {
namespace {

TEST(NarHugeTest, SparseFileOfFourGibibytes) {
  MemoryDir dir;
  const std::string file = dir / "file";
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(pwrite(fd, "x", 1, 3L << 30), 1);
  ASSERT_EQ(ftruncate(fd, 4L << 30), 0);
  close(fd);
  const std::string hash = Printed({"nix-hash", "--type", "sha256", file});
  ExpectSmall([&]() -> absl::Status {
    HYDRANT_ASSIGN_OR_RETURN(const NarFacts facts, DescribePath(file, {.listing = true}));
    return facts.hash.ToBase16() + "\n" == hash ? absl::OkStatus()
                                                : absl::InternalError("another hash than Nix's");
  });
}

TEST(NarHugeTest, ArchiveOfTenGibibytesIsVerified) {
  ExpectSmall([&]() -> absl::Status {
    constexpr uint64_t kSize = 10ull << 30;
    NarVerifier verifier(NarQuestions{.hash_parts = {std::string(32, 'z')}, .listing = true});
    std::string head = NarTokens({"(", "type", "regular", "contents"});
    for (int i = 0; i < 8; ++i) head += static_cast<char>(kSize >> (8 * i));
    HYDRANT_RETURN_IF_ERROR(verifier.Write(head));
    const std::string block(1 << 20, '\xAA');
    for (uint64_t at = 0; at < kSize; at += block.size()) HYDRANT_RETURN_IF_ERROR(verifier.Write(block));
    HYDRANT_RETURN_IF_ERROR(verifier.Write(NarToken(")")));
    HYDRANT_ASSIGN_OR_RETURN(const NarFacts facts, verifier.Finish());
    return facts.listing->root().size == kSize ? absl::OkStatus() : absl::InternalError("another size");
  });
}

}  // namespace
}  // namespace hydrant::nix
