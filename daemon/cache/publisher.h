// Staged, then published: the two gates of a store path. First write wins; a closure is published whole or
// not at all; only what was verified here is signed. Knows nothing of matrices: the caller says which paths
// passed their gate.
#ifndef HYDRANT_DAEMON_CACHE_PUBLISHER_H_
#define HYDRANT_DAEMON_CACHE_PUBLISHER_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/cache/catalogue.h"
#include "daemon/cache/nar_intake.h"
#include "daemon/cache/signer.h"
#include "daemon/record/state_store.h"
#include "lib/base/clock.h"
#include "lib/nix/narinfo.h"

namespace hydrant {

// How private what is published becomes. A path is private when its own licence is, or when something that it
// refers to is, directly or through others; then no closure of a public path has a hole for those who may
// read only what is public. What else stands in a private closure is held until a public one needs it.
struct PublishingTiers {
  NarInfoTier roots = NarInfoTier::kPublic;  // of the roots' own licence
  // Of a path's own licence as its name tells it (without the hash part); nothing: it does not. Asked under
  // the lock, must not block. May be empty.
  std::function<std::optional<NarInfoTier>(std::string_view name)> own = {};
};

// Each may be Unavailable when nothing could be recorded; an unknown commit (state_store.h) when memory may
// be behind the record.
class Publisher {
 public:
  struct Options {
    StateStore& store;
    Catalogue& catalogue;
    NarIntake& intake;
    Signer& signer;  // release
    const Clock& clock;
    // True when a path is known to be held by an upstream cache. From memory: it is asked under locks and
    // must not block.
    std::function<bool(const std::string& store_path)> held_upstream;
    // Finds out whether upstream caches hold these, so that held_upstream knows afterwards. May block: no
    // lock is held then. May be empty.
    std::function<void(const std::vector<std::string>& store_paths)> ask_upstream = {};
  };
  explicit Publisher(Options options) : options_(std::move(options)) {}

  // Records `info` (as a client sent it; its signatures are dropped) as staged. Its blob must be verified
  // with the same NarHash and size (InvalidArgument; FailedPrecondition when it is not here), each reference
  // staged, published or held upstream (FailedPrecondition names one that is not), a content-addressed path
  // recompute to itself where it can be. The same again: OK. Another NarHash or other references:
  // AlreadyExists.
  absl::Status Stage(const nix::NarInfo& info, AttemptId attempt);

  // Publishes `roots` and every staged path of their closure, and opens what is held of the closures that are
  // public, in one transaction. What was private or public before stays so. FailedPrecondition names a path
  // that is neither here nor upstream; nothing is published then. Returns how many became published now.
  absl::StatusOr<int64_t> Publish(const std::vector<std::string>& roots, const PublishingTiers& tiers = {});

  // Stages and publishes one path that an operator uploads: no gate but that each reference is published or
  // upstream (FailedPrecondition names one that is not; nothing is recorded then). Otherwise as Stage. It is
  // as private as what it refers to, and opens nothing.
  absl::Status PublishByHand(const nix::NarInfo& info);

  // True when a path is staged or published here, or held upstream.
  bool Holds(const std::string& store_path) const;

 private:
  // Everything that does not depend on what else is here.
  absl::Status Verify(const nix::NarInfo& info);
  absl::Status CheckReferences(const nix::NarInfo& info, bool published) const;
  void AskUpstream(const nix::NarInfo& info) const;
  absl::Status StageLocked(const nix::NarInfo& info, AttemptId attempt) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<int64_t> PublishLocked(const std::vector<std::string>& roots, const PublishingTiers& tiers)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  NarInfoTier TierOfReferences(const nix::NarInfo& info) const;
  // The records of the closure of `roots` that are not public yet, each with the tier that it gets.
  absl::StatusOr<std::vector<NarInfoRecord>> OpenClosure(const std::vector<std::string>& roots,
                                                         const PublishingTiers& tiers) const;

  Options options_;
  Mutex mu_;  // one stage or publication at a time
};

// The narinfo of a record, with the signatures that it has.
nix::NarInfo NarInfoOf(const NarInfoRecord& record);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CACHE_PUBLISHER_H_
