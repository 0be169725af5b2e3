#include "daemon/cache/publisher.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "daemon/cache/content_address.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "lib/nix/compression.h"

namespace hydrant {
namespace {

absl::StatusOr<BlobName> BlobOf(const nix::NarInfo& info) {
  constexpr std::string_view kFolder = "nar/";
  if (!info.url.starts_with(kFolder)) {
    return absl::InvalidArgumentError(
        absl::StrCat("URL \"", info.url, "\": expected nar/<file hash>.nar and its extension"));
  }
  HYDRANT_ASSIGN_OR_RETURN(BlobName name, BlobName::Parse(std::string_view(info.url).substr(kFolder.size())));
  HYDRANT_ASSIGN_OR_RETURN(const std::string codec, nix::CompressionOfExtension(name.extension));
  if (codec != info.compression) {
    return absl::InvalidArgumentError(
        absl::StrCat("Compression ", info.compression, " does not fit the URL ", info.url));
  }
  if (!info.file_hash || info.file_hash->ToBase32() != name.file_hash) {
    return absl::InvalidArgumentError(absl::StrCat("FileHash is not the one of the URL ", info.url));
  }
  return name;
}

std::vector<std::string> Paths(const std::vector<nix::StorePath>& references) {
  std::vector<std::string> paths;
  for (const nix::StorePath& reference : references) paths.push_back(reference.path());
  return paths;
}

NarInfoRecord RecordOf(const nix::NarInfo& info, AttemptId attempt, absl::Time now) {
  NarInfoRecord record;
  record.path = info.store_path.path();
  record.compression = info.compression;
  record.file_hash = info.file_hash->ToBase32();
  record.file_size = static_cast<int64_t>(info.file_size);
  record.nar_hash = info.nar_hash.ToBase32();
  record.nar_size = static_cast<int64_t>(info.nar_size);
  record.references = Paths(info.references);
  record.deriver = info.deriver;
  record.content_address = info.content_address;
  record.attempt = attempt;
  record.staged_at = now;
  return record;
}

absl::Status Mismatch(const nix::NarInfo& info, std::string_view field, std::string_view claimed,
                      std::string_view actual) {
  return absl::InvalidArgumentError(absl::StrCat(info.store_path.path(), ": ", AbslView(field), " is ",
                                                 AbslView(claimed), ", but ", info.url, " holds ",
                                                 AbslView(actual)));
}

// A guard that does not hold though memory says so: memory is behind the record, after a commit whose fate
// was not known, and whoever owns it reads it again.
absl::Status AsRecorded(const absl::Status& committed) {
  return absl::IsFailedPrecondition(committed) ? UnknownCommit(StdView(committed.message())) : committed;
}

// The name in a store path.
std::string_view NameIn(std::string_view path) {
  const size_t start = nix::kStoreDir.size() + 1 + nix::kHashPartLength + 1;
  return path.size() < start ? std::string_view() : path.substr(start);
}

// Gives each record that is not published yet, or held, its tier. The closure is whole but for what is
// public.
void AssignTiers(const std::vector<std::string>& roots, const PublishingTiers& tiers,
                 std::vector<NarInfoRecord>& closure) {
  absl::flat_hash_map<std::string, size_t> places;
  for (size_t i = 0; i < closure.size(); ++i) places[closure[i].path] = i;
  std::vector<std::vector<size_t>> referrers(closure.size());
  std::vector<bool> is_private(closure.size()), is_public(closure.size());
  const auto spread = [](std::vector<bool>& marked, std::vector<size_t> todo, const auto& next) {
    while (!todo.empty()) {
      const size_t at = todo.back();
      todo.pop_back();
      if (marked[at]) continue;
      marked[at] = true;
      for (size_t other : next(at)) todo.push_back(other);
    }
  };
  const auto references = [&](size_t at) {
    std::vector<size_t> there;
    for (const std::string& reference : closure[at].references) {
      if (const auto found = places.find(reference); found != places.end()) there.push_back(found->second);
    }
    return there;
  };
  std::vector<size_t> closed, open;
  for (size_t i = 0; i < closure.size(); ++i) {
    for (size_t reference : references(i)) referrers[reference].push_back(i);
    const bool recorded =
        closure[i].state == NarInfoState::kPublished && closure[i].tier == NarInfoTier::kPrivate;
    const bool by_name = tiers.own && tiers.own(NameIn(closure[i].path)) == NarInfoTier::kPrivate;
    if (recorded || by_name) closed.push_back(i);
  }
  for (const std::string& root : roots) {
    const auto found = places.find(root);
    if (found == places.end()) continue;
    if (tiers.roots == NarInfoTier::kPrivate) closed.push_back(found->second);
    if (tiers.roots == NarInfoTier::kPublic) open.push_back(found->second);
  }
  spread(is_private, std::move(closed), [&](size_t at) { return referrers[at]; });
  std::erase_if(open, [&](size_t root) { return is_private[root]; });
  spread(is_public, std::move(open), references);
  for (size_t i = 0; i < closure.size(); ++i) {
    NarInfoRecord& record = closure[i];
    if (is_public[i]) {
      record.tier = NarInfoTier::kPublic;
    } else if (record.state == NarInfoState::kStaged) {
      record.tier = is_private[i] ? NarInfoTier::kPrivate : NarInfoTier::kHeld;
    }
  }
}

}  // namespace

absl::Status Publisher::Verify(const nix::NarInfo& info) {
  HYDRANT_RETURN_IF_ERROR(nix::CheckForStorage(info));
  HYDRANT_ASSIGN_OR_RETURN(const BlobName blob, BlobOf(info));
  const absl::StatusOr<BlobFacts> facts = options_.intake.Facts(blob);
  if (absl::IsNotFound(facts.status())) {
    return absl::FailedPreconditionError(
        absl::StrCat(info.url, " is not here: upload the NAR before its narinfo"));
  }
  if (!facts.ok()) return facts.status();
  if (facts->nar_hash != info.nar_hash) {
    return Mismatch(info, "NarHash", info.nar_hash.ToNixString(), facts->nar_hash.ToNixString());
  }
  if (static_cast<uint64_t>(facts->nar_size) != info.nar_size) {
    return Mismatch(info, "NarSize", std::to_string(info.nar_size), std::to_string(facts->nar_size));
  }
  if (static_cast<uint64_t>(facts->file_size) != info.file_size) {
    return Mismatch(info, "FileSize", std::to_string(info.file_size), std::to_string(facts->file_size));
  }
  if (info.content_address.empty()) return absl::OkStatus();
  HYDRANT_RETURN_IF_ERROR(CheckContentAddress(info));
  if (const auto flat = FlatHashOf(info.content_address)) {
    FlatFileHash file;
    HYDRANT_RETURN_IF_ERROR(options_.intake.Decode(blob, file));
    HYDRANT_ASSIGN_OR_RETURN(const nix::Sha256Digest actual, file.Finish());
    if (actual != *flat)
      return Mismatch(info, "CA", info.content_address, absl::StrCat("a file with ", actual.ToNixString()));
  }
  return absl::OkStatus();
}

bool Publisher::Holds(const std::string& store_path) const {
  return options_.catalogue.FindPath(store_path) != nullptr || options_.held_upstream(store_path);
}

void Publisher::AskUpstream(const nix::NarInfo& info) const {
  if (!options_.ask_upstream) return;
  std::vector<std::string> unknown;
  for (const nix::StorePath& reference : info.references) {
    if (reference != info.store_path && !Holds(reference.path())) unknown.push_back(reference.path());
  }
  if (!unknown.empty()) options_.ask_upstream(unknown);
}

absl::Status Publisher::CheckReferences(const nix::NarInfo& info, bool published) const {
  for (const nix::StorePath& reference : info.references) {
    if (reference == info.store_path) continue;
    const auto record = options_.catalogue.FindPath(reference.path());
    if (record != nullptr && (!published || record->state == NarInfoState::kPublished)) continue;
    if (options_.held_upstream(reference.path())) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(info.store_path.path(), " refers to ", reference.path(), ", which is ",
                     record == nullptr ? "neither here nor upstream" : "not published"));
  }
  return absl::OkStatus();
}

