#include "client/format/report.h"

#include "absl/strings/str_cat.h"
#include "client/format/policy.h"
#include "client/format/status_report.h"
#include "client/format/table.h"
#include "client/format/text.h"
#include "client/format/words.h"

namespace hydrant::client {
namespace {

// The part of a report that a variant belongs to.
std::string PartOf(const v1::VariantStatus& variant) {
  const std::string& state = variant.state();
  // What this farm made, now or for an earlier evaluation, is in its own cache.
  const bool elsewhere = !variant.held_by().empty() && variant.held_by() != "ours";
  if (state == "cached") return elsewhere ? "skipped" : "built";
  if (state == "failed" || state == "dependency_failed") return "failed";
  if (state == "waiting" || state == "impossible" || state == "cancelled") return state;
  return "unfinished";
}

struct Part {
  const char* name;
  const char* summary;  // behind "3 variants"
};
constexpr Part kParts[] = {
    {"failed", "failed"},
    {"built", "built"},
    {"skipped", "skipped: another cache has them"},
    {"waiting", "waiting"},
    {"impossible", "impossible"},
    {"unfinished", "not finished yet"},
    {"cancelled", "cancelled"},
};

std::string Item(const v1::VariantStatus& variant) {
  return absl::StrCat("- `", Clean(variant.id()), "`", variant.required() ? " (required)" : "", "\n");
}

// Variants of one reason are told together.
std::string Reasons(const std::vector<VariantGroup>& groups, const std::string& part) {
  std::string out;
  for (const VariantGroup& group : groups) {
    if (group.state != part) continue;
    const std::string& head = group.cause.empty() ? group.message : group.cause;
    absl::StrAppend(&out, "**", MarkdownText(head.empty() ? group.state : head), "**");
    if (!group.root.empty()) absl::StrAppend(&out, " in `", Clean(StorePathName(group.root)), "`");
    if (!group.cause.empty() && !group.message.empty())
      absl::StrAppend(&out, ": ", MarkdownText(group.message));
    out += "\n\n";
    for (const v1::VariantStatus* variant : group.variants) out += Item(*variant);
    out += "\n";
  }
  return out;
}

std::string Title(const v1::Evaluation& evaluation) {
  std::string out = absl::StrCat("## Report on ", MarkdownText(evaluation.matrix()), ", evaluation ",
                                 evaluation.id(), "\n\n", EvaluationStateWord(evaluation.state()));
  if (!evaluation.revision().empty())
    absl::StrAppend(&out, " at revision `", Clean(evaluation.revision()), "`");
  if (IsEnded(evaluation.state())) out += evaluation.gate_passed() ? ", gate passed" : ", gate not passed";
  if (!evaluation.message().empty()) absl::StrAppend(&out, ": ", MarkdownText(evaluation.message()));
  return out + "\n";
}

}  // namespace

std::string FormatMarkdownReport(const v1::GetStatusResponse& status) {
  std::string out = Title(status.evaluation());
  const std::vector<VariantGroup> groups = GroupVariants(status.variants());
  for (const Part& part : kParts) {
    int64_t count = 0;
    std::string items;
    for (const v1::VariantStatus& variant : status.variants()) {
      if (PartOf(variant) != part.name) continue;
      ++count;
      items += Item(variant);
    }
    if (count == 0) continue;
    const std::string reasons = Reasons(groups, part.name);
    absl::StrAppend(&out, "\n<details", std::string(part.name) == "failed" ? " open" : "", ">\n<summary>",
                    Count(count, "variant"), " ", part.summary, "</summary>\n\n",
                    reasons.empty() ? items + "\n" : reasons, "</details>\n");
  }
  out += MarkdownFindings(status.variants()) + MarkdownHydraSection(status.variants());
  if (status.variants_size() == 0) out += "\nno variants yet\n";
  return out;
}

}  // namespace hydrant::client
