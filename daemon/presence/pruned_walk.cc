#include "daemon/presence/pruned_walk.h"

#include <deque>
#include <optional>
#include <set>
#include <utility>

namespace hydrant {
namespace {

struct Verdict {
  Held held = Held::kPresent;
  std::string_view where = "ours", why;
};

class Walk {
 public:
  Walk(const std::function<NumberedNode(uint32_t)>& node_of,
       const std::function<bool(std::string_view)>& ours)
      : node_of_(node_of), ours_(ours) {}

  // Some derivations, and what of their inputs is known to be needed; gives the outputs that must be asked
  // for.
  std::vector<std::string> Visit(std::vector<uint32_t> todo) {
    for (size_t i = 0; i < todo.size(); ++i) {
      const uint32_t derivation = todo[i];
      if (derivation >= seen_.size()) seen_.resize(2 * (derivation + 1));
      if (seen_[derivation]) continue;
      seen_[derivation] = true;
      result_.needed.push_back(derivation);
      Enter(derivation);
      todo.insert(todo.end(), found_.begin(), found_.end());
      found_.clear();
    }
    return std::exchange(to_ask_, {});
  }

  std::vector<std::string> Hear(const std::string& path, const Answer& answer) {
    const auto at = outputs_.find(path);
    if (at == outputs_.end() || at->second.answered) return {};
    at->second.answered = true;
    at->second.held = answer.held;
    const std::string& said = answer.held == Held::kPresent ? answer.cache : answer.why;
    if (!said.empty()) at->second.said = &*said_.insert(said).first;
    for (uint32_t next = std::exchange(at->second.waiting, kNobody); next != kNobody;
         next = waiting_[next].next) {
      Decide(waiting_[next].derivation);
    }
    return Visit(std::exchange(found_, {}));
  }

  NumberedWalk Take() { return std::move(result_); }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  // Small: a walk has tens of thousands of them.
  struct Output {
    bool answered = false;
    Held held = Held::kUnknown;
    uint32_t waiting = kNobody;         // the first of those without a verdict that have it
    const std::string* said = nullptr;  // the cache that has it, or why that is not known
  };
  struct Waiting {
    uint32_t derivation;
    uint32_t next;  // of the same output
  };

  // Keeps of its outputs those that are not ours.
  void Enter(uint32_t derivation) {
    NumberedNode node = node_of_(derivation);
    bool nowhere = false;
    size_t kept = 0;
    for (const std::string_view output : node.outputs) {
      nowhere = nowhere || output.empty();
      if (!nowhere && !ours_(output)) node.outputs[kept++] = output;
    }
    node.outputs.resize(kept);
    if (nowhere) node.outputs = {""};
    if (Decide(derivation, node)) return;
    for (const std::string_view path : node.outputs) {
      Output& output = outputs_[absl::string_view(path.data(), path.size())];
      if (output.answered) continue;
      if (output.waiting == kNobody) to_ask_.emplace_back(path);
      waiting_.push_back({derivation, std::exchange(output.waiting, static_cast<uint32_t>(waiting_.size()))});
    }
    open_.emplace(derivation, std::move(node));
  }

  void Decide(uint32_t derivation) {
    const auto at = open_.find(derivation);
    if (at != open_.end() && Decide(derivation, at->second)) open_.erase(at);
  }

  // Whether there is a verdict by now; one output that no cache has is enough.
  bool Decide(uint32_t derivation, const NumberedNode& node) {
    const std::optional<Verdict> verdict = Judge(node.outputs);
    if (!verdict.has_value()) return false;
    if (verdict->held == Held::kPresent) {
      result_.held.emplace(derivation, verdict->where);
    } else {
      if (verdict->held == Held::kUnknown) result_.unknown.emplace(derivation, verdict->why);
      found_.insert(found_.end(), node.inputs.begin(), node.inputs.end());
    }
    return true;
  }

