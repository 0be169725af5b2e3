// What DaemonClient asks of a store.
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/daemon_call.h"
#include "lib/nix/daemon_client.h"
#include "lib/nix/daemon_encoding.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {

using enum DaemonOperation;

namespace {

// References before referrers. A path is ready once all that it refers to, but itself, is in the order.
absl::StatusOr<std::vector<PathInfo>> InOrderOfReferences(std::map<std::string, PathInfo> infos) {
  std::map<std::string_view, std::vector<std::string_view>> referrers;
  std::map<std::string_view, size_t> missing;
  std::vector<std::string_view> ready;
  for (const auto& [path, info] : infos) {
    for (const std::string& reference : info.references) {
      if (reference == path) continue;
      referrers[reference].push_back(path);
      ++missing[path];
    }
    if (missing[path] == 0) ready.push_back(path);
  }
  for (size_t i = 0; i < ready.size(); ++i) {
    for (const std::string_view referrer : referrers[ready[i]]) {
      if (--missing[referrer] == 0) ready.push_back(referrer);
    }
  }
  if (ready.size() != infos.size()) return absl::DataLossError("the Nix store's references form a circle");
  std::vector<PathInfo> order;
  order.reserve(ready.size());
  std::vector<std::string> keys(ready.begin(), ready.end());
  for (const std::string& path : keys) order.push_back(std::move(infos.at(path)));
  return order;
}

}  // namespace

absl::StatusOr<bool> DaemonClient::IsValidPath(std::string_view path) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kIsValidPath, path));
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return impl_->in().ReadBool();
}

absl::StatusOr<std::set<std::string>> DaemonClient::QueryValidPaths(const std::set<std::string>& paths,
                                                                    bool substitute) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePaths(paths));
  if (substitute) HYDRANT_RETURN_IF_ERROR(CheckSince(27, "QueryValidPaths that substitutes", protocol()));
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kQueryValidPaths));
  impl_->out().PutStrings(paths);
  if (protocol().minor >= 27) impl_->out().PutBool(substitute);
  HYDRANT_RETURN_IF_ERROR(substitute ? impl_->Work(nullptr) : impl_->Ask());
  return impl_->in().ReadStrings();
}

absl::StatusOr<std::set<std::string>> DaemonClient::QueryAllValidPaths() {
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kQueryAllValidPaths));
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return impl_->in().ReadStrings();
}

absl::StatusOr<PathInfo> DaemonClient::QueryPathInfo(std::string_view path) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kQueryPathInfo, path));
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  HYDRANT_ASSIGN_OR_RETURN(const bool valid, impl_->in().ReadBool());
  if (!valid) return NotValidError(path);
  return ReadUnkeyedPathInfo(impl_->in(), std::string(path));
}

absl::StatusOr<std::map<std::string, PathInfo>> DaemonClient::QueryPathInfos(
    const std::set<std::string>& paths) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePaths(paths));
  const std::vector<std::string> asked(paths.begin(), paths.end());
  std::map<std::string, PathInfo> infos;
  HYDRANT_RETURN_IF_ERROR(impl_->Pipeline(
      asked.size(), [&](size_t i) { return impl_->BeginWithPath(kQueryPathInfo, asked[i]); },
      [&](size_t i) -> absl::Status {
        HYDRANT_ASSIGN_OR_RETURN(const bool valid, impl_->in().ReadBool());
        if (!valid) return absl::OkStatus();
        HYDRANT_ASSIGN_OR_RETURN(PathInfo info, ReadUnkeyedPathInfo(impl_->in(), asked[i]));
        infos.emplace(asked[i], std::move(info));
        return absl::OkStatus();
      }));
  return infos;
}

absl::StatusOr<std::vector<PathInfo>> DaemonClient::QueryClosure(const std::set<std::string>& paths) {
  std::map<std::string, PathInfo> infos;
  std::set<std::string> wave = paths;
  while (!wave.empty()) {
    absl::StatusOr<std::map<std::string, PathInfo>> found = QueryPathInfos(wave);
    if (!found.ok()) return found.status();
    std::set<std::string> next;
    for (const std::string& path : wave) {
      const auto info = found->find(path);
      if (info == found->end()) return NotValidError(path);
      for (const std::string& reference : info->second.references) next.insert(reference);
    }
    infos.merge(*found);
    std::erase_if(next, [&](const std::string& path) { return infos.contains(path); });
    wave = std::move(next);
  }
  return InOrderOfReferences(std::move(infos));
}

absl::StatusOr<std::set<std::string>> DaemonClient::QueryReferrers(std::string_view path) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kQueryReferrers, path));
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return impl_->in().ReadStrings();
}

absl::StatusOr<std::set<std::string>> DaemonClient::QueryValidDerivers(std::string_view path) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kQueryValidDerivers, path));
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return impl_->in().ReadStrings();
}

absl::StatusOr<std::map<std::string, std::string>> DaemonClient::QueryDerivationOutputMap(
    std::string_view derivation) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kQueryDerivationOutputMap, derivation));
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return impl_->in().ReadMap();
}

absl::StatusOr<std::string> DaemonClient::QueryPathFromHashPart(std::string_view hash_part) {
  if (!IsHashPart(hash_part)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", AbslView(hash_part), "\" is no hash part, expected 32 characters of Nix's base32"));
  }
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kQueryPathFromHashPart));
  impl_->out().PutString(hash_part);
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return impl_->in().ReadString();
}

absl::StatusOr<std::set<std::string>> DaemonClient::QuerySubstitutablePaths(
    const std::set<std::string>& paths) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePaths(paths));
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kQuerySubstitutablePaths));
  impl_->out().PutStrings(paths);
  HYDRANT_RETURN_IF_ERROR(impl_->Work(nullptr));
  return impl_->in().ReadStrings();
}

absl::StatusOr<std::map<std::string, SubstitutablePath>> DaemonClient::QuerySubstitutablePathInfos(
    const std::set<std::string>& paths) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePaths(paths));
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kQuerySubstitutablePathInfos));
  if (protocol().minor < 22) {
    impl_->out().PutStrings(paths);
  } else {
    std::map<std::string, std::string> content_addresses;  // none is known
    for (const std::string& path : paths) content_addresses.emplace(path, "");
    impl_->out().PutMap(content_addresses);
  }
  HYDRANT_RETURN_IF_ERROR(impl_->Work(nullptr));
  return ReadSubstitutablePaths(impl_->in());
}

absl::StatusOr<MissingPaths> DaemonClient::QueryMissing(const std::vector<DerivedPath>& paths) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithTargets(kQueryMissing, paths));
  HYDRANT_RETURN_IF_ERROR(impl_->Work(nullptr));
  return ReadMissingPaths(impl_->in());
}

absl::StatusOr<std::optional<DaemonRealisation>> DaemonClient::QueryRealisation(
    const DerivationOutputId& id) {
  HYDRANT_RETURN_IF_ERROR(impl_->CheckOutputId(id));
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kQueryRealisation));
  PutOutputId(impl_->out(), protocol(), id);
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return ReadFoundRealisation(impl_->in(), protocol(), id);
}

}  // namespace hydrant::nix
