#include "daemon/evaluate/memory_watch.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/base/file.h"

namespace hydrant {
namespace {

constexpr absl::Duration kBetweenLooks = absl::Milliseconds(200);

// "VmRSS:     1234 kB"
uint64_t KilobytesOf(absl::string_view line) {
  uint64_t value = 0;
  const std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  return words.size() == 3 && absl::SimpleAtoi(words[1], &value) ? value : 0;
}

}  // namespace

uint64_t MemoryOf(pid_t pid) {
  const auto status = ReadFile(absl::StrCat("/proc/", pid, "/status"));
  uint64_t kilobytes = 0;
  if (!status.ok()) return 0;
  for (const absl::string_view line : absl::StrSplit(*status, '\n')) {
    if (absl::StartsWith(line, "VmRSS:") || absl::StartsWith(line, "VmSwap:")) kilobytes += KilobytesOf(line);
  }
  return kilobytes * 1024;
}

MemoryWatch::MemoryWatch(uint64_t budget) : budget_(budget), thread_([this] { Loop(); }) {}

MemoryWatch::~MemoryWatch() {
  {
    MutexLock lock(mu_);
    over_ = true;
  }
  woken_.NotifyAll();
  thread_.join();
}

std::shared_ptr<MemoryWatch::Seat> MemoryWatch::Watch(pid_t pid) {
  auto seat = std::make_shared<Seat>(pid);
  MutexLock lock(mu_);
  seats_.push_back(seat);
  return seat;
}

void MemoryWatch::Loop() {
  MutexLock lock(mu_);
  while (!over_) {
    Look();
    woken_.WaitFor(mu_, kBetweenLooks);
  }
}

void MemoryWatch::Look() {
  std::erase_if(seats_, [](const auto& seat) { return seat.expired(); });
  uint64_t sum = 0, most = 0;
  std::shared_ptr<Seat> largest;
  bool one_is_ending = false;
  for (const auto& watched : seats_) {
    const std::shared_ptr<Seat> seat = watched.lock();
    if (seat == nullptr) continue;
    const uint64_t memory = MemoryOf(seat->pid);
    if (memory > seat->peak) seat->peak = memory;
    one_is_ending |= seat->chosen && memory > 0;
    sum += memory;
    if (memory > most && !seat->chosen) {
      most = memory;
      largest = seat;
    }
  }
  // One at a time: what it frees may be enough for the others.
  if (budget_ > 0 && sum > budget_ && !one_is_ending && largest != nullptr) largest->chosen = true;
}

}  // namespace hydrant
