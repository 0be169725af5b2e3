#include "daemon/presence/presence.h"

#include <set>
#include <utility>

namespace hydrant {

void Presence::Follow(const std::vector<std::string>& store_paths, const Onward& onward) {
  std::set<std::string> seen;
  std::vector<std::string> round;
  const auto add = [&](const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      if (seen.insert(path).second) round.push_back(path);
    }
  };
  add(store_paths);
  while (!round.empty()) {
    for (const auto& [path, answer] : Ask(std::exchange(round, {}))) add(onward(path, answer));
  }
}

}  // namespace hydrant
