#include "daemon/source/git_repository.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/nearest_word.h"
#include "lib/nix/hash.h"

namespace hydrant {
namespace {

namespace fs = std::filesystem;

// Above all others, so that no .gitattributes of a commit changes a byte on its way out.
constexpr char kAttributes[] = "* -text -eol -ident -filter -working-tree-encoding\n";
constexpr uint64_t kMaxFiles = 1'000'000;
// Heads that stay without a root, since the next fetch sends only what differs from them.
constexpr size_t kRecent = 4;
constexpr char kRecentRefs[] = "refs/hydrant/recent", kRootRefs[] = "refs/hydrant/root",
               kAllRefs[] = "refs/hydrant/all";

std::string StemName(const GitAddress& address) {
  nix::Sha256 hash;
  hash.Write(address.url).IgnoreError();
  return hash.Finish().ToBase32().substr(0, 32);
}

absl::StatusOr<UniqueFd> LockFile(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, "open " + path);
  while (flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return ErrnoStatus(errno, "lock " + path);
  }
  return fd;
}

// Whoever made them is dead, since we hold the lock.
void RemoveLeftovers(const std::string& directory) {
  std::error_code error;
  std::vector<fs::path> stale;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".lock") stale.push_back(entry.path());
  }
  for (const auto& entry : fs::recursive_directory_iterator(directory + "/refs", error)) {
    if (entry.path().extension() == ".lock") stale.push_back(entry.path());
  }
  for (const auto& entry : fs::directory_iterator(directory + "/objects/pack", error)) {
    if (entry.path().filename().string().starts_with("tmp_")) stale.push_back(entry.path());
  }
  for (const fs::path& path : stale) fs::remove(path, error);
}

bool IsAbbreviation(std::string_view word) {
  return word.size() >= 7 && word.size() < 40 &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return absl::ascii_isxdigit(c); });
}

}  // namespace

GitRepository::GitRepository(std::string stem, GitAddress address, const GitCommand& git, UniqueFd lock)
    : stem_(std::move(stem)), address_(std::move(address)), git_(git), lock_(std::move(lock)) {}

absl::StatusOr<std::unique_ptr<GitRepository>> GitRepository::Hold(const std::string& stem,
                                                                   const GitAddress& address,
                                                                   const GitCommand& git) {
  HYDRANT_ASSIGN_OR_RETURN(UniqueFd lock, LockFile(stem + ".lock"));
  std::unique_ptr<GitRepository> repository(new GitRepository(stem, address, git, std::move(lock)));
  HYDRANT_RETURN_IF_ERROR(RemoveTree(stem + ".export"));
  HYDRANT_RETURN_IF_ERROR(repository->MakeUsable());
  return repository;
}

absl::StatusOr<std::unique_ptr<GitRepository>> GitRepository::Open(const std::string& folder,
                                                                   const GitAddress& address,
                                                                   const GitCommand& git) {
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(folder, 0700));
  return Hold(absl::StrCat(folder, "/", StemName(address)), address, git);
}

absl::Status GitRepository::MakeUsable() const {
  if (FileExists(Directory() + "/hydrant-trees")) {
    RemoveLeftovers(Directory());
    return absl::OkStatus();
  }
  // Complete before it has its name.
  const std::string made = stem_ + ".new";
  HYDRANT_RETURN_IF_ERROR(RemoveTree(made));
  HYDRANT_RETURN_IF_ERROR(RemoveTree(Directory()));
  HYDRANT_RETURN_IF_ERROR(
      git_.Run(address_, {"init", "--quiet", "--bare", "--template=", "--initial-branch=none", made})
          .status());
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(made + "/info"));
  HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(made + "/info/attributes", kAttributes));
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(made + "/hydrant-trees"));
  if (rename(made.c_str(), Directory().c_str()) != 0) return ErrnoStatus(errno, "make " + Directory());
  return absl::OkStatus();
}

absl::Status GitRepository::Reset() {
  HYDRANT_RETURN_IF_ERROR(RemoveTree(Directory()));
  return MakeUsable();
}

absl::StatusOr<std::string> GitRepository::Git(std::vector<std::string> words,
                                               std::map<std::string, std::string> env) const {
  env["GIT_DIR"] = Directory();
  auto out = git_.Run(address_, std::move(words), std::move(env));
  std::error_code error;
  // Of a repository of this machine git says no more than of a server.
  if (!absl::IsUnavailable(out.status()) || address_.directory.empty()) return out;
  if (!fs::exists(address_.directory, error))
    return absl::NotFoundError(absl::StrCat("git source ", address_.shown, ": there is no such folder"));
  if (!fs::is_directory(address_.directory, error))
    return absl::InvalidArgumentError(absl::StrCat("git source ", address_.shown, ": not a folder"));
  return out;
}

// ---- What a name means