absl::Status Publisher::Stage(const nix::NarInfo& info, AttemptId attempt) {
  HYDRANT_RETURN_IF_ERROR(Verify(info));
  AskUpstream(info);
  MutexLock lock(mu_);
  return StageLocked(info, attempt);
}

absl::Status Publisher::StageLocked(const nix::NarInfo& info, AttemptId attempt) {
  const std::string& path = info.store_path.path();
  if (const auto there = options_.catalogue.Find(info.store_path.hash_part()); there != nullptr) {
    if (there->path == path && there->nar_hash == info.nar_hash.ToBase32() &&
        there->references == Paths(info.references)) {
      return absl::OkStatus();
    }
    Log(LogLevel::kWarning, "upload contradicts what is here",
        {{"path", path},
         {"here", there->nar_hash},
         {"offered", info.nar_hash.ToBase32()},
         {"attempt", attempt.value}});
    return absl::AlreadyExistsError(
        absl::StrCat(path, " is here with NarHash sha256:", there->nar_hash,
                     there->path == path ? "" : absl::StrCat(" as ", there->path),
                     "; the first upload wins, and this one differs in hash, name or references"));
  }
  HYDRANT_RETURN_IF_ERROR(CheckReferences(info, /*published=*/false));
  NarInfoRecord record = RecordOf(info, attempt, options_.clock.Now());
  HYDRANT_RETURN_IF_ERROR(AsRecorded(options_.store.Commit({StageNarInfo{record}})));
  options_.catalogue.Put({std::move(record)});
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NarInfoRecord>> Publisher::OpenClosure(const std::vector<std::string>& roots,
                                                                  const PublishingTiers& tiers) const {
  std::vector<NarInfoRecord> closure;
  std::set<std::string> seen(roots.begin(), roots.end());
  std::vector<std::pair<std::string, std::string>> open;  // path, who refers to it
  for (const std::string& root : seen) open.emplace_back(root, "");
  while (!open.empty()) {
    const auto [path, referrer] = std::move(open.back());
    open.pop_back();
    const auto record = options_.catalogue.FindPath(path);
    if (record == nullptr) {
      if (options_.held_upstream(path)) continue;
      return absl::FailedPreconditionError(
          absl::StrCat(path, referrer.empty() ? "" : ", to which " + referrer + " refers,",
                       " is neither here nor upstream"));
    }
    // Then its closure is public too.
    if (Catalogue::Shows(*record, Catalogue::Sees::kPublic)) continue;
    closure.push_back(*record);
    for (const std::string& reference : record->references) {
      if (seen.insert(reference).second) open.emplace_back(reference, path);
    }
  }
  AssignTiers(roots, tiers, closure);
  return closure;
}

absl::StatusOr<int64_t> Publisher::Publish(const std::vector<std::string>& roots,
                                           const PublishingTiers& tiers) {
  MutexLock lock(mu_);
  return PublishLocked(roots, tiers);
}

absl::StatusOr<int64_t> Publisher::PublishLocked(const std::vector<std::string>& roots,
                                                 const PublishingTiers& tiers) {
  HYDRANT_ASSIGN_OR_RETURN(std::vector<NarInfoRecord> records, OpenClosure(roots, tiers));
  PublishNarInfos publish;
  publish.at = options_.clock.Now();
  OpenNarInfos open;
  std::vector<NarInfoRecord> moved;
  for (NarInfoRecord& record : records) {
    if (record.state == NarInfoState::kStaged) {
      HYDRANT_ASSIGN_OR_RETURN(std::string signature,
                               options_.signer.Sign(nix::Fingerprint(NarInfoOf(record))));
      record.signatures = {std::move(signature)};
      record.state = NarInfoState::kPublished;
      record.published_at = publish.at;
      publish.entries.push_back({record.path, record.signatures, record.tier});
    } else if (record.tier == NarInfoTier::kPublic) {
      open.paths.push_back(record.path);
    } else {
      continue;
    }
    moved.push_back(std::move(record));
  }
  Batch changes;
  const auto count = static_cast<int64_t>(publish.entries.size());
  if (!publish.entries.empty()) changes.emplace_back(std::move(publish));
  if (!open.paths.empty()) changes.emplace_back(std::move(open));
  if (changes.empty()) return 0;
  HYDRANT_RETURN_IF_ERROR(AsRecorded(options_.store.Commit(changes)));
  options_.catalogue.Put(std::move(moved));
  return count;
}

NarInfoTier Publisher::TierOfReferences(const nix::NarInfo& info) const {
  NarInfoTier tier = NarInfoTier::kPublic;
  for (const nix::StorePath& reference : info.references) {
    const auto record = options_.catalogue.FindPath(reference.path());
    if (record == nullptr || record->tier == NarInfoTier::kPublic || reference == info.store_path) continue;
    if (record->tier == NarInfoTier::kPrivate) return NarInfoTier::kPrivate;
    tier = NarInfoTier::kHeld;
  }
  return tier;
}

absl::Status Publisher::PublishByHand(const nix::NarInfo& info) {
  HYDRANT_RETURN_IF_ERROR(Verify(info));
  AskUpstream(info);
  MutexLock lock(mu_);
  HYDRANT_RETURN_IF_ERROR(CheckReferences(info, /*published=*/true));
  HYDRANT_RETURN_IF_ERROR(StageLocked(info, AttemptId()));
  return PublishLocked({info.store_path.path()}, {.roots = TierOfReferences(info)}).status();
}

nix::NarInfo NarInfoOf(const NarInfoRecord& record) {
  // A record was verified when it was made: what cannot be read is left empty and then matches no path.
  nix::NarInfo info;
  info.store_path = nix::StorePath::Parse(record.path).value_or(nix::StorePath());
  const std::string extension = nix::FileExtension(record.compression).value_or("");
  info.url = absl::StrCat("nar/", record.file_hash, ".nar", extension);
  info.compression = record.compression;
  info.file_hash = nix::Sha256Digest::Parse(record.file_hash).value_or(nix::Sha256Digest());
  info.file_size = static_cast<uint64_t>(record.file_size);
  info.nar_hash = nix::Sha256Digest::Parse(record.nar_hash).value_or(nix::Sha256Digest());
  info.nar_size = static_cast<uint64_t>(record.nar_size);
  for (const std::string& reference : record.references) {
    if (auto path = nix::StorePath::Parse(reference); path.ok()) info.references.push_back(*std::move(path));
  }
  info.deriver = record.deriver;
  info.content_address = record.content_address;
  info.signatures = record.signatures;
  return info;
}

}  // namespace hydrant
