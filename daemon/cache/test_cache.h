// For tests: a whole cache on a temporary folder, its record in memory, and archives to put into it.
#ifndef HYDRANT_DAEMON_CACHE_TEST_CACHE_H_
#define HYDRANT_DAEMON_CACHE_TEST_CACHE_H_

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/cache/catalogue.h"
#include "daemon/cache/file_signer.h"
#include "daemon/cache/local_blob_store.h"
#include "daemon/cache/nar_intake.h"
#include "daemon/cache/publisher.h"
#include "lib/base/test_dir.h"
#include "lib/nix/compression.h"
#include "tests/fakes/memory_store.h"

namespace hydrant {

// The archive of one plain file.
inline std::string NarOf(std::string_view content) {
  std::string nar;
  const auto token = [&nar](std::string_view text) {
    for (int shift = 0; shift < 64; shift += 8)
      nar.push_back(static_cast<char>(uint64_t{text.size()} >> shift & 0xff));
    nar.append(text).append((8 - text.size() % 8) % 8, '\0');
  };
  for (std::string_view text : {"nix-archive-1", "(", "type", "regular", "contents"}) token(text);
  token(content);
  token(")");
  return nar;
}

inline std::string Zstd(std::string_view bytes) {
  StringSink out;
  auto compressor = *nix::ZstdCompressor(out);
  (void)compressor->Write(bytes);
  (void)compressor->Finish();
  return out.value;
}

// A path with one plain file and what an uploader would send for it.
struct Package {
  std::string content, file;  // file: the compressed NAR
  nix::NarInfo info;
  std::string blob() const { return info.url.substr(4); }
  std::string narinfo() const { return nix::PrintNarInfo(info); }
  std::string hash_part() const { return std::string(info.store_path.hash_part()); }
  const std::string& path() const { return info.store_path.path(); }
};

inline Package MakePackage(const std::string& name, const std::vector<std::string>& references = {},
                           std::string_view content = "") {
  Package package;
  package.content = content.empty() ? absl::StrCat("content of ", name) : std::string(content);
  const std::string nar = NarOf(package.content);
  package.file = Zstd(nar);
  package.info.store_path = *nix::StorePath::FromBaseName(
      absl::StrCat(nix::ToBase32(nix::HashSha256(name).view().substr(0, 20)), "-", name));
  package.info.file_hash = nix::HashSha256(package.file);
  package.info.file_size = package.file.size();
  package.info.url = absl::StrCat("nar/", package.info.file_hash->ToBase32(), ".nar.zst");
  package.info.compression = "zstd";
  package.info.nar_hash = nix::HashSha256(nar);
  package.info.nar_size = nar.size();
  std::set<std::string> sorted(references.begin(), references.end());
  for (const std::string& reference : sorted)
    package.info.references.push_back(*nix::StorePath::Parse(reference));
  return package;
}

struct TestCache {
  TestDir dir;
  std::unique_ptr<LocalBlobStore> blobs = *LocalBlobStore::Open({.directory = dir / "cache"});
  NarIntake intake{*blobs, int64_t{64} << 20};
  Catalogue catalogue;
  MemoryStore store;
  SystemClock clock;
  std::unique_ptr<FileSigner> release = *FileSigner::OpenOrGenerate(dir / "release.sec", "test-1");
  std::unique_ptr<FileSigner> internal = *FileSigner::OpenOrGenerate(dir / "internal.sec", "test-internal-1");
  std::set<std::string> upstream, found_when_asked;
  Publisher publisher{{store, catalogue, intake, *release, clock,
                       [this](const std::string& path) { return upstream.contains(path); },
                       [this](const std::vector<std::string>& paths) {
                         for (const std::string& path : paths) {
                           if (found_when_asked.contains(path)) upstream.insert(path);
                         }
                       }}};

  TestCache() { (void)store.Load(); }

  void SetDatabaseAway(bool away) {
    store.database().FailNextCommits(away ? 1'000'000 : 0, CommitFault::kUnavailable);
  }
  absl::Status PutBlob(const Package& package) {
    auto upload = *intake.Begin(*BlobName::Parse(package.blob()), static_cast<int64_t>(package.file.size()));
    if (absl::Status written = upload->Write(package.file); !written.ok()) return written;
    return upload->Finish().status();
  }
  absl::Status Stage(const Package& package, AttemptId attempt = {1}) {
    if (absl::Status put = PutBlob(package); !put.ok()) return put;
    return publisher.Stage(package.info, attempt);
  }
  NarInfoState StateOf(const Package& package) { return catalogue.FindPath(package.path())->state; }
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CACHE_TEST_CACHE_H_