absl::StatusOr<std::map<std::string, std::string>> GitRepository::RemoteRefs(
    std::vector<std::string> patterns) const {
  std::vector<std::string> words = {"ls-remote", "--quiet", "--", address_.url};
  words.insert(words.end(), patterns.begin(), patterns.end());
  HYDRANT_ASSIGN_OR_RETURN(const std::string out, Git(std::move(words)));
  std::map<std::string, std::string> refs;
  for (absl::string_view line : absl::StrSplit(out, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits('\t', 1));
    if (IsCommit(StdView(parts.first))) refs.emplace(parts.second, parts.first);
  }
  return refs;
}

absl::StatusOr<std::string> GitRepository::ResolveDefault() const {
  HYDRANT_ASSIGN_OR_RETURN(const auto refs, RemoteRefs({"HEAD"}));
  if (const auto head = refs.find("HEAD"); head != refs.end()) return head->second;
  return absl::NotFoundError(absl::StrCat(
      "git source ", address_.shown, ": it has no default branch, or no commit on it; name one in branches"));
}

absl::StatusOr<std::string> GitRepository::ResolveAbbreviated(const std::string& word) const {
  HYDRANT_ASSIGN_OR_RETURN(const auto refs, RemoteRefs({}));
  std::vector<std::string> commits;
  for (const auto& [name, commit] : refs) {
    if (absl::StartsWith(commit, word)) commits.push_back(commit);
  }
  if (auto here = Git({"rev-parse", absl::StrCat("--disambiguate=", word)}); here.ok()) {
    for (absl::string_view line : absl::StrSplit(*here, '\n', absl::SkipEmpty())) {
      if (Has(std::string(line))) commits.emplace_back(line);
    }
  }
  std::sort(commits.begin(), commits.end());
  commits.erase(std::unique(commits.begin(), commits.end()), commits.end());
  if (commits.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("git source ", address_.shown, ": ", word, " begins ",
                                                   commits[0], " and ", commits[1], "; give more digits"));
  }
  if (commits.empty()) {
    return absl::NotFoundError(absl::StrCat("git source ", address_.shown, ": ", word,
                                            " begins no branch's and no tag's commit; give all 40 digits"));
  }
  return commits[0];
}

absl::Status GitRepository::NoSuch(const SourcePoint& point) const {
  const bool branch = point.revision.empty();
  const std::string& word = branch ? point.branch : point.revision;
  std::vector<std::string> names;
  HYDRANT_ASSIGN_OR_RETURN(const auto refs, RemoteRefs({}));
  for (const auto& [name, commit] : refs) {
    if (absl::StartsWith(name, "refs/heads/")) names.push_back(name.substr(11));
    if (!branch && absl::StartsWith(name, "refs/tags/")) names.push_back(name.substr(10));
  }
  return absl::NotFoundError(absl::StrCat("git source ", address_.shown, ": there is no branch",
                                          branch ? " '" : ", tag or commit '", word, "'",
                                          NearestHint(word, names)));
}

absl::StatusOr<std::string> GitRepository::Resolve(const SourcePoint& point) const {
  const std::string& word = point.revision.empty() ? point.branch : point.revision;
  if (word.empty()) return ResolveDefault();
  if (IsCommit(point.revision)) return absl::AsciiStrToLower(word);
  if (!IsRefName(word)) {
    return absl::InvalidArgumentError(
        absl::StrCat("git source ", address_.shown, ": '", word, "' can be no branch, tag or commit"));
  }
  std::vector<std::string> names = {absl::StrCat("refs/heads/", word)};
  if (!point.revision.empty()) {
    names.push_back(absl::StrCat("refs/tags/", word, "^{}"));  // what an annotated tag stands for
    names.push_back(absl::StrCat("refs/tags/", word));
  }
  HYDRANT_ASSIGN_OR_RETURN(const auto refs, RemoteRefs(names));
  for (const std::string& name : names) {
    if (const auto found = refs.find(name); found != refs.end()) return found->second;
  }
  if (!point.revision.empty() && IsAbbreviation(word)) return ResolveAbbreviated(absl::AsciiStrToLower(word));
  return NoSuch(point);
}

// ---- Fetching

bool GitRepository::Has(const std::string& commit) const {
  return Git({"cat-file", "-e", absl::StrCat(commit, "^{commit}")}).ok();
}

absl::Status GitRepository::FetchOne(const std::string& commit) const {
  return Git({"fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head",
              "--no-recurse-submodules", "--no-auto-maintenance", "--", address_.url,
              absl::StrCat("+", commit, ":", kRecentRefs, "/", commit)})
      .status();
}

// All that branches and tags lead to, for a server that gives nothing less.
absl::Status GitRepository::FetchAll() const {
  std::vector<std::string> words = {"fetch",
                                    "--quiet",
                                    "--no-tags",
                                    "--no-write-fetch-head",
                                    "--no-recurse-submodules",
                                    "--no-auto-maintenance"};
  if (FileExists(Directory() + "/shallow")) words.push_back("--unshallow");
  for (const std::string& word :
       {std::string("--"), address_.url, absl::StrCat("+refs/heads/*:", kAllRefs, "/heads/*"),
        absl::StrCat("+refs/tags/*:", kAllRefs, "/tags/*")}) {
    words.push_back(word);
  }
  return Git(std::move(words)).status();
}

