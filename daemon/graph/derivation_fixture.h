// For tests: derivations made from packages, each with its hash over all that it is made of, so that a change
// reaches whatever needs what was changed, as in a real store.
#ifndef HYDRANT_DAEMON_GRAPH_DERIVATION_FIXTURE_H_
#define HYDRANT_DAEMON_GRAPH_DERIVATION_FIXTURE_H_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/graph/derivation_difference.h"

namespace hydrant {

struct TestPackage {
  std::string name;                 // "cudnn-8.9.7"
  std::vector<std::string> inputs;  // keys of packages
  std::map<std::string, std::string> environment;
  std::vector<std::string> arguments, sources;
  std::string content;  // of a fixed output; empty: it is none
  std::string mirror;   // how a fixed output is fetched
  std::string system = "x86_64-linux", builder = "/bin/sh";
};
// By key: inputs stand before what needs them in the order of keys.
using TestPackages = std::map<std::string, TestPackage>;

class TestDerivations {
 public:
  // Takes the packages in; the number of each by its key. Keys in `hidden` are met but not filled.
  std::map<std::string, DerivationNumber> Add(const TestPackages& packages,
                                              const std::vector<std::string>& hidden = {}) {
    std::map<std::string, DerivationNumber> numbers;
    std::map<std::string, std::pair<std::string, std::string>> paths;  // .drv, output
    for (const auto& [key, package] : packages) {
      std::string made = package.system + package.builder + package.name, outputs = made;
      for (const auto& [name, value] : package.environment) made += name + "=" + value + "\n";
      for (const std::string& argument : package.arguments) made += argument + "\n";
      for (const std::string& source : package.sources) made += source + "\n";
      outputs = package.content.empty() ? made : package.name + package.content;
      made += package.mirror + package.content;
      DerivationTable::Facts facts{.system = package.system, .fixed_output = !package.content.empty()};
      std::vector<std::string> inputs;
      for (const std::string& input : package.inputs) {
        inputs.push_back(paths.at(input).first);
        made += paths.at(input).first;
        if (package.content.empty()) outputs += paths.at(input).second;
      }
      const std::string path = Path("drv" + made, package.name + ".drv"),
                        out = Path("out" + outputs, package.name);
      paths[key] = {path, out};
      facts.path = path;
      facts.inputs.assign(inputs.begin(), inputs.end());
      facts.outputs = {out};
      const bool filled = std::find(hidden.begin(), hidden.end(), key) == hidden.end();
      numbers[key] = filled ? table.Fill(facts) : table.Meet(path);
      if (filled) made_[numbers[key]] = package;
    }
    return numbers;
  }

  DerivationDifference Compare() const {
    return DerivationDifference(table, [this](DerivationNumber d) { return Fields(d); });
  }
  std::optional<DerivationFields> Fields(DerivationNumber d) const {
    const auto found = made_.find(d);
    if (found == made_.end()) return std::nullopt;
    const TestPackage& package = found->second;
    DerivationFields fields{.system = package.system, .builder = package.builder};
    fields.arguments.assign(package.arguments.begin(), package.arguments.end());
    fields.sources.assign(package.sources.begin(), package.sources.end());
    fields.outputs = {{"out", package.content}};
    fields.environment.assign(package.environment.begin(), package.environment.end());
    return fields;
  }

  DerivationTable table;

 private:
  static std::string Path(const std::string& hashed, const std::string& name) {
    char text[40];
    const uint64_t hash = std::hash<std::string>()(hashed);
    std::snprintf(text, sizeof text, "%032llx", static_cast<unsigned long long>(hash));
    return std::string("/nix/store/") + text + "-" + name;
  }

  std::map<DerivationNumber, TestPackage> made_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_GRAPH_DERIVATION_FIXTURE_H_
