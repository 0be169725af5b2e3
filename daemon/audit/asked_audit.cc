#include "daemon/audit/asked_audit.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/matrix/audit_rule.h"
#include "lib/matrix/cuda_version.h"

namespace hydrant {
namespace {

using Axes = std::map<std::string, AxisValue>;

// Null: not declared, or default.
const AxisValue* Asked(const Axes& axes, const std::string& axis) {
  const auto found = axes.find(axis);
  return found == axes.end() || found->second.words.empty() || found->second.is_default() ? nullptr
                                                                                          : &found->second;
}

Finding Warning(std::string_view rule, std::string message) {
  return {.rule = std::string(rule), .severity = Severity::kWarn, .message = std::move(message)};
}

void JudgeSupport(const Axes& axes, const VariantFacts& facts, std::vector<Finding>& findings) {
  const AxisValue* accelerator = Asked(axes, "accelerator");
  std::optional<bool> cuda;
  if (accelerator != nullptr) {
    cuda = accelerator->words[0] == "cuda";
  } else if (axes.contains("cuda")) {
    cuda = true;
  }
  if (!cuda || !facts.cuda_support || *facts.cuda_support == *cuda) return;
  const std::string ask =
      accelerator != nullptr ? absl::StrCat("accelerator ", accelerator->words[0]) : "CUDA";
  findings.push_back(
      Warning(kCudaSupport, absl::StrCat("passthru.cudaSupport is ", *facts.cuda_support ? "true" : "false",
                                         " although the slice asks for ", ask)));
}

void JudgeVersion(const Axes& axes, const VariantFacts& facts, std::vector<Finding>& findings) {
  const AxisValue* asked = Asked(axes, "cuda");
  if (asked == nullptr || facts.cuda_version.empty()) return;
  const std::optional<CudaVersion> wanted = ParseCudaVersion(asked->words[0]),
                                   found = ParseCudaVersion(facts.cuda_version);
  if (!wanted || !found || *wanted == *found) return;
  findings.push_back(Warning(kCudaVersion, absl::StrCat("its own CUDA is ", facts.cuda_version,
                                                        ", the slice asks for ", asked->words[0])));
}

void JudgeCapabilities(const Axes& axes, const VariantFacts& facts, std::vector<Finding>& findings) {
  const AxisValue* asked = Asked(axes, "capabilities");
  if (asked == nullptr || facts.cuda_capabilities.empty() || asked->words == facts.cuda_capabilities) return;
  std::vector<std::string> one = asked->words, other = facts.cuda_capabilities;
  std::sort(one.begin(), one.end());
  std::sort(other.begin(), other.end());
  findings.push_back(Warning(
      kCapabilities, absl::StrCat("its own capabilities are ", absl::StrJoin(facts.cuda_capabilities, " "),
                                  ", the slice asks for ", absl::StrJoin(asked->words, " "),
                                  one == other ? " (the order counts: PTX is made for the last one)" : "")));
}

void JudgePython(const Axes& axes, const VariantFacts& facts, std::vector<Finding>& findings) {
  const AxisValue* asked = Asked(axes, "python");
  if (asked == nullptr || facts.python_version.empty()) return;
  std::string set = absl::StrCat("python", facts.python_version);
  std::erase(set, '.');
  if (!asked->words[0].starts_with("python") || asked->words[0] == set || asked->words[0] == "python3")
    return;
  findings.push_back(Warning(kPython, absl::StrCat("its interpreter is Python ", facts.python_version,
                                                   ", the slice asks for ", asked->words[0])));
}

void JudgeHygiene(const VariantFacts& facts, std::vector<Finding>& findings) {
  for (const std::string& refused : facts.hygiene) {
    findings.push_back(
        Warning(kForcesUnfree, absl::StrCat("it cannot be asked where unfree is refused: ", refused)));
  }
}

}  // namespace

std::vector<Finding> JudgeAsked(const Axes& axes, const VariantFacts& facts) {
  std::vector<Finding> findings;
  JudgeSupport(axes, facts, findings);
  JudgeVersion(axes, facts, findings);
  JudgeCapabilities(axes, facts, findings);
  JudgePython(axes, facts, findings);
  JudgeHygiene(facts, findings);
  return findings;
}

}  // namespace hydrant
