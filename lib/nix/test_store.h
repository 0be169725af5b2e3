// For tests: a Nix store of its own under a temporary folder, in which Nix builds in its sandbox with busybox
// as /bin/sh. As root or not, without network, whatever nix.conf the machine has.
#ifndef HYDRANT_LIB_NIX_TEST_STORE_H_
#define HYDRANT_LIB_NIX_TEST_STORE_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/file.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"
#include "lib/nix/daemon_client.h"

namespace hydrant::nix {

class TestStore {
 public:
  // `sandbox_paths`: more of what builders see, as in nix.conf.
  explicit TestStore(const std::string& sandbox_paths = "") : sandbox_paths_(sandbox_paths) {
    for (const char* folder : {"root", "conf", "cache", "home"}) {
      if (!MakeDirectories(dir_ / folder).ok()) abort();
    }
  }

  const TestDir& dir() const { return dir_; }
  std::string root() const { return dir_ / "root"; }
  std::string RealPath(std::string_view store_path) const { return root().append(store_path); }

  std::string nix_config() const {
    return "sandbox = true\nsandbox-fallback = false\nsandbox-paths = /bin/sh=/bin/busybox " +
           sandbox_paths_ +
           "\nbuild-users-group =\nsubstituters =\nnarinfo-cache-negative-ttl = 0\nexperimental-features = "
           "nix-command\n";
  }
  std::map<std::string, std::string> env() const {
    return {{"NIX_CONF_DIR", dir_ / "conf"},
            {"XDG_CACHE_HOME", dir_ / "cache"},
            {"HOME", dir_ / "home"},
            {"NIX_REMOTE", root()},
            {"NIX_CONFIG", nix_config()}};
  }

  // A Nix command on this store.
  absl::StatusOr<Completed> Nix(std::vector<std::string> argv, std::string_view input = {}) const {
    return Run({.argv = std::move(argv), .env = env()}, input, absl::Minutes(2));
  }
  // The path of the derivation that `expression` gives, made in this store.
  absl::StatusOr<std::string> Instantiate(const std::string& expression) const {
    absl::StatusOr<Completed> done = Nix({"nix-instantiate", "--expr", expression});
    if (!done.ok()) return done.status();
    if (!done->status.ok()) return absl::InternalError(done->err);
    done->out.erase(done->out.find_last_not_of('\n') + 1);
    return done->out;
  }

  DaemonClient::Options client_options() const {
    return {
        .store_root = root(), .nix_config = nix_config(), .env = env(), .reply_timeout = absl::Minutes(1)};
  }
  absl::StatusOr<std::unique_ptr<DaemonClient>> Connect() const {
    return DaemonClient::Connect(client_options());
  }

 private:
  TestDir dir_;
  const std::string sandbox_paths_;
};

// What a client sends to build `drv_path`, whose file and inputs' files are in `store`.
inline BasicDerivation ResolveInputs(const TestStore& store, const std::string& drv_path) {
  const auto read = [&](const std::string& path) {
    return ParseDerivation(ReadFile(store.RealPath(path)).value()).value();
  };
  const Derivation d = read(drv_path);
  BasicDerivation basic{.outputs = d.outputs,
                        .input_sources = d.input_sources,
                        .system = d.system,
                        .builder = d.builder,
                        .arguments = d.arguments,
                        .environment = d.environment};
  for (const auto& [input, names] : d.input_derivations) {
    const Derivation i = read(input);
    for (const std::string& name : names) basic.input_sources.insert(i.outputs.at(name).path);
  }
  return basic;
}

// The expression of a derivation "probe" that runs `script` (without '' and ${) in busybox's sh.
inline std::string ProbeExpression(const std::string& script, const std::string& more_attributes = "") {
  return "derivation { name = \"probe\"; system = \"x86_64-linux\"; builder = \"/bin/sh\"; " +
         more_attributes + " args = [ \"-c\" ''" + script + "'' ]; }";
}

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_TEST_STORE_H_
