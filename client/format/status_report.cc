#include "client/format/status_report.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/format/grid.h"
#include "client/format/policy.h"
#include "client/format/sharing.h"
#include "client/format/table.h"
#include "client/format/text.h"
#include "client/format/words.h"

namespace hydrant::client {
namespace {

constexpr size_t kMostNamed = 12;  // variants of a group that are named on a screen

void WriteNotes(const v1::GetStatusResponse& status, Writer& writer) {
  for (const std::string& note : status.notes()) writer.Paragraph("note: " + note, 2, Style::kDim);
  for (const std::string& recipe : RecipesOf(status.variants()))
    writer.Paragraph("recipe " + recipe, 2, Style::kDim);
}

void WriteTitle(const std::string& matrix, const v1::GetStatusResponse& status, Writer& writer) {
  if (!status.has_evaluation()) {
    writer.Text(matrix, Style::kBold)
        .Text(absl::StrCat("  ", Count(status.variants_size(), "variant")))
        .Line();
    WriteNotes(status, writer);
    return;
  }
  const v1::Evaluation& evaluation = status.evaluation();
  writer.Text(evaluation.matrix(), Style::kBold).Text(absl::StrCat("  evaluation ", evaluation.id()));
  if (!evaluation.branch().empty()) writer.Text("  branch " + evaluation.branch());
  if (!evaluation.revision().empty()) writer.Text("  revision " + ShortRevision(evaluation.revision()));
  writer.Text("  " + EvaluationStateWord(evaluation.state()));
  if (IsEnded(evaluation.state())) {
    writer.Text(evaluation.gate_passed() ? "  gate passed" : "  gate not passed",
                evaluation.gate_passed() ? Style::kGood : Style::kBad);
  }
  writer.Line();
  if (!evaluation.message().empty()) writer.Paragraph(evaluation.message(), 2, Style::kBad);
  WriteNotes(status, writer);
}

void WriteRunning(const v1::GetStatusResponse& status, absl::Time now, Writer& writer) {
  if (status.running_size() == 0) return;
  writer.Line().Text("Running", Style::kBold).Line();
  for (const auto& running : status.running()) {
    writer.Text(absl::StrCat("  a", running.attempt(), "  ", running.worker(), "  "));
    writer.Text(absl::StrCat(AttemptStageWord(running.stage()), " ", running.what()), Style::kBusy);
    writer.Text("  " + DurationText(absl::ToUnixMillis(now) - running.started_at_ms()), Style::kDim).Line();
  }
}

// "check torch-cuda on 8.6 (simulated): why"
std::string CheckText(const v1::CheckStatus& check) {
  std::string text = absl::StrCat("check ", check.name(), ": ", check.outcome());
  if (!check.class_().empty()) absl::StrAppend(&text, " (", check.class_(), ")");
  if (!check.architecture().empty()) absl::StrAppend(&text, " on ", check.architecture());
  if (check.simulated()) text += ", a simulated GPU";
  if (!check.message().empty()) absl::StrAppend(&text, ": ", check.message());
  return text;
}

void WriteVariants(const VariantGroup& group, Writer& writer) {
  for (size_t i = 0; i < std::min(group.variants.size(), kMostNamed); ++i) {
    const v1::VariantStatus& variant = *group.variants[i];
    const StateMark& mark = MarkOf(variant.state());
    writer.Spaces(4).Text(MarkText(mark, writer.screen()), mark.style).Text(" " + variant.id());
    if (variant.required()) writer.Text(" (required)", Style::kBold);
    writer.Line();
    if (variant.cause() != "check_failed") continue;
    for (const auto& check : variant.checks()) {
      if (check.outcome() == "fail" || check.outcome() == "error")
        writer.Paragraph(CheckText(check), 6, Style::kDim);
    }
  }
  if (group.variants.size() > kMostNamed) {
    writer.Text(absl::StrCat("    and ", group.variants.size() - kMostNamed, " more"), Style::kDim).Line();
  }
}

void WriteGroups(const v1::GetStatusResponse& status, Writer& writer) {
  std::string section;
  for (const VariantGroup& group : GroupVariants(status.variants())) {
    if (group.state != section) {
      section = group.state;
      writer.Line().Text(section == "failed"    ? "Failed"
                         : section == "waiting" ? "Waiting"
                                                : "Impossible",
                         Style::kBold);
      writer.Line();
    }
    const StateMark& mark = MarkOf(group.state);
    const std::string& head = group.cause.empty() ? group.message : group.cause;
    writer.Spaces(2).Text(head.empty() ? group.state : head, mark.style);
    writer.Text("  " + Count(static_cast<int64_t>(group.variants.size()), "variant"), Style::kDim);
    if (!group.root.empty()) writer.Text("  " + group.root);
    writer.Line();
    if (!group.cause.empty()) writer.Paragraph(group.message, 4);
    WriteVariants(group, writer);
  }
}

// "jax, jax-alias  4 variants": several packages, one step.
void WriteSharing(const Variants& variants, Writer& writer) {
  const Sharing sharing(variants);
  const auto groups = sharing.AcrossPackages();
  if (groups.empty()) return;
  writer.Line().Text("One step for several packages", Style::kBold).Line();
  for (size_t i = 0; i < std::min(groups.size(), kMostNamed); ++i) {
    std::set<std::string> packages;
    for (const v1::VariantStatus* variant : *groups[i]) packages.insert(variant->package());
    writer.Paragraph(absl::StrCat(absl::StrJoin(packages, ", "), ": ",
                                  Count(static_cast<int64_t>(groups[i]->size()), "variant")), 2);
  }
  if (groups.size() > kMostNamed) {
    writer.Text(absl::StrCat("  and ", groups.size() - kMostNamed, " more"), Style::kDim).Line();
  }
}

std::string MarkdownLegend(const Variants& variants) {
  std::vector<std::string> words;
  for (const StateMark& mark : StateMarks()) {
    const auto count = std::count_if(variants.begin(), variants.end(),
                                     [&](const auto& variant) { return variant.state() == mark.state; });
    if (count > 0) words.push_back(absl::StrCat(mark.mark, " ", count, " ", MarkdownText(mark.state)));
  }
  for (const PolicyLegend& legend : PolicyLegends(variants)) {
    words.push_back(MarkdownText(absl::StrCat(legend.mark, " ", legend.count, " ", legend.words)));
  }
  return absl::StrJoin(words, ", ");
}

}  // namespace

std::string FormatStatus(const std::string& matrix, const v1::GetStatusResponse& status, absl::Time now,
                         const Screen& screen) {
  Writer writer(screen);
  WriteTitle(matrix, status, writer);
  if (status.variants_size() == 0) return writer.Text("no variants yet", Style::kDim).Line().Take();
  WriteGrid(LayOutGrid(status.variants()), writer);
  writer.Line();
  WriteLegend(status.variants(), writer);
  WriteRunning(status, now, writer);
  WriteSharing(status.variants(), writer);
  WriteGroups(status, writer);
  WriteFindings(status.variants(), writer);
  WriteHydraSection(status.variants(), writer);
  return writer.Take();
}

std::string FormatMarkdownStatus(const std::string& matrix, const v1::GetStatusResponse& status) {
  std::string out = "## " + MarkdownText(matrix);
  if (status.has_evaluation()) {
    const v1::Evaluation& evaluation = status.evaluation();
    absl::StrAppend(&out, " evaluation ", evaluation.id(), "\n\n",
                    MarkdownText(EvaluationStateWord(evaluation.state())));
    if (!evaluation.branch().empty()) absl::StrAppend(&out, " of branch `", Clean(evaluation.branch()), "`");
    if (!evaluation.revision().empty())
      absl::StrAppend(&out, " at revision `", Clean(evaluation.revision()), "`");
    if (IsEnded(evaluation.state())) out += evaluation.gate_passed() ? ", gate passed" : ", gate not passed";
    if (!evaluation.message().empty()) absl::StrAppend(&out, ": ", MarkdownText(evaluation.message()));
  }
  for (const std::string& recipe : RecipesOf(status.variants()))
    absl::StrAppend(&out, "\n\nRecipe ", MarkdownText(recipe));
  const GridLayout grid = LayOutGrid(status.variants());
  absl::StrAppend(&out, "\n\n", FormatMarkdownGrid(grid), "\n", MarkdownLegend(status.variants()), "\n");
  std::string section;
  for (const VariantGroup& group : GroupVariants(status.variants())) {
    if (group.state != section) {
      section = group.state;
      absl::StrAppend(&out, "\n### ",
                      section == "failed"    ? "Failed"
                      : section == "waiting" ? "Waiting"
                                             : "Impossible",
                      "\n\n");
    }
    const std::string& head = group.cause.empty() ? group.message : group.cause;
    absl::StrAppend(&out, "- ", MarkdownText(head.empty() ? group.state : head));
    if (!group.root.empty()) absl::StrAppend(&out, " in `", Clean(group.root), "`");
    if (!group.cause.empty() && !group.message.empty())
      absl::StrAppend(&out, ": ", MarkdownText(group.message));
    out += "\n";
    for (const auto* variant : group.variants) absl::StrAppend(&out, "  - `", Clean(variant->id()), "`\n");
  }
  out += MarkdownFindings(status.variants()) + MarkdownHydraSection(status.variants());
  return out;
}

}  // namespace hydrant::client
