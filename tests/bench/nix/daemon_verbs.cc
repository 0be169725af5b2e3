#include <unistd.h>

#include <sys/resource.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "absl/strings/str_cat.h"
#include "lib/base/fd_stream.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/daemon_client.h"
#include "tests/bench/nix/verbs.h"

namespace hydrant::nix::bench {
namespace {

absl::StatusOr<std::unique_ptr<DaemonClient>> Connect(const std::string& root,
                                                      const DaemonSettings& settings = {}) {
  HYDRANT_ASSIGN_OR_RETURN(std::unique_ptr<DaemonClient> client, DaemonClient::Connect({.store_root = root}));
  HYDRANT_RETURN_IF_ERROR(client->SetOptions(settings));
  return client;
}

// Reads each .drv once.
class Derivations {
 public:
  explicit Derivations(std::string root) : root_(std::move(root)) {}

  absl::StatusOr<BasicDerivation> Resolved(const std::string& path) {
    HYDRANT_ASSIGN_OR_RETURN(const Derivation* d, Get(path));
    BasicDerivation basic{.outputs = d->outputs,
                          .input_sources = d->input_sources,
                          .system = d->system,
                          .builder = d->builder,
                          .arguments = d->arguments,
                          .environment = d->environment};
    for (const auto& [input_path, names] : d->input_derivations) {
      HYDRANT_ASSIGN_OR_RETURN(const Derivation* input, Get(input_path));
      for (const std::string& name : names) basic.input_sources.insert(input->outputs.at(name).path);
    }
    return basic;
  }

 private:
  absl::StatusOr<const Derivation*> Get(const std::string& path) {
    if (const auto known = read_.find(path); known != read_.end()) return &known->second;
    HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadFile(root_ + path));
    HYDRANT_ASSIGN_OR_RETURN(Derivation derivation, ParseDerivation(text));
    return &read_.emplace(path, std::move(derivation)).first->second;
  }

  const std::string root_;
  std::map<std::string, Derivation> read_;
};

// The daemon is a child of this process: the driver would count its memory as ours.
void PrintOwnPeak() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::cout << "peak_kib " << used.ru_maxrss << "\n";
}

class Discard final : public Sink {
 public:
  absl::Status Write(std::string_view bytes) override {
    size += bytes.size();
    return absl::OkStatus();
  }
  uint64_t size = 0;
};

}  // namespace

absl::Status NarFromPath(const Arguments& arguments) {
  HYDRANT_ASSIGN_OR_RETURN(const auto client, Connect(arguments[0]));
  Discard discard;
  HYDRANT_RETURN_IF_ERROR(client->NarFromPath(arguments[1], discard));
  PrintOwnPeak();
  return absl::OkStatus();
}

absl::Status AddNar(const Arguments& arguments) {
  HYDRANT_ASSIGN_OR_RETURN(const auto client, Connect(arguments[0]));
  PathInfo info{.path = arguments[1], .nar_size = std::strtoull(arguments[3].c_str(), nullptr, 10)};
  HYDRANT_ASSIGN_OR_RETURN(info.nar_hash, Sha256Digest::Parse(arguments[2]));
  FdSource in(STDIN_FILENO, "the input");
  HYDRANT_RETURN_IF_ERROR(client->AddToStoreNar(info, in));
  PrintOwnPeak();
  return absl::OkStatus();
}

absl::Status BuildEach(const Arguments& arguments) {
  HYDRANT_ASSIGN_OR_RETURN(const auto client, Connect(arguments[0]));
  Derivations derivations(arguments[0]);
  size_t built = 0;
  for (std::string path; std::getline(std::cin, path); ++built) {
    HYDRANT_ASSIGN_OR_RETURN(const BasicDerivation basic, derivations.Resolved(path));
    HYDRANT_ASSIGN_OR_RETURN(const BuildResult result, client->BuildDerivation(path, basic, nullptr));
    if (result.status != BuildStatus::kBuilt) {
      return absl::InternalError(absl::StrCat("build ", path, ": ", result.error));
    }
  }
  std::cout << built << " built\n";
  return absl::OkStatus();
}

absl::Status BuildAll(const Arguments& arguments) {
  HYDRANT_ASSIGN_OR_RETURN(const auto client,
                           Connect(arguments[0], {.max_jobs = std::atoi(arguments[1].c_str())}));
  std::vector<DerivedPath> wanted;
  for (std::string path; std::getline(std::cin, path);) wanted.push_back(DerivedPath::AllOutputs(path));
  HYDRANT_ASSIGN_OR_RETURN(const auto results, client->BuildPathsWithResults(wanted, nullptr));
  for (const KeyedBuildResult& keyed : results) {
    if (keyed.result.status == BuildStatus::kBuilt) continue;
    return absl::InternalError(absl::StrCat("build ", keyed.path.ToString(), ": ", keyed.result.error));
  }
  std::cout << results.size() << " built\n";
  return absl::OkStatus();
}

}  // namespace hydrant::nix::bench