absl::Status GitRepository::Fetch(const std::string& commit, const std::string& root) {
  if (!Has(commit)) {
    absl::Status fetched = FetchOne(commit);
    if (absl::IsFailedPrecondition(fetched)) {
      fetched = FetchAll();
      if (fetched.ok() && !Has(commit)) {
        fetched = absl::NotFoundError(absl::StrCat("git source ", address_.shown,
                                                   ": no branch and no tag leads to ", commit,
                                                   " any more, and the server gives no commit by itself"));
      }
    }
    HYDRANT_RETURN_IF_ERROR(fetched);
    if (!Has(commit))
      return absl::NotFoundError(absl::StrCat("git source ", address_.shown, ": ", commit, " is no commit"));
  }
  for (const std::string& ref :
       {absl::StrCat(kRecentRefs, "/", commit), absl::StrCat(kRootRefs, "/", root, "/", commit)})
    HYDRANT_RETURN_IF_ERROR(Git({"update-ref", ref, commit}).status());
  return RemoveTree(absl::StrCat(Directory(), "/", kAllRefs));
}

// ---- Out of git

absl::Status GitRepository::CheckSize(const std::string& commit) const {
  HYDRANT_ASSIGN_OR_RETURN(const std::string sizes, Git({"ls-tree", "-r", "--format=%(objectsize)", commit}));
  uint64_t files = 0, bytes = 0;
  for (absl::string_view line : absl::StrSplit(sizes, '\n', absl::SkipEmpty())) {
    uint64_t size = 0;
    ++files;
    if (absl::SimpleAtoi(absl::StripAsciiWhitespace(line), &size)) bytes += size;
  }
  if (files <= kMaxFiles && bytes <= git_.options().max_file_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("git source ", address_.shown, ": ", commit, " has ", files, " files of ", bytes,
                   " bytes, and a source may have ", kMaxFiles, " of ", git_.options().max_file_bytes));
}

absl::StatusOr<std::string> GitRepository::Export(const std::string& commit) {
  HYDRANT_RETURN_IF_ERROR(CheckSize(commit));
  const std::string made = stem_ + ".export", files = made + "/files";
  HYDRANT_RETURN_IF_ERROR(RemoveTree(made));
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(files));
  const std::map<std::string, std::string> env = {{"GIT_INDEX_FILE", made + "/index"},
                                                  {"GIT_WORK_TREE", files}};
  HYDRANT_RETURN_IF_ERROR(Git({"read-tree", commit}, env).status());
  HYDRANT_RETURN_IF_ERROR(Git({"-c", "core.bare=false", "checkout-index", "--all", "--force", "--quiet",
                               absl::StrCat("--prefix=", files, "/")},
                              env)
                              .status());
  return files;
}

std::string GitRepository::Exported(const std::string& commit) const {
  const auto text = ReadFile(absl::StrCat(Directory(), "/hydrant-trees/", commit));
  return text.ok() && absl::StartsWith(*text, "/nix/store/") ? *text : "";
}

absl::Status GitRepository::RememberExported(const std::string& commit, const std::string& store_path) const {
  return WriteFileAtomically(absl::StrCat(Directory(), "/hydrant-trees/", commit), store_path);
}

// ---- Letting go

void GitRepository::Release(const std::string& root) const {
  RemoveTree(absl::StrCat(Directory(), "/", kRootRefs, "/", root)).IgnoreError();
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> recent;
  for (const auto& entry : fs::directory_iterator(absl::StrCat(Directory(), "/", kRecentRefs), error))
    recent.emplace_back(entry.last_write_time(error), entry.path());
  std::sort(recent.rbegin(), recent.rend());
  for (size_t i = kRecent; i < recent.size(); ++i) fs::remove(recent[i].second, error);
  Git({"-c", "gc.auto=6700", "-c", "gc.autoPackLimit=20", "-c", "gc.autoDetach=false", "-c",
       "gc.pruneExpire=now", "gc", "--auto", "--quiet"})
      .IgnoreError();
}

void GitRepository::ReleaseEverywhere(const std::string& folder, const std::string& root,
                                      const GitCommand& git) {
  std::error_code error;
  std::vector<std::string> stems;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".git" &&
        FileExists(absl::StrCat(entry.path().string(), "/", kRootRefs, "/", root)))
      stems.push_back((entry.path().parent_path() / entry.path().stem()).string());
  }
  for (const std::string& stem : stems) {
    auto repository = Hold(stem, {.url = stem, .shown = stem, .directory = stem}, git);
    if (repository.ok()) (*repository)->Release(root);
  }
}

}  // namespace hydrant
