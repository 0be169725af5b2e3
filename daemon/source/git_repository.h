// Our own copy of one remote repository: bare, shallow, fetched into as commits are asked for. Knows nothing
// of Nix or of what a tree is for.
#ifndef HYDRANT_DAEMON_SOURCE_GIT_REPOSITORY_H_
#define HYDRANT_DAEMON_SOURCE_GIT_REPOSITORY_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/source/git_command.h"
#include "daemon/source/source.h"
#include "lib/base/unique_fd.h"
#include "lib/matrix/git_address.h"

namespace hydrant {

// Errors are GitError's unless said otherwise. One thread at a time.
class GitRepository {
 public:
  // Waits until nobody else, of any process, has the copy of this address in `folder`, and holds it while the
  // object lives. What a process that died left half done is removed.
  static absl::StatusOr<std::unique_ptr<GitRepository>> Open(const std::string& folder,
                                                             const GitAddress& address,
                                                             const GitCommand& git);

  // The commit that `point` is now, by asking the remote; a whole commit is taken at its word. NotFound names
  // the nearest branch, InvalidArgument for what can be no name and for the beginning of two commits.
  absl::StatusOr<std::string> Resolve(const SourcePoint& point) const;

  // Makes the commit and its files be here, and keeps them under `root`. Nothing is asked of the remote when
  // they are. NotFound when the remote has it no more.
  absl::Status Fetch(const std::string& commit, const std::string& root);

  // The files of a commit that is here, into a new folder: bytes, links and executable bits as they were
  // committed, whatever attributes would make of them. ResourceExhausted when they are more than a source may
  // have.
  absl::StatusOr<std::string> Export(const std::string& commit);

  // What the files of a commit became, remembered beside them; "" when not known.
  std::string Exported(const std::string& commit) const;
  absl::Status RememberExported(const std::string& commit, const std::string& store_path) const;

  // Lets go of what only `root` kept, in every copy of `folder`. Every twentieth fetch or so a copy is packed
  // anew.
  static void ReleaseEverywhere(const std::string& folder, const std::string& root, const GitCommand& git);

  // Everything here is thrown away: the next Fetch begins from nothing.
  absl::Status Reset();

 private:
  GitRepository(std::string stem, GitAddress address, const GitCommand& git, UniqueFd lock);
  static absl::StatusOr<std::unique_ptr<GitRepository>> Hold(const std::string& stem,
                                                             const GitAddress& address,
                                                             const GitCommand& git);
  absl::Status MakeUsable() const;
  std::string Directory() const { return stem_ + ".git"; }
  absl::StatusOr<std::string> Git(std::vector<std::string> words,
                                  std::map<std::string, std::string> env = {}) const;
  absl::StatusOr<std::map<std::string, std::string>> RemoteRefs(std::vector<std::string> patterns) const;
  absl::StatusOr<std::string> ResolveDefault() const;
  absl::StatusOr<std::string> ResolveAbbreviated(const std::string& word) const;
  absl::Status NoSuch(const SourcePoint& point) const;
  bool Has(const std::string& commit) const;
  void Release(const std::string& root) const;
  absl::Status FetchOne(const std::string& commit) const;
  absl::Status FetchAll() const;
  absl::Status CheckSize(const std::string& commit) const;

  const std::string stem_;  // of the names beside one another: STEM.git, STEM.lock, STEM.export
  const GitAddress address_;
  const GitCommand& git_;
  const UniqueFd lock_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SOURCE_GIT_REPOSITORY_H_
