// Judges closures of derivations by the consistency rules that hang on what is in them: two copies of a
// Python module, two CUDA releases or flavours, libraries that are not the slice's own. Each derivation is
// taken in once, for ever; judging one more closure then costs next to nothing. Pure.
#ifndef HYDRANT_DAEMON_AUDIT_CLOSURE_AUDIT_H_
#define HYDRANT_DAEMON_AUDIT_CLOSURE_AUDIT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "daemon/audit/finding.h"
#include "daemon/audit/passed_on.h"
#include "daemon/graph/derivation_table.h"
#include "lib/matrix/cuda_version.h"

namespace hydrant {

class ClosureAudit {
 public:
  struct Facts {
    std::string_view path;                  // of the .drv
    std::vector<std::string_view> inputs;   // paths of its input derivations, each once
    std::vector<std::string_view> outputs;  // paths; empty ones are not known before it is built
    bool fixed_output = false;
    std::vector<EnvironmentVariable> environment;
  };
  // Takes a derivation in, its inputs before it: one that comes later is only a name for those that are here
  // already. What is known stays as it is.
  void Take(const Facts& facts);
  bool Knows(std::string_view path) const;
  size_t size() const { return reach_.size(); }  // derivations

  // The libraries (cudnn, nccl, magma, cudatoolkit) that are right in a slice: by name, the paths of their
  // .drv.
  using Libraries = std::map<std::string, std::vector<std::string>, std::less<>>;
  // Those that the slice's variants use: of each name the one that most of them reach, of as many the one
  // that is reached first. For trees whose own are not known.
  Libraries UsedByMost(std::span<const std::string_view> roots) const;

  struct Question {
    std::string_view derivation;           // .drv of a variant, or of its Python environment
    std::optional<CudaVersion> cuda;       // the slice's; nothing: its default
    const Libraries* libraries = nullptr;  // null: not judged
  };
  // What is wrong, all as warnings, in the order of AuditRules(); nothing also when the derivation is not
  // known.
  //
  // duplicate_modules: pythonX.Y-NAME is there twice among what the derivation passes on, directly and on and
  // on: its propagatedBuildInputs, the inputs of an environment. What tells modules apart is NAME, so a
  // module that two packages of other names hold is not seen, nor one that only a wrapper's text or a plain
  // reference brings in; build inputs are not looked at, since setuptools and its like are there twice in
  // every tree. two_cuda_releases, two_cuda_flavours: over all inputs, build-time ones too, for that is where
  // a package set leaks. One finding for each release that is not the slice's (not the nearest one, where the
  // slice has its default), with the shortest way to it. named_package: over all inputs, each that is not
  // among `libraries`.
  std::vector<Finding> Judge(const Question& question) const;
  // named_package alone.
  std::vector<Finding> JudgeLibraries(std::string_view derivation, const Libraries& libraries) const;

 private:
  // Something to look for, in the closure of a derivation: at which distance, and through which input.
  struct Reach {
    uint32_t mark;
    DerivationNumber next;  // the derivation itself where distance is 0
    uint32_t distance;
  };
  struct Mark {
    enum class Kind : uint8_t { kRelease, kFlavour, kLibrary };
    Kind kind;
    uint32_t value;            // release: major * 1000 + minor; flavour; library: number of the derivation
    std::string_view library;  // its name
  };
  // More of them in one closure are dropped, the farthest first: a farm has some twenty releases.
  static constexpr size_t kMostMarks = 64;

  // Nothing: it was not taken in.
  std::optional<DerivationNumber> Taken(std::string_view path) const;
  void MarkName(DerivationNumber d, bool fixed_output);
  void AddMark(DerivationNumber d, const Mark& mark);
  void Merge(DerivationNumber d);
  void LinkPassedOn(DerivationNumber d, const Facts& facts);
  std::vector<const Reach*> Reached(DerivationNumber d, Mark::Kind kind) const;  // nearest first
  std::vector<std::string> Way(DerivationNumber d, const Reach& reach) const;

  void JudgeModules(DerivationNumber d, std::vector<Finding>& findings) const;
  void JudgeReleases(DerivationNumber d, std::optional<CudaVersion> asked,
                     std::vector<Finding>& findings) const;
  void JudgeFlavours(DerivationNumber d, std::vector<Finding>& findings) const;
  void JudgeLibraries(DerivationNumber d, const Libraries& libraries, std::vector<Finding>& findings) const;

  DerivationTable table_;
  std::vector<Mark> marks_;
  absl::flat_hash_map<std::pair<uint8_t, uint32_t>, uint32_t> mark_numbers_;
  std::vector<std::vector<Reach>> reach_;                 // by derivation, by distance
  std::vector<std::vector<DerivationNumber>> passed_on_;  // by derivation
  std::vector<uint32_t> module_;                          // by derivation: number of the module; 0: none
  absl::flat_hash_map<std::string, uint32_t> module_numbers_;
  absl::flat_hash_map<std::string, DerivationNumber> by_output_;  // path -> who makes it
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_AUDIT_CLOSURE_AUDIT_H_
