// fuzz_record_daemon FOLDER: seeds of the target "daemon". Runs each operation, and all in a row, on the
// machine's Nix in a store of its own and keeps what the daemon said.
#include <cstdio>
#include <string>

#include "lib/base/file.h"
#include "lib/nix/test_store.h"
#include "tests/fuzz/daemon_operations.h"

namespace hydrant::fuzz {
namespace {

constexpr size_t kCalls = 8;

// `operations`: kCalls numbers.
absl::Status Record(const std::string& operations, const std::string& file) {
  const nix::TestStore store;
  const std::string said = store.dir() / "said";
  nix::DaemonClient::Options options = store.client_options();
  options.nix_config += "experimental-features = nix-command ca-derivations\n";
  options.command = {"/bin/sh", "-c", "nix-daemon \"$@\" | tee " + said, "nix-daemon", "--stdio"};
  auto client = nix::DaemonClient::Connect(options);
  if (!client.ok()) return client.status();
  for (const char number : operations) {
    const DaemonOperation& operation = DaemonOperations()[static_cast<unsigned char>(number)];
    std::printf("%s: %s\n", operation.name.data(), operation.call(**client).ToString().c_str());
  }
  (*client)->Close();
  auto bytes = ReadFile(said);
  if (!bytes.ok()) return bytes.status();
  return WriteFileAtomically(file, operations + *bytes);
}

// Every operation once, in recordings of kCalls; each begins with what the others ask about.
int Main(const std::string& folder) {
  const std::string first = {1, 2, 11};  // add text, archive and derivation
  const size_t rest = kCalls - first.size();
  std::string all;
  for (size_t i = 0; i < DaemonOperations().size(); ++i) all += static_cast<char>(i);
  for (size_t at = 0; at < all.size(); at += rest) {
    std::string operations = first + all.substr(at, rest);
    operations.append(kCalls - operations.size(), '\3');  // ask
    const absl::Status recorded = Record(operations, folder + "/from-" + std::to_string(at));
    if (recorded.ok()) continue;
    std::fprintf(stderr, "fuzz_record_daemon: %s\n", recorded.ToString().c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace hydrant::fuzz

int main(int argc, char** argv) {
  if (argc == 2) return hydrant::fuzz::Main(argv[1]);
  std::fprintf(stderr, "usage: fuzz_record_daemon FOLDER\n");
  return 2;
}
