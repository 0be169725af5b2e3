// While it lives, a write by this thread to a pipe or socket without a reader fails with EPIPE and raises no
// SIGPIPE, whatever the process does with that signal. For code that cannot know whether main() ignores
// SIGPIPE.
#ifndef HYDRANT_LIB_BASE_SIGPIPE_BLOCK_H_
#define HYDRANT_LIB_BASE_SIGPIPE_BLOCK_H_

#include <signal.h>

namespace hydrant {

class SigpipeBlock {
 public:
  SigpipeBlock();
  ~SigpipeBlock();
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t before_;
  bool was_pending_;
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_BASE_SIGPIPE_BLOCK_H_
