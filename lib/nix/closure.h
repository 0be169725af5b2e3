// What some derivations need: the .drv files of a store, read breadth-first in parallel, each once for ever,
// kept as a compact graph. Keeps no builder, argument or environment: who needs those reads the one file.
// Knows nothing of outputs' presence.
#ifndef HYDRANT_LIB_NIX_CLOSURE_H_
#define HYDRANT_LIB_NIX_CLOSURE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/base/mutex.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/derivation_view.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {

class ClosureGraph;

// A derivation of one loader: small numbers, in the order in which it met them.
enum class DerivationId : uint32_t {};

// An input derivation and which of its outputs are used.
struct ClosureInput {
  DerivationId derivation;
  uint32_t output_names;  // ClosureGraph::names()
};

struct ClosureOutput {
  HashPart hash_part;  // all zero when the path is not known yet
  OutputKind kind;
  uint32_t name;  // ClosureGraph::names(), a list of one
};

// One derivation. The spans and views live as long as the loader.
struct ClosureNode {
  std::string_view base_name;              // "<hash>-<name>.drv"
  std::span<const ClosureInput> inputs;    // in the file's order, which is that of their paths
  std::span<const ClosureOutput> outputs;  // in the file's order, which is that of their names
  uint32_t features = 0;                   // ClosureGraph::names(): requiredSystemFeatures, sorted
  uint32_t system = 0;                     // ClosureGraph::names(), a list of one
  std::string path() const;
  bool fixed_output() const { return !outputs.empty() && outputs.front().kind == OutputKind::kFixed; }
};

struct ClosureCounts {
  uint64_t derivations = 0;
  uint64_t edges = 0;  // input derivations, summed over all derivations
  uint64_t outputs = 0;
  uint64_t fixed_outputs = 0;  // derivations with a fixed output
  friend bool operator==(const ClosureCounts&, const ClosureCounts&) = default;
};

// The roots and all that they need. Valid as long as its loader; any thread, also while the loader loads
// more.
class Closure {
 public:
  const ClosureCounts& counts() const { return counts_; }
  // Inputs before those that use them; the same for the same roots and files.
  std::span<const DerivationId> topological() const { return order_; }
  const ClosureNode& node(DerivationId id) const;
  // Lists of words of the nodes: output names, features, a system.
  std::span<const std::string_view> names(uint32_t list) const;
  // "/nix/store/…"; empty for an output whose path is not known yet.
  std::string OutputPath(const ClosureNode& node, const ClosureOutput& output) const;
  std::vector<std::string> SortedPaths() const;  // of the .drv files

 private:
  friend class ClosureLoader;
  const ClosureGraph* graph_ = nullptr;
  std::vector<DerivationId> order_;
  ClosureCounts counts_;
};

class ClosureLoader {
 public:
  struct Options {
    std::string store_root;  // the folder that holds nix/store; "" for the machine's own
    int threads = 0;  // 0: one for each core, 8 at most; more than one only where there is work for them
    size_t most_file_bytes = 64 << 20;
    uint32_t most_derivations = 4 << 20;  // that the loader remembers
  };
  // NotFound: there is no such store.
  static absl::StatusOr<std::unique_ptr<ClosureLoader>> Open(Options options);
  ~ClosureLoader();
  ClosureLoader(const ClosureLoader&) = delete;
  ClosureLoader& operator=(const ClosureLoader&) = delete;

  // Reads what it has not read before. NotFound (a file is missing), InvalidArgument (a file or a root is not
  // a derivation, or needs itself), ResourceExhausted (a bound): each names the path and the path that refers
  // to it. After a failure the loader remains of use. Any thread; calls wait for one another.
  absl::StatusOr<Closure> Load(std::span<const std::string> roots);

  uint64_t files_read() const;  // so far
  size_t bytes() const;         // memory of the graph

 private:
  class Run;
  ClosureLoader(std::unique_ptr<ClosureGraph> graph, UniqueFd store);

  mutable Mutex mu_;  // held by the one Load that runs
  const std::unique_ptr<ClosureGraph> graph_ ABSL_PT_GUARDED_BY(mu_);
  const UniqueFd store_;
  uint32_t loads_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_CLOSURE_H_
