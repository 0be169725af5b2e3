#include "worker/signal_watch.h"

#include <pthread.h>

#include <utility>

namespace hydrant::worker {
namespace {

constexpr int kEnd = SIGUSR2;  // from the destructor

sigset_t Watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, kEnd}) sigaddset(&set, signal);
  return set;
}

int NumberOf(const std::string& name) {
  if (name == "SIGTERM") return SIGTERM;
  if (name == "SIGINT") return SIGINT;
  if (name == "SIGUSR1") return SIGUSR1;
  return 0;
}

}  // namespace

void SignalWatch::Block() {
  const sigset_t set = Watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

SignalWatch::SignalWatch(const std::string& drain_on, std::function<void()> drain,
                         std::function<void()> give_back)
    : drain_signal_(NumberOf(drain_on)),
      drain_(std::move(drain)),
      give_back_(std::move(give_back)),
      thread_([this] { Run(); }) {}

SignalWatch::~SignalWatch() {
  pthread_kill(thread_.native_handle(), kEnd);
  thread_.join();
}

void SignalWatch::Run() {
  const sigset_t set = Watched();
  bool draining = false;
  for (int signal = 0; sigwait(&set, &signal) == 0 && signal != kEnd;) {
    if (signal == drain_signal_ && !draining) {
      draining = true;
      drain_();
    } else {
      give_back_();
    }
  }
}

}  // namespace hydrant::worker
