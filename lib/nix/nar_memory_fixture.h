// For tests: how much memory an operation takes.
#ifndef HYDRANT_LIB_NIX_NAR_MEMORY_FIXTURE_H_
#define HYDRANT_LIB_NIX_NAR_MEMORY_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "absl/status/status.h"

namespace hydrant::nix {

inline constexpr long kMostKilobytes = 64 << 10;

// Runs `act` in a child, expects success and a peak below 64 MiB, what this process holds already included.
inline void ExpectSmall(const std::function<absl::Status()>& act) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const absl::Status status = act();
    if (!status.ok()) fprintf(stderr, "%s\n", status.ToString().c_str());
    _exit(status.ok() ? 0 : 1);
  }
  int status = 0;
  struct rusage used {};
  ASSERT_EQ(wait4(child, &status, 0, &used), child);
  EXPECT_EQ(status, 0);
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(used.ru_maxrss, kMostKilobytes);
#endif
}

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_NAR_MEMORY_FIXTURE_H_
