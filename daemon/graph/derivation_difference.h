// Why two derivations differ: the first input in which they do, followed down to the one whose inputs are all
// the same and which itself was changed. Pure; each pair is looked at once. Knows nothing of variants or
// files.
#ifndef HYDRANT_DAEMON_GRAPH_DERIVATION_DIFFERENCE_H_
#define HYDRANT_DAEMON_GRAPH_DERIVATION_DIFFERENCE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "daemon/graph/derivation_table.h"

namespace hydrant {

// What a derivation says of itself beside its inputs. The views must live until the DerivationDifference that
// asked for them is asked no more.
struct DerivationFields {
  struct Output {
    std::string_view name, hash;  // hash: of a fixed one
  };
  std::string_view system, builder;
  std::vector<std::string_view> arguments;
  std::vector<std::string_view> sources;  // plain store paths, sorted
  std::vector<Output> outputs;            // by name
  // By name; without those that hold the derivation's own output paths.
  std::vector<std::pair<std::string_view, std::string_view>> environment;
};

enum class DifferenceKind : uint8_t {
  kVersion,       // of the package
  kSource,        // the content of something fetched, or a plain file of the store
  kInputAdded,    // `input` of the newer one has no counterpart
  kInputRemoved,  // `input` of the older one has none
  kSystem,
  kOutputs,  // which outputs there are
  kBuilder,
  kArguments,
  kEnvironment,  // of the variable `what`
  kUsedOutputs,  // nothing else: other outputs of the same inputs are used, or only its name differs
  kNotRecorded,  // one of the two is known by name only
};

std::string_view DifferenceKindName(DifferenceKind kind);  // "version", "input_added", …

// One difference, at the pair of derivations that it is of.
struct Difference {
  DifferenceKind kind = DifferenceKind::kNotRecorded;
  DerivationNumber before = 0, after = 0;
  std::string what;                  // variable, input or source: its name
  std::string old_value, new_value;  // empty where there is none; of a long text the part that differs
};
// "cudnn 8.9.7 → 9.1.0", "torch: environment variable cmakeFlags: -DA=1 → -DA=2": a line for a person.
std::string DescribeDifference(const DerivationTable& table, const Difference& difference);

class DerivationDifference {
 public:
  // Nothing: the derivation is not recorded.
  using ReadFields = std::function<std::optional<DerivationFields>(DerivationNumber)>;
  // The table must outlive it and not change meanwhile. One thread.
  DerivationDifference(const DerivationTable& table, ReadFields read)
      : table_(table), read_(std::move(read)) {}

  using Pair = std::pair<DerivationNumber, DerivationNumber>;
  // The first difference of two that are not the same: a place in differences(), equal for all pairs that end
  // there.
  size_t Find(DerivationNumber before, DerivationNumber after);
  const std::vector<Difference>& differences() const { return differences_; }
  // From a pair that was looked at down to the one that its difference is of, both included.
  std::vector<Pair> Chain(DerivationNumber before, DerivationNumber after) const;

 private:
  static constexpr uint32_t kOpen = UINT32_MAX;
  struct Step {
    uint32_t difference = kOpen;  // once known
    std::optional<Pair> next;     // nothing: the difference is of this pair itself
  };
  // The inputs of a pair that differ, in the order of their names.
  struct Inputs {
    std::vector<Pair> changed, uncertain;
    std::vector<DerivationNumber> added, removed;
  };
  static uint64_t Key(Pair pair) { return uint64_t{pair.first} << 32 | pair.second; }

  // Where to go on from a pair, or the difference that it ends with.
  Step Look(Pair pair);
  Inputs MatchInputs(Pair pair) const;
  void MatchPackage(std::span<const DerivationNumber> before, std::span<const DerivationNumber> after,
                    Inputs& inputs) const;
  void MatchFamilies(Inputs& inputs) const;
  // The input whose change of version is the pair's own; nothing: there is none.
  std::optional<Pair> SameVersions(Pair pair, const Inputs& inputs) const;
  std::optional<Step> LookAtInputs(Pair pair, const Inputs& inputs);
  Difference OwnDifference(Pair pair);
  Step EndWith(Difference difference);

  const DerivationTable& table_;
  const ReadFields read_;
  absl::flat_hash_map<uint64_t, Step> steps_;
  std::vector<Difference> differences_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_GRAPH_DERIVATION_DIFFERENCE_H_
