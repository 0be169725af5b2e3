#include "daemon/presence/pruned_walk.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace hydrant {
namespace {

struct Verdict {
  Held held = Held::kPresent;
  std::string where = "ours";
  std::string why;
};

class Walk {
 public:
  Walk(const std::function<WalkNode(const std::string&)>& node_of,
       const std::function<bool(const std::string&)>& ours)
      : node_of_(node_of), ours_(ours) {}

  // Some derivations, and what of their inputs is known to be needed; gives the outputs that must be asked
  // for.
  std::vector<std::string> Visit(std::vector<std::string> todo) {
    for (size_t i = 0; i < todo.size(); ++i) {
      if (result_.needed.insert(todo[i]).second) Enter(todo[i]);
      for (std::string& input : std::exchange(found_, {})) todo.push_back(std::move(input));
    }
    return std::exchange(to_ask_, {});
  }

  std::vector<std::string> Hear(const std::string& path, const Answer& answer) {
    answers_.emplace(path, answer);
    for (const std::string& derivation : std::exchange(waiting_[path], {})) Decide(derivation);
    return Visit(std::exchange(found_, {}));
  }

  WalkResult Take() { return std::move(result_); }

 private:
  struct Node {
    std::vector<std::string> outputs;  // that are not ours
    std::vector<std::string> inputs;
  };

  void Enter(const std::string& derivation) {
    WalkNode node = node_of_(derivation);
    Node& open = open_[derivation];
    open.inputs = std::move(node.inputs);
    for (std::string& output : node.outputs) {
      if (output.empty()) {
        open.outputs = {""};
        break;
      }
      if (!ours_(output)) open.outputs.push_back(std::move(output));
    }
    if (Decide(derivation)) return;
    for (const std::string& output : open_[derivation].outputs) {
      if (answers_.contains(output)) continue;
      waiting_[output].push_back(derivation);
      to_ask_.push_back(output);
    }
  }

  // Whether there is a verdict by now; one output that no cache has is enough.
  bool Decide(const std::string& derivation) {
    const auto at = open_.find(derivation);
    if (at == open_.end()) return true;
    const std::optional<Verdict> verdict = Judge(at->second.outputs);
    if (!verdict.has_value()) return false;
    if (verdict->held == Held::kPresent) {
      result_.held.emplace(derivation, verdict->where);
    } else {
      if (verdict->held == Held::kUnknown) result_.unknown.emplace(derivation, verdict->why);
      for (std::string& input : at->second.inputs) found_.push_back(std::move(input));
    }
    open_.erase(at);
    return true;
  }

  std::optional<Verdict> Judge(const std::vector<std::string>& outputs) const {
    Verdict verdict;
    bool open = false;
    for (const std::string& output : outputs) {
      if (output.empty()) return Verdict{.held = Held::kAbsent};
      const auto answer = answers_.find(output);
      if (answer == answers_.end()) {
        open = true;
      } else if (answer->second.held == Held::kAbsent) {
        return Verdict{.held = Held::kAbsent};
      } else if (answer->second.held == Held::kUnknown) {
        if (verdict.held == Held::kPresent) verdict.why = answer->second.why;
        verdict.held = Held::kUnknown;
      } else if (verdict.where == "ours") {
        verdict.where = answer->second.cache;
      }
    }
    if (open) return std::nullopt;
    return verdict;
  }

  const std::function<WalkNode(const std::string&)>& node_of_;
  const std::function<bool(const std::string&)>& ours_;
  WalkResult result_;
  absl::flat_hash_map<std::string, Node> open_;  // derivations without a verdict
  absl::flat_hash_map<std::string, Answer> answers_;
  absl::flat_hash_map<std::string, std::vector<std::string>> waiting_;  // by output: who uses it
  std::vector<std::string> found_, to_ask_;  // inputs and outputs that came up and were not taken yet
};

}  // namespace

WalkResult PrunedWalk(const std::vector<std::string>& roots,
                      const std::function<WalkNode(const std::string&)>& node_of,
                      const std::function<bool(const std::string&)>& ours, Presence& presence) {
  Walk walk(node_of, ours);
  const std::vector<std::string> first = walk.Visit(roots);
  presence.Follow(first,
                  [&walk](const std::string& path, const Answer& answer) { return walk.Hear(path, answer); });
  return walk.Take();
}

}  // namespace hydrant
