// A Nix archive: one verdict whatever the pieces; what is accepted restores into its folder, nothing beside
// it, and is dumped as the same bytes.
#include <dirent.h>

#include <memory>
#include <vector>

#include "lib/base/test_dir.h"
#include "lib/nix/nar.h"
#include "lib/nix/nar_listing.h"
#include "lib/nix/nar_listing_json.h"
#include "lib/nix/nar_parser.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/nar_tokens.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

const std::set<std::string> kHashParts = {"00000000000000000000000000000000",
                                          "0c3x2vi2x4n8xhkfbqxbiqqr1dnhsfdd"};

absl::StatusOr<nix::NarFacts> Verify(Source& source) {
  nix::NarVerifier verifier(kHashParts);
  if (const auto copied = Copy(source, verifier); !copied.ok()) return copied.status();
  return verifier.Finish();
}

// Writes the archive of what a parser tells, the way Nix would.
class Rewriter final : public nix::NarVisitor {
 public:
  absl::Status BeginDirectory() override { return Tokens({"(", "type", "directory"}); }
  absl::Status EnterEntry(std::string_view name) override {
    return Tokens({"entry", "(", "name", name, "node"});
  }
  absl::Status LeaveEntry() override { return Tokens({")"}); }
  absl::Status EndDirectory() override { return Tokens({")"}); }
  absl::Status BeginFile(bool executable, uint64_t size, uint64_t) override {
    contents_.clear();
    size_ = size;
    return executable ? Tokens({"(", "type", "regular", "executable", "", "contents"})
                      : Tokens({"(", "type", "regular", "contents"});
  }
  absl::Status FileContents(std::string_view bytes) override {
    contents_.append(bytes);
    return absl::OkStatus();
  }
  absl::Status EndFile() override {
    Demand(contents_.size() == size_, "a file has the announced size");
    return Tokens({contents_, ")"});
  }
  absl::Status Symlink(std::string_view target) override {
    return Tokens({"(", "type", "symlink", "target", target, ")"});
  }
  absl::Status Tokens(std::initializer_list<std::string_view> tokens) {
    AppendNarTokens(archive, tokens);
    return absl::OkStatus();
  }
  std::string archive;

 private:
  std::string contents_;
  uint64_t size_ = 0;
};

std::string Rewritten(std::string_view archive) {
  Rewriter rewriter;
  AppendNarTokens(rewriter.archive, {"nix-archive-1"});
  nix::NarParser parser(rewriter);
  Pieces pieces(archive);
  for (std::string_view piece = pieces.Next(); !piece.empty(); piece = pieces.Next()) {
    const auto consumed = parser.Consume(piece);
    DemandOk(consumed.status(), "the parser accepts what the verifier accepts");
    Demand(*consumed == piece.size(), "the archive ends at its end");
  }
  Demand(parser.done(), "an accepted archive is complete");
  return std::move(rewriter.archive);
}

std::set<std::string> Listed(const std::string& folder) {
  std::set<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(folder.c_str()), closedir);
  Demand(dir != nullptr, "the sandbox is there", folder);
  while (const dirent* entry = readdir(dir.get())) names.insert(entry->d_name);
  names.erase(".");
  names.erase("..");
  return names;
}

// The listing agrees with the archive, and survives its JSON where that can be written.
void List(std::string_view archive, bool accepted) {
  Pieces pieces(archive);
  const auto listing = nix::ListNar(pieces);
  Demand(listing.ok() == accepted, "what verifies can be listed, what does not cannot",
         listing.status().ToString());
  if (!accepted) return;
  const auto json = nix::PrintListingJson(*listing);
  if (!json.ok()) return;  // a name is not UTF-8
  const auto again = nix::ParseListingJson(*json);
  DemandOk(again.status(), "the listing of an archive can be read");
  Demand(nix::PrintListingJson(*again).value() == *json, "the listing of an archive is stable", *json);
  for (const nix::NarEntry& entry : listing->entries()) {
    if (entry.type != nix::NarEntry::Type::kRegular || entry.nar_offset == 0) continue;
    Demand(entry.nar_offset <= archive.size() && entry.size <= archive.size() - entry.nar_offset,
           "a file lies inside the archive", entry.name);
  }
}

// Of a refused archive what came before the fault is restored, and nothing beside it either.
void Restore(std::string_view archive, bool accepted) {
  static const TestDir sandbox;
  const std::string inside = sandbox / "in", destination = inside + "/tree";
  DemandOk(MakeDirectories(inside), "the sandbox can be made");
  Pieces pieces(archive);
  const absl::Status restored = nix::RestorePath(pieces, destination);
  Demand(restored.ok() == accepted, "what verifies is restored, what does not is refused",
         restored.ToString());
  Demand(Listed(sandbox.path()) == std::set<std::string>{"in"}, "nothing is written outside");
  std::set<std::string> names = Listed(inside);
  names.erase("tree");
  Demand(names.empty(), "nothing is written beside the destination");
  if (accepted) {
    StringSink dumped;
    DemandOk(nix::DumpPath(destination, dumped), "what was restored can be dumped");
    const std::string rewritten = Rewritten(archive);
    Demand(dumped.value == rewritten, "the dump has what the archive has");
    // A file without "contents" is the one thing that Nix reads and never writes.
    Demand(rewritten == archive || rewritten.size() > archive.size(), "the dump is the archive");
  }
  DemandOk(RemoveTree(inside), "the sandbox can be removed");
}

}  // namespace

void FuzzNar(std::string_view input) {
  StringSource source(input);
  Pieces pieces(input);
  const auto whole = Verify(source);
  const auto pieced = Verify(pieces);
  Demand(whole.status() == pieced.status(), "the verdict is the same in pieces",
         whole.status().ToString() + " / " + pieced.status().ToString());
  if (whole.ok()) {
    Demand(whole->size == input.size() && whole->hash == nix::HashSha256(input), "size and hash are right");
    Demand(
        pieced->size == whole->size && pieced->hash == whole->hash && pieced->references == whole->references,
        "the facts are the same in pieces");
    for (const std::string& part : kHashParts) {
      Demand(whole->references.contains(part) == (input.find(part) != std::string_view::npos),
             "the references are those that occur", part);
    }
  } else {
    Demand(whole.status().code() == absl::StatusCode::kInvalidArgument, "a bad archive is InvalidArgument",
           whole.status().ToString());
  }
  List(input, whole.ok());
  // To make folders is slow: of refused archives one in eight.
  if (whole.ok() || Fingerprint(input) % 8 == 0) Restore(input, whole.ok());
}

}  // namespace hydrant::fuzz
