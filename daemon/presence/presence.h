// Which store paths the caches upstream already have. An interface; http_presence is the real one. Knows
// nothing of derivations.
#ifndef HYDRANT_DAEMON_PRESENCE_PRESENCE_H_
#define HYDRANT_DAEMON_PRESENCE_PRESENCE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hydrant {

enum class Held {
  kPresent,  // some cache has it
  kAbsent,   // every cache says that it has not
  kUnknown,  // no cache is known to have it, and some could not be asked or answered nonsense
};

struct Answer {
  Held held = Held::kUnknown;
  std::string cache;       // of present: the URL of the first that has it, as configured
  std::string why;         // of unknown: the first reason, with the cache's URL
  uint64_t file_size = 0;  // of present: bytes to fetch, as that cache says; 0: it does not say
};

class Presence {
 public:
  virtual ~Presence() = default;
  // An answer for each path. Any thread; blocks while caches are asked. A failure to ask is an answer
  // (unknown).
  virtual std::map<std::string, Answer> Ask(const std::vector<std::string>& store_paths) = 0;

  // Hears the answer for one path and says what to ask next because of it.
  using Onward = std::function<std::vector<std::string>(const std::string& store_path, const Answer& answer)>;
  // Asks for `store_paths` and for whatever `onward` adds, each path once, until nothing is open. `onward` is
  // called on the caller's thread, once a path, in no order. Any thread; blocks. Here: by rounds of Ask; an
  // implementation may call `onward` as soon as an answer is there.
  virtual void Follow(const std::vector<std::string>& store_paths, const Onward& onward);
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_PRESENCE_H_