  std::optional<Verdict> Judge(const std::vector<std::string_view>& outputs) const {
    Verdict verdict;
    bool open = false;
    for (const std::string_view path : outputs) {
      if (path.empty()) return Verdict{.held = Held::kAbsent};
      const auto at = outputs_.find(absl::string_view(path.data(), path.size()));
      if (at == outputs_.end() || !at->second.answered) {
        open = true;
        continue;
      }
      const Output& output = at->second;
      const std::string_view said = output.said == nullptr ? std::string_view() : *output.said;
      if (output.held == Held::kAbsent) {
        return Verdict{.held = Held::kAbsent};
      } else if (output.held == Held::kUnknown) {
        if (verdict.held == Held::kPresent) verdict.why = said;
        verdict.held = Held::kUnknown;
      } else if (verdict.where == "ours") {
        verdict.where = said;
      }
    }
    if (open) return std::nullopt;
    return verdict;
  }

  const std::function<NumberedNode(uint32_t)>& node_of_;
  const std::function<bool(std::string_view)>& ours_;
  NumberedWalk result_;
  std::vector<bool> seen_;
  absl::flat_hash_map<uint32_t, NumberedNode> open_;        // derivations without a verdict
  absl::flat_hash_map<absl::string_view, Output> outputs_;  // that are not ours
  std::vector<Waiting> waiting_;
  std::set<std::string> said_;       // caches and reasons: few
  std::vector<uint32_t> found_;      // inputs that came up and were not taken yet
  std::vector<std::string> to_ask_;  // outputs, likewise
};

// Names as numbers, in the order in which they are met.
class Names {
 public:
  uint32_t NumberOf(const std::string& name) {
    const auto [at, added] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return at->second;
  }
  std::vector<uint32_t> NumbersOf(const std::vector<std::string>& names) {
    std::vector<uint32_t> numbers;
    for (const std::string& name : names) numbers.push_back(NumberOf(name));
    return numbers;
  }
  const std::string& of(uint32_t number) const { return names_[number]; }
  absl::flat_hash_map<std::string, std::string> Named(
      const absl::flat_hash_map<uint32_t, std::string>& by_number) const {
    absl::flat_hash_map<std::string, std::string> named;
    for (const auto& [number, text] : by_number) named[of(number)] = text;
    return named;
  }

 private:
  absl::flat_hash_map<std::string, uint32_t> numbers_;
  std::deque<std::string> names_;
};

}  // namespace

NumberedWalk PrunedWalk(const std::vector<uint32_t>& roots,
                        const std::function<NumberedNode(uint32_t)>& node_of,
                        const std::function<bool(std::string_view)>& ours, Presence& presence) {
  Walk walk(node_of, ours);
  const std::vector<std::string> first = walk.Visit(roots);
  presence.Follow(first,
                  [&walk](const std::string& path, const Answer& answer) { return walk.Hear(path, answer); });
  return walk.Take();
}

WalkResult PrunedWalk(const std::vector<std::string>& roots,
                      const std::function<WalkNode(const std::string&)>& node_of,
                      const std::function<bool(const std::string&)>& ours, Presence& presence) {
  Names names;
  std::deque<WalkNode> nodes;  // what the walk looks at
  const auto numbered = [&](uint32_t derivation) {
    const WalkNode& node = nodes.emplace_back(node_of(names.of(derivation)));
    return NumberedNode{.outputs = {node.outputs.begin(), node.outputs.end()},
                        .inputs = names.NumbersOf(node.inputs)};
  };
  const NumberedWalk walk = PrunedWalk(
      names.NumbersOf(roots), numbered, [&](std::string_view path) { return ours(std::string(path)); },
      presence);
  WalkResult result{.held = names.Named(walk.held), .unknown = names.Named(walk.unknown)};
  for (const uint32_t derivation : walk.needed) result.needed.insert(names.of(derivation));
  return result;
}

}  // namespace hydrant
