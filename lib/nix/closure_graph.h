// The memory of a ClosureLoader: which derivations it met, what it read of them, and the words that they
// share. Knows nothing of files. For lib/nix/closure* only.
#ifndef HYDRANT_LIB_NIX_CLOSURE_GRAPH_H_
#define HYDRANT_LIB_NIX_CLOSURE_GRAPH_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/nix/closure.h"
#include "lib/nix/closure_storage.h"

namespace hydrant::nix {

// Adding is for one thread at a time; reading what was added is for any.
class ClosureGraph {
 public:
  struct Entry {
    ClosureNode node;     // but for base_name, filled when loaded
    bool loaded = false;  // else met as an input only
    // The number of the last Load that reached it, entered it and placed it: marks that need no clearing.
    uint32_t reached = 0, entered = 0, placed = 0;
  };

  explicit ClosureGraph(ClosureLoader::Options options) : options_(std::move(options)) {
    Names("", {});  // list 0: empty
  }

  const ClosureLoader::Options& options() const { return options_; }
  Entry& entry(DerivationId id) { return entries_[static_cast<uint32_t>(id)]; }
  const Entry& entry(DerivationId id) const { return entries_[static_cast<uint32_t>(id)]; }
  std::span<const std::string_view> names(uint32_t list) const { return lists_[list]; }

  // The id of a .drv, new or not. InvalidArgument: not a store path. ResourceExhausted: too many.
  absl::StatusOr<DerivationId> Meet(std::string_view path);
  // Fills the entry from its file. InvalidArgument: an output's path is not named for the derivation, or as
  // Meet.
  absl::Status Fill(DerivationId id, const DerivationView& view);

  uint64_t files_read() const { return files_read_; }
  size_t bytes() const;

 private:
  // The list that `key` stands for: the words as a list of a .drv has them, or their own joined text.
  uint32_t Names(std::string_view key, const std::vector<std::string>& words);
  uint32_t NamesOfRawList(std::string_view list);
  absl::StatusOr<ClosureOutput> Output(std::string_view drv_base_name, const DerivationView::Output& output);

  const ClosureLoader::Options options_;
  ClosureArena arena_;
  ClosureTable<Entry> entries_;
  ClosureTable<std::span<const std::string_view>> lists_;
  absl::flat_hash_map<std::string_view, DerivationId> by_base_name_;
  absl::flat_hash_map<std::string_view, uint32_t> list_by_key_;
  std::vector<ClosureInput> inputs_;  // of the node that is being filled
  std::vector<ClosureOutput> outputs_;
  uint64_t files_read_ = 0;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_CLOSURE_GRAPH_H_
