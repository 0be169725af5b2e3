// For tests: a fresh folder under $TMPDIR that is removed, read-only trees included, when the object goes.
#ifndef HYDRANT_LIB_BASE_TEST_DIR_H_
#define HYDRANT_LIB_BASE_TEST_DIR_H_

#include <stdlib.h>

#include <cstdio>
#include <string>

#include "lib/base/file.h"

namespace hydrant {

class TestDir {
 public:
  TestDir() {
    const char* base = getenv("TMPDIR");
    path_ = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/hydrant-test-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) {
      std::perror(path_.c_str());
      abort();
    }
  }
  ~TestDir() {
    if (const absl::Status removed = RemoveTree(path_); !removed.ok()) {
      std::fprintf(stderr, "%s\n", removed.ToString().c_str());
    }
  }
  TestDir(const TestDir&) = delete;
  TestDir& operator=(const TestDir&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_BASE_TEST_DIR_H_
