// For tests of archives: folders in memory, random trees, archives by hand, what Nix says of them.
#ifndef HYDRANT_LIB_NIX_NAR_FIXTURE_H_
#define HYDRANT_LIB_NIX_NAR_FIXTURE_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/subprocess.h"
#include "lib/nix/nar.h"

namespace hydrant::nix {

// A fresh folder in memory where there is /dev/shm: a disk may take minutes for 100,000 files.
class MemoryDir {
 public:
  MemoryDir() {
    path_ = access("/dev/shm", W_OK) == 0 ? "/dev/shm/hydrant-test-XXXXXX" : "/tmp/hydrant-test-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) abort();
    if (chmod(path_.c_str(), 0755) != 0) abort();
  }
  ~MemoryDir() {
    if (const absl::Status removed = RemoveTree(path_); !removed.ok()) {
      std::fprintf(stderr, "%s\n", removed.ToString().c_str());
    }
  }
  MemoryDir(const MemoryDir&) = delete;
  MemoryDir& operator=(const MemoryDir&) = delete;
  std::string operator/(std::string_view name) const { return absl::StrCat(path_, "/", AbslView(name)); }

 private:
  std::string path_;
};

inline std::string NarToken(std::string_view text) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(uint64_t{text.size()} >> (8 * i));
  out.append(text);
  out.append((8 - text.size() % 8) % 8, '\0');
  return out;
}

inline std::string NarTokens(std::initializer_list<std::string_view> texts) {
  std::string out = NarToken("nix-archive-1");
  for (const std::string_view text : texts) out += NarToken(text);
  return out;
}

// What a program prints; `input` on its standard input.
inline std::string Printed(std::vector<std::string> argv, std::string_view input = {}) {
  auto done = hydrant::Run(
      {.argv = std::move(argv),
       .env = {{"NIX_REMOTE", "dummy://"}, {"NIX_CONFIG", "experimental-features = nix-command"}}},
      input, absl::Minutes(5), 256 << 20);
  EXPECT_TRUE(done.ok() && done->status.ok()) << done.status() << (done.ok() ? done->err : "");
  return done.ok() ? done->out : "";
}

inline std::string NixDump(const std::string& path) { return Printed({"nix-store", "--dump", path}); }

inline std::string OurDump(const std::string& path) {
  StringSink sink;
  const absl::Status dumped = DumpPath(path, sink);
  EXPECT_TRUE(dumped.ok()) << dumped;
  return sink.value;
}

// Trees of odd names, contents and links; the same for the same seed.
class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {}

  void Make(const std::string& path, int depth = 0) {
    ASSERT_EQ(mkdir(path.c_str(), 0755), 0) << path;
    const unsigned count = Below(depth == 0 ? 12 : 6);
    for (unsigned i = 0; i < count; ++i) MakeEntry(absl::StrCat(path, "/", Name()), depth);
  }

 private:
  unsigned Below(unsigned n) { return static_cast<unsigned>(random_() % n); }

  std::string Bytes(size_t length) {
    std::string out(length, 0);
    for (char& c : out) c = static_cast<char>(random_());
    return out;
  }

  // As a name or target; no '%', for Nix 2.8's `nix nar ls` takes what it prints for a format.
  std::string Text(size_t length, char instead) {
    std::string out = Bytes(length);
    for (char& c : out) c = c == '%' || c == '\0' ? instead : c;
    return out;
  }

  std::string Name() {
    static const std::vector<std::string> kOdd = {"a",        "A",
                                                  "a.b",      "a-b",
                                                  "a b",      "\n",
                                                  "\"",       "\\",
                                                  "'",        "*",
                                                  " ",        "...",
                                                  "..a",      "-rf",
                                                  "~",        "a\tb",
                                                  "\xC3\xBC", "\xFF",
                                                  "\x80",     "\x7F",
                                                  "\x01",     "\xE9t\xE9",
                                                  "ab",       "a\xFF",
                                                  "a!",       std::string(255, 'n')};
    if (Below(2) == 0) return kOdd[Below(kOdd.size())];
    std::string name = Text(1 + Below(40), 'x');
    for (char& c : name) c = c == '/' ? 'x' : c;
    return name == "." || name == ".." ? "dots" : name;
  }

  void MakeEntry(const std::string& path, int depth) {
    struct stat info {};
    if (lstat(path.c_str(), &info) == 0) return;  // the name was drawn before
    const unsigned kind = Below(8);
    if (kind == 0 && depth < 12) return Make(path, depth + 1);
    if (kind == 1) return Symlink(path);
    if (kind == 2 && !files_.empty()) {
      ASSERT_EQ(link(files_[Below(files_.size())].c_str(), path.c_str()), 0);
      return;
    }
    if (kind == 3 && depth < 12) {
      ASSERT_EQ(mkdir(path.c_str(), 0755), 0);
      return;
    }
    static constexpr mode_t kModes[] = {0644, 0755, 0400, 0100, 0111, 0011, 04755, 0666};
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ASSERT_GE(fd, 0) << path;
    const std::string bytes = Bytes(Below(3) == 0 ? Below(10) : Below(3) == 0 ? Below(600'000) : Below(3000));
    const off_t hole = Below(6) == 0 ? 1 << 20 : 0;
    EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), hole), static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(fchmod(fd, kModes[Below(std::size(kModes))]), 0);
    close(fd);
    files_.push_back(path);
  }

  void Symlink(const std::string& path) {
    const std::string target = Below(2) == 0   ? Name()
                               : Below(2) == 0 ? "../../../../etc/passwd"
                                               : Text(1 + Below(4000), '/');
    ASSERT_EQ(symlink(target.c_str(), path.c_str()), 0);
  }

  std::mt19937 random_;
  std::vector<std::string> files_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_NAR_FIXTURE_H_
