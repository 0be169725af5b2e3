// For tests: a git repository whose commits depend on their files alone, and a server of git's own behind
// HTTP.
#ifndef HYDRANT_DAEMON_SOURCE_GIT_FIXTURE_H_
#define HYDRANT_DAEMON_SOURCE_GIT_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"

namespace hydrant {

class TestRepository {
 public:
  explicit TestRepository(std::string folder) : folder_(std::move(folder)) {
    EXPECT_TRUE(MakeDirectories(folder_).ok());
    if (!FileExists(folder_ + "/.git")) Git({"init", "--quiet", "--initial-branch=main"});
  }

  const std::string& folder() const { return folder_; }
  std::string url() const { return "file://" + folder_; }

  std::string Git(std::vector<std::string> words) const {
    std::vector<std::string> argv = {"git", "-c",       "user.name=t", "-c", "user.email=t@example.org",
                                     "-c",  "gc.auto=0"};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto done = Run({.argv = std::move(argv),
                           .env = {{"GIT_CONFIG_GLOBAL", "/dev/null"},
                                   {"GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"},
                                   {"GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z"}},
                           .directory = folder_});
    EXPECT_TRUE(done.ok() && done->status.ok()) << (done.ok() ? done->err : done.status().ToString());
    return done.ok() ? std::string(absl::StripAsciiWhitespace(done->out)) : "";
  }

  void Write(const std::string& name, const std::string& text) const {
    const std::string path = absl::StrCat(folder_, "/", name);
    EXPECT_TRUE(MakeDirectories(path.substr(0, path.rfind('/'))).ok());
    EXPECT_TRUE(WriteFileAtomically(path, text).ok());
  }

  // Everything in the folder, on the branch that is out. The commit.
  std::string Commit() const {
    Git({"add", "--all"});
    Git({"commit", "--quiet", "--allow-empty", "--message=x"});
    return Git({"rev-parse", "HEAD"});
  }
  std::string Commit(const std::string& name, const std::string& text) const {
    Write(name, text);
    return Commit();
  }

 private:
  const std::string folder_;
};

// git http-backend for the repositories under a folder, on a port of this machine. With `oldest_protocol` it
// speaks version 0 and gives only what its branches and tags point to.
class TestHttpServer {
 public:
  explicit TestHttpServer(const std::string& folder, bool oldest_protocol = false) {
    auto started =
        Subprocess::Start({.argv = {"python3", HYDRANT_SOURCE_DIR "/daemon/source/git_http_server.py", folder,
                                    oldest_protocol ? "0" : "2"},
                           .pipe_stdout = true});
    EXPECT_TRUE(started.ok()) << started.status();
    process_ = *std::move(started);
    for (char c = 0; read(process_->stdout_fd().get(), &c, 1) == 1 && c != '\n';) port_ += c;
  }
  std::string url(const std::string& name) const {
    return absl::StrCat("http://127.0.0.1:", port_, "/", name);
  }

 private:
  std::unique_ptr<Subprocess> process_;
  std::string port_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SOURCE_GIT_FIXTURE_H_
