// Derivations as small numbers, each taken in once for ever: its name, its inputs and a number that equal
// ones share. What a comparison walks. Knows no file format, and keeps no builder, argument or environment.
#ifndef HYDRANT_DAEMON_GRAPH_DERIVATION_TABLE_H_
#define HYDRANT_DAEMON_GRAPH_DERIVATION_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "daemon/graph/package_name.h"
#include "daemon/graph/text_arena.h"

namespace hydrant {

// A derivation of one table, in the order in which it was met.
using DerivationNumber = uint32_t;

class DerivationTable {
 public:
  struct Facts {
    std::string_view path;                 // of the .drv
    std::vector<std::string_view> inputs;  // paths of its input derivations, each once
    // Output paths in the order of the outputs' names; one that is empty is not known before it is built.
    std::vector<std::string_view> outputs;
    std::string_view system;
    bool fixed_output = false;
  };

  // The number of a path, new or not. A new one is a name only until it is filled.
  DerivationNumber Meet(std::string_view path);
  // Nothing: it was not met.
  std::optional<DerivationNumber> Find(std::string_view path) const;
  // Takes a derivation in, and meets its inputs. What is filled stays as it is.
  DerivationNumber Fill(const Facts& facts);

  size_t size() const { return nodes_.size(); }
  bool filled(DerivationNumber d) const { return nodes_[d].filled; }
  bool fixed_output(DerivationNumber d) const { return nodes_[d].fixed; }
  std::string_view system(DerivationNumber d) const {
    return systems_[nodes_[d].system];
  }  // "" if not filled
  std::string_view path(DerivationNumber d) const { return nodes_[d].path; }
  std::string_view name(DerivationNumber d) const { return nodes_[d].name; }
  PackageName package_name(DerivationNumber d) const {
    return {packages_[nodes_[d].package], nodes_[d].version};
  }
  // By package, then name, then path.
  std::span<const DerivationNumber> inputs(DerivationNumber d) const {
    return {edges_.data() + nodes_[d].inputs, nodes_[d].input_count};
  }

  // Equal for two that make the same outputs: a fixed output that is only fetched in another way too.
  bool Same(DerivationNumber a, DerivationNumber b) const { return nodes_[a].identity == nodes_[b].identity; }
  // False when they may be the same for all that is known: one of them is not filled, and they have one name.
  bool CertainlyDiffer(DerivationNumber a, DerivationNumber b) const {
    return !Same(a, b) && ((filled(a) && filled(b)) || name(a) != name(b));
  }
  // Numbers of the package's name, whole and without the releases in it.
  uint32_t package(DerivationNumber d) const { return nodes_[d].package; }
  uint32_t family(DerivationNumber d) const { return families_of_[nodes_[d].package]; }

  // Those that the roots need and that are not filled yet, themselves included, in the order in which they
  // are reached.
  std::vector<DerivationNumber> Unfilled(std::span<const DerivationNumber> roots) const;

 private:
  struct Node {
    std::string_view path, name, version;  // into texts_
    uint64_t order = 0;                    // the beginning of the package's name: what most comparisons need
    uint32_t package = 0, identity = 0, system = 0;
    uint32_t inputs = 0, input_count = 0;  // a part of edges_
    bool filled = false, fixed = false;
  };
  template <class Value>
  using ByText = absl::flat_hash_map<HashedText, Value, HashOfText>;
  bool Before(DerivationNumber a, DerivationNumber b) const;  // in inputs()
  uint32_t InternPackage(std::string_view package);
  uint32_t InternOutputs(const Facts& facts, DerivationNumber own);
  uint32_t InternSystem(std::string_view system);

  TextArena texts_;  // paths and outputs
  std::vector<Node> nodes_;
  std::vector<DerivationNumber> edges_;
  ByText<DerivationNumber> by_path_;
  std::vector<std::string_view> packages_;  // by number of the package; into texts_
  std::vector<uint32_t> families_of_;
  ByText<uint32_t> package_numbers_;
  absl::flat_hash_map<std::string, uint32_t> family_numbers_;
  std::vector<std::string> systems_ = {""};  // a handful
  ByText<uint32_t> identities_;              // outputs, joined -> the first that had them
  std::string joined_;                       // outputs that are being looked up
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_GRAPH_DERIVATION_TABLE_H_
