#include "daemon/presence/pruned_walk.h"

#include <utility>

namespace hydrant {
namespace {

struct Verdict {
  Held held = Held::kPresent;
  std::string where = "ours";
  std::string why;
};

Verdict Judge(const WalkNode& node, const std::function<bool(const std::string&)>& ours,
              const std::map<std::string, Answer>& answers) {
  Verdict verdict;
  for (const std::string& output : node.outputs) {
    if (output.empty()) return {.held = Held::kAbsent};
    if (ours(output)) continue;
    const auto found = answers.find(output);
    const Answer answer = found != answers.end() ? found->second : Answer();
    if (answer.held == Held::kAbsent) return {.held = Held::kAbsent};
    if (answer.held == Held::kUnknown) {
      if (verdict.held == Held::kPresent) verdict.why = answer.why;
      verdict.held = Held::kUnknown;
    } else if (verdict.where == "ours") {
      verdict.where = answer.cache;
    }
  }
  return verdict;
}

}  // namespace

WalkResult PrunedWalk(const std::vector<std::string>& roots,
                      const std::function<WalkNode(const std::string&)>& node_of,
                      const std::function<bool(const std::string&)>& ours, Presence& presence) {
  WalkResult result;
  std::vector<std::pair<std::string, WalkNode>> level;
  const auto visit = [&](const std::string& derivation) {
    if (result.needed.insert(derivation).second) level.emplace_back(derivation, node_of(derivation));
  };
  for (const std::string& root : roots) visit(root);
  while (!level.empty()) {
    std::set<std::string> asked;
    for (const auto& [derivation, node] : level) {
      for (const std::string& output : node.outputs) {
        if (!output.empty() && !ours(output)) asked.insert(output);
      }
    }
    std::map<std::string, Answer> answers;
    if (!asked.empty()) answers = presence.Ask({asked.begin(), asked.end()});
    for (const auto& [derivation, node] : std::exchange(level, {})) {
      const Verdict verdict = Judge(node, ours, answers);
      if (verdict.held == Held::kPresent) {
        result.held.emplace(derivation, verdict.where);
        continue;
      }
      if (verdict.held == Held::kUnknown) result.unknown.emplace(derivation, verdict.why);
      for (const std::string& input : node.inputs) visit(input);
    }
  }
  return result;
}

}  // namespace hydrant
