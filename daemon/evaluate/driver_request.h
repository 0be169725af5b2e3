// One import's names as driver.nix takes them. Knows nothing of how they are evaluated.
#ifndef HYDRANT_DAEMON_EVALUATE_DRIVER_REQUEST_H_
#define HYDRANT_DAEMON_EVALUATE_DRIVER_REQUEST_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace hydrant {

struct DriverName {
  size_t variant = 0;  // index into Expansion::variants
  std::string id;
  std::string package;       // attribute path as declared
  bool environment = false;  // a Python environment with it is wanted
  std::string python;        // its Python set where the slice names none
};

struct DriverRequest {
  std::string tree;    // an absolute path
  std::string recipe;  // a built-in one's name, or an absolute path
  std::string slice_json, config_json;
  std::vector<std::string> overlays;  // absolute paths
  // The same of named sets, of which a slice takes one; not part of the input.
  std::map<std::string, std::vector<std::string>> overlay_sets = {};
  std::vector<std::string> allow;
  std::vector<DriverName> names;
  bool bare = false;   // derivations only: no meta
  bool named = false;  // what the slice has by name is asked
  std::vector<std::string> probe;
  std::vector<std::string> sets;  // attribute paths whose names `list` tells
};

// For driver.nix's `mark` and whatever else an evaluated tree must not be able to say: a new one for each
// process.
std::string NewMark();

// The input of driver.nix for some of the request's names.
std::string DriverInput(const DriverRequest& request, std::span<const DriverName> names);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_DRIVER_REQUEST_H_
