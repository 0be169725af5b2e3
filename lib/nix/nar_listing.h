// What is in an archive, without the contents: a tree of entries in the archive's order, compact and
// immutable. Knows nothing of its JSON form (nar_listing_json.h) nor of files on a disk.
#ifndef HYDRANT_LIB_NIX_NAR_LISTING_H_
#define HYDRANT_LIB_NIX_NAR_LISTING_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/stream.h"
#include "lib/nix/nar_parser.h"

namespace hydrant::nix {

struct NarEntry {
  enum class Type : uint8_t { kDirectory, kRegular, kSymlink };
  Type type = Type::kDirectory;
  bool executable = false;  // regular files
  uint16_t depth = 0;       // 0: the root
  uint32_t end = 0;         // the position in entries() behind this entry and all below it
  uint64_t size = 0;        // bytes; regular files
  uint64_t nar_offset = 0;  // where a regular file's contents begin in the archive; 0: not known
  std::string_view name;    // bytes, not always UTF-8; empty: the root
  std::string_view target;  // symlinks
};

// A value, cheap to copy (copies share their entries); any number of threads.
class NarListing {
 public:
  // How much memory a listing may take: about 400,000 entries.
  static constexpr size_t kMaxBytes = 32 << 20;

  // Never empty: the root first, each folder before its entries, those in byte order. The entries of the
  // folder at i are i + 1, then each time the `end` of the one before, up to the folder's `end`.
  const std::deque<NarEntry>& entries() const { return tree_->entries; }
  const NarEntry& root() const { return tree_->entries.front(); }

  // The position of the entry at `path` ("a/b" or "/a/b"; "" or "/": the root). NotFound says which part is
  // missing of which folder, and what there is. Symlinks are not followed.
  absl::StatusOr<size_t> Find(std::string_view path) const;

 private:
  friend class NarLister;
  struct Tree {
    std::deque<NarEntry> entries;
    std::deque<std::string> texts;  // what the names and targets point into; each of a fixed capacity
  };
  explicit NarListing(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}

  std::shared_ptr<const Tree> tree_;
};

// Builds a listing from what a parser tells, in the archive's order. One thread. Its calls never fail: what
// goes over the limit ends the listing, not the parse, so that a check of an archive may go on without one.
class NarLister final : public NarVisitor {
 public:
  explicit NarLister(size_t max_bytes = NarListing::kMaxBytes);

  absl::Status BeginDirectory() override;
  absl::Status EnterEntry(std::string_view name) override;
  absl::Status LeaveEntry() override;
  absl::Status BeginFile(bool executable, uint64_t size, uint64_t offset) override;
  absl::Status Symlink(std::string_view target) override;

  // ResourceExhausted once the listing is over the limit.
  const absl::Status& status() const { return status_; }
  // Once, after the last node. ResourceExhausted, or FailedPrecondition when the archive was not complete.
  absl::StatusOr<NarListing> Finish();

 private:
  NarEntry* Top();
  std::string_view Keep(std::string_view text);
  void Open(std::string_view name);

  const size_t max_bytes_;
  absl::Status status_;
  size_t used_ = 0;
  std::shared_ptr<NarListing::Tree> tree_;
  std::vector<uint32_t> open_;  // the root, then the entries that are entered and not left
};

// Reads one whole archive. InvalidArgument as by NarParser, with trailing bytes refused; ResourceExhausted
// when the listing would take more than `max_bytes`; the source's errors.
absl::StatusOr<NarListing> ListNar(Source& nar, size_t max_bytes = NarListing::kMaxBytes);

// How `nix nar ls` prints the entry at `path` (Find's errors).
struct ListFormat {
  bool details = false;        // -l: mode, size, name, target
  bool recursive = false;      // -R
  bool folder_itself = false;  // -d: a folder, not what is in it
};
absl::StatusOr<std::string> PrintListing(const NarListing& listing, std::string_view path,
                                         const ListFormat& format);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_NAR_LISTING_H_
