// For tests: a closure written as names and inputs, taken into an audit.
#ifndef HYDRANT_DAEMON_AUDIT_TEST_CLOSURE_H_
#define HYDRANT_DAEMON_AUDIT_TEST_CLOSURE_H_

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "daemon/audit/closure_audit.h"

namespace hydrant {

struct TestDerivation {
  std::vector<std::string> inputs = {};     // .drv paths
  std::vector<std::string> passed_on = {};  // of these, those in propagatedBuildInputs
  bool fixed_output = false;
  std::string salt = {};  // tells apart what is equal but for this
};

class TestClosure {
 public:
  // The .drv path, which is that of whatever is the same down to its inputs.
  std::string Add(const std::string& name, const TestDerivation& derivation = {}) {
    std::string made = name + derivation.salt;
    std::vector<std::string> all = derivation.inputs;
    all.insert(all.end(), derivation.passed_on.begin(), derivation.passed_on.end());
    for (const std::string& input : all) made += input;
    const std::string path = Path(made, name) + ".drv", output = OutputOf(path);
    std::string propagated;
    for (const std::string& input : derivation.passed_on) propagated += OutputOf(input) + " ";
    ClosureAudit::Facts facts{.path = path, .outputs = {output}, .fixed_output = derivation.fixed_output};
    facts.inputs.assign(all.begin(), all.end());
    facts.environment = {{"name", name}, {"out", output}, {"propagatedBuildInputs", propagated}};
    audit.Take(facts);
    return path;
  }
  std::vector<Finding> Judge(const std::string& path, std::optional<CudaVersion> cuda = {},
                             const ClosureAudit::Libraries* libraries = nullptr) const {
    return audit.Judge({.derivation = path, .cuda = cuda, .libraries = libraries});
  }

  ClosureAudit audit;

 private:
  static std::string Path(const std::string& made, const std::string& name) {
    char hash[40];
    std::snprintf(hash, sizeof hash, "%032zx", std::hash<std::string>()(made));
    return std::string("/nix/store/") + hash + "-" + name;
  }
  static std::string OutputOf(const std::string& path) { return Path("out" + path, NameOf(path)); }
  static std::string NameOf(const std::string& path) { return std::string(NameOfDerivation(path)); }
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_AUDIT_TEST_CLOSURE_H_
