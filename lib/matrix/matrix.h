// A declared matrix as values: what the TOML file says, checked for itself. Pure; knows nothing of Nix, of a
// daemon or of where the text came from.
#ifndef HYDRANT_LIB_MATRIX_MATRIX_H_
#define HYDRANT_LIB_MATRIX_MATRIX_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace hydrant {

// The axes other than `package` and `system` that [axes] knows. A variant id has the first three in this
// order, then the others and those of [axes.more] by name, then the system.
inline constexpr const char* kAxisOrder[] = {"cuda",    "python",         "capabilities", "blas",
                                             "flavour", "forward_compat", "mpi"};

// Whether axis `a` comes before axis `b` in ids, slices and Matrix::axes.
bool AxisBefore(const std::string& a, const std::string& b);

// One value of an axis: a word ("12.9", "python313", "true"), or for `capabilities` an ordered list.
struct AxisValue {
  std::vector<std::string> words;  // one, but for capabilities
  bool is_default() const { return words.size() == 1 && words[0] == "default"; }
  std::string Joined() const;  // "8.9+9.0a"
  friend auto operator<=>(const AxisValue&, const AxisValue&) = default;
};

struct Axis {
  std::string name;
  std::vector<AxisValue> values;  // never empty
};

struct SourceSpec {
  std::string git;                    // URL; empty when `path` is set
  std::vector<std::string> branches;  // of git; empty: the default branch
  std::string path;                   // absolute after reading
};

// An overlay that a matrix names.
struct Overlay {
  std::string file;  // as the matrix has it
  std::string text;
  friend bool operator==(const Overlay&, const Overlay&) = default;
};

struct NixpkgsSpec {
  std::string recipe = "auto";                  // auto, 2020, 2022, 2025, or the user's own:
  std::string recipe_text;                      // its text when `recipe` is a file: travels with the matrix
  std::vector<std::string> allow = {"unfree"};  // unfree broken insecure
  std::string config_json = "{}";               // [nixpkgs] config, as JSON
  std::vector<Overlay> overlays;
  // By name, for the axes `overlays` and `config`: what comes after `overlays`, and what goes over
  // `config_json`, setting by setting, as JSON.
  std::map<std::string, std::vector<Overlay>> overlay_sets = {};
  std::map<std::string, std::string> config_sets = {};
  bool ifd = false;
  // Prefixes of addresses that may be fetched while it is evaluated, where the farm permits them.
  std::vector<std::string> allowed_uris = {};
  // What else is asked of each package, at one more import a slice. "hygiene": can it be looked at with
  // unfree refused. Built-in recipes only.
  std::vector<std::string> probe = {};
};

// A selection of cells: a cell matches when each given axis has one of the values (globs).
struct Selection {
  std::map<std::string, std::vector<std::string>> axes;  // axis (or "package") -> globs
  std::string reason;
};

struct GateSpec {
  bool declared = false;
  std::vector<std::string> required;  // globs over variant ids, or @group
  bool checks_required = true;        // checks = "required" (default) or "advisory"
};

struct CheckSpec {
  std::string name;
  std::string variants;  // `for`: a glob over NAME, the attribute path or the id
  bool gpu = false;
  std::vector<std::string> command;
  std::string environment;                               // "" (by package), "python" or "output"
  std::vector<std::string> gpu_architectures = {"any"};  // "any", "each", or a list
  absl::Duration timeout = absl::Minutes(10);
};

struct Limits {
  absl::Duration timeout = absl::Hours(10);
  absl::Duration max_silent = absl::Hours(1);
  uint64_t max_log = 256u << 20;  // bytes
  uint64_t max_output = 0;        // bytes; 0: none
  uint64_t memory = 0;            // bytes; 0: none
};

struct LimitsFor {
  std::string package;  // glob
  Limits limits;        // [limits] with this entry's keys over it
};

// package = { changed_by = "cudaSupport", filter = ["*"] }: every attribute whose derivation changes when the
// switch is on. Which those are, only an evaluation of the package set can tell.
struct DerivedPackages {
  std::string changed_by;                   // one of PackageSwitches()
  std::vector<std::string> filter = {"*"};  // globs over NAME or the attribute path, or @group
};

struct Matrix {
  std::string name, reason;
  SourceSpec source;
  std::optional<absl::Duration> every;  // [schedule]
  NixpkgsSpec nixpkgs;
  std::vector<std::string> packages;       // attribute paths, as declared; empty when `derived`
  std::optional<DerivedPackages> derived;  // [axes] package as a table
  std::vector<Axis> axes;                  // declared ones in id order, system last when declared
  std::map<std::string, std::vector<std::string>> groups;
  std::vector<Selection> include, exclude;
  GateSpec gate;
  std::vector<CheckSpec> checks;
  Limits limits;
  std::vector<LimitsFor> limits_for;
  bool licence_declared = false;
  std::vector<std::string> licence_public, licence_private;
  std::vector<std::string> audit_refuse;  // names of AuditRules() whose findings fail a variant
  int priority = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_MATRIX_H_
