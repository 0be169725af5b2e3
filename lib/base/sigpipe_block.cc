#include "lib/base/sigpipe_block.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

namespace hydrant {
namespace {

bool SigpipePending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

sigset_t OnlySigpipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

}  // namespace

SigpipeBlock::SigpipeBlock() : was_pending_(SigpipePending()) {
  const sigset_t set = OnlySigpipe();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

SigpipeBlock::~SigpipeBlock() {
  const int saved_errno = errno;
  if (!was_pending_ && SigpipePending()) {
    const sigset_t set = OnlySigpipe();
    const timespec at_once{};
    while (sigtimedwait(&set, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = saved_errno;
}

}  // namespace hydrant
