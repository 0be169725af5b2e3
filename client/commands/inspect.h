// The verbs of `hydrant inspect`: Nix's formats by hand. None needs a daemon. What is wrong with the words or
// cannot be found is an error of usage; what is wrong with a file's content makes the work fail.
#ifndef HYDRANT_CLIENT_COMMANDS_INSPECT_H_
#define HYDRANT_CLIENT_COMMANDS_INSPECT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/exit.h"
#include "client/session.h"
#include "lib/failure/cause.h"

namespace hydrant::client {

struct InspectDerivationOptions {
  std::vector<std::string> files;
  std::string store;       // root below which /nix/store/… is read; empty: this machine's
  bool roundtrip = false;  // read and written again, nothing printed
};
// All files are read, whatever is wrong with one of them; each fault is told.
absl::StatusOr<Exit> InspectDerivation(const InspectDerivationOptions& options, Session& session);

struct InspectClosureOptions {
  std::vector<std::string> derivations;
  std::string store;    // as above
  bool verify = false;  // every path is computed again, nothing printed
};
// What the derivations need, themselves included. A derivation that is missing among that makes the work
// fail.
absl::StatusOr<Exit> InspectClosure(const InspectClosureOptions& options, Session& session);

struct InspectNarOptions {
  std::string path;   // what is dumped or hashed, or where is restored to
  std::string store;  // as above; dump and hash only
};
// The archive to standard output, which must be no terminal.
absl::StatusOr<Exit> InspectNarDump(const InspectNarOptions& options, Session& session);
// The archive from standard input. `path` must not exist; it is removed again when the archive is faulty or
// ends early.
absl::StatusOr<Exit> InspectNarRestore(const InspectNarOptions& options, Session& session);
// The archive from standard input; as JSON the `.ls` that a binary cache has of it.
absl::StatusOr<Exit> InspectNarList(Session& session);
absl::StatusOr<Exit> InspectNarHash(const InspectNarOptions& options, Session& session);

struct InspectNarinfoOptions {
  std::string file;               // "-": standard input
  std::vector<std::string> keys;  // "name:base64"
};
// With keys the work failed unless one of them signed it and no signature of theirs is wrong.
absl::StatusOr<Exit> InspectNarinfo(const InspectNarinfoOptions& options, Session& session);

struct InspectClassifyOptions {
  std::optional<FailureStage> stage;  // none: found from the wording
};
absl::StatusOr<Exit> InspectClassify(const InspectClassifyOptions& options, Session& session);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_COMMANDS_INSPECT_H_
