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
    const auto at = numbers_.find(path);
    if (at == numbers_.end() || outputs_[at->second].answered) return {};
    Output& output = outputs_[at->second];
    output.answered = true;
    output.held = answer.held;
    const std::string& said = answer.held == Held::kPresent ? answer.cache : answer.why;
    if (!said.empty()) output.said = &*said_.insert(said).first;
    for (uint32_t next = std::exchange(output.waiting, kNobody); next != kNobody;
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
    std::string_view path;
    bool answered = false;
    Held held = Held::kUnknown;
    uint32_t waiting = kNobody;         // the first of those without a verdict that have it
    const std::string* said = nullptr;  // the cache that has it, or why that is not known
  };
  struct Waiting {
    uint32_t derivation;
    uint32_t next;  // of the same output
  };

  // A derivation without a verdict.
  struct Open {
    std::vector<uint32_t> outputs;  // those that are not ours
    std::vector<uint32_t> inputs;
  };

  void Enter(uint32_t derivation) {
    NumberedNode node = node_of_(derivation);
    Open open{.inputs = std::move(node.inputs)};
    open.outputs.reserve(node.outputs.size());
    bool nowhere = false;
    for (const std::string_view path : node.outputs) {
      nowhere = nowhere || path.empty();
      if (nowhere || ours_(path)) continue;
      const auto [at, added] = numbers_.try_emplace(absl::string_view(path.data(), path.size()),
                                                    static_cast<uint32_t>(outputs_.size()));
      if (added) outputs_.push_back({.path = path});
      open.outputs.push_back(at->second);
    }
    if (nowhere) return Settle(derivation, {.held = Held::kAbsent}, open);
    if (const std::optional<Verdict> verdict = Judge(open.outputs)) return Settle(derivation, *verdict, open);
    for (const uint32_t number : open.outputs) {
      Output& output = outputs_[number];
      if (output.answered) continue;
      if (output.waiting == kNobody) to_ask_.emplace_back(output.path);
      waiting_.push_back({derivation, std::exchange(output.waiting, static_cast<uint32_t>(waiting_.size()))});
    }
    open_.emplace(derivation, std::move(open));
  }

  // Where there is a verdict by now; one output that no cache has is enough.
  void Decide(uint32_t derivation) {
    const auto at = open_.find(derivation);
    if (at == open_.end()) return;
    const std::optional<Verdict> verdict = Judge(at->second.outputs);
    if (!verdict) return;
    Settle(derivation, *verdict, at->second);
    open_.erase(at);
  }

  void Settle(uint32_t derivation, const Verdict& verdict, const Open& open) {
    if (verdict.held == Held::kPresent) {
      result_.held.emplace(derivation, verdict.where);
      return;
    }
    if (verdict.held == Held::kUnknown) result_.unknown.emplace(derivation, verdict.why);
    found_.insert(found_.end(), open.inputs.begin(), open.inputs.end());
  }

  std::optional<Verdict> Judge(const std::vector<uint32_t>& outputs) const {
    Verdict verdict;
    bool open = false;
    for (const uint32_t number : outputs) {
      const Output& output = outputs_[number];
      if (!output.answered) {
        open = true;
        continue;
      }
      const std::string_view said = output.said == nullptr ? std::string_view() : *output.said;
      if (output.held == Held::kAbsent) return Verdict{.held = Held::kAbsent};
      if (output.held == Held::kUnknown) {
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
  absl::flat_hash_map<uint32_t, Open> open_;
  absl::flat_hash_map<absl::string_view, uint32_t> numbers_;  // of outputs that are not ours
  std::vector<Output> outputs_;                               // by these
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
