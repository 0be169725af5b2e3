#include "client/format/policy.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/format/table.h"
#include "client/format/text.h"
#include "client/format/words.h"

namespace hydrant::client {
namespace {

constexpr size_t kMostNamed = 8;  // packages of a reason, variants of a finding

// "unfree: CUDA EULA, through x" -> "unfree"; "unsupported system" -> "unsupported".
std::string ShortReason(const std::string& reason) { return reason.substr(0, reason.find_first_of(":, ")); }

// Packages (as in the grid's rows) and how many variants of them, by reason, in the order in which they were met. Reasons that
// differ only in the version of the package through which they come are one.
struct SkippedGroup {
  std::string reason;                 // without that version
  std::vector<std::string> versions;
  int64_t variants = 0;
  std::vector<std::string> packages;
};

// "unfree: CUDA EULA, through cudatoolkit-12.9.1" -> {"unfree: CUDA EULA, through cudatoolkit", "12.9.1"}.
std::pair<std::string, std::string> SplitReason(const std::string& reason) {
  constexpr std::string_view kThrough = ", through ";
  const size_t through = reason.find(kThrough);
  if (through == reason.npos) return {reason, ""};
  for (size_t i = through + kThrough.size(); i + 1 < reason.size(); ++i) {
    if (reason[i] == '-' && absl::ascii_isdigit(static_cast<unsigned char>(reason[i + 1])))
      return {reason.substr(0, i), reason.substr(i + 1)};
  }
  return {reason, ""};
}

void AddOnce(const std::string& word, std::vector<std::string>& words) {
  if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

std::vector<SkippedGroup> GroupSkipped(const Variants& variants) {
  std::vector<SkippedGroup> groups;
  std::map<std::string, size_t> index;
  for (const auto& variant : variants) {
    if (!variant.hydra().skips()) continue;
    const auto [reason, version] = SplitReason(variant.hydra().reason());
    const auto [found, added] = index.emplace(reason, groups.size());
    if (added) groups.push_back({.reason = found->first});
    SkippedGroup& group = groups[found->second];
    ++group.variants;
    AddOnce(version, group.versions);
    AddOnce(RowName(variant), group.packages);
  }
  return groups;
}

// "torch, jax and 3 more".
std::string Names(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMostNamed);
  std::string text = absl::StrJoin(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", ");
  if (shown < names.size()) absl::StrAppend(&text, " and ", names.size() - shown, " more");
  return text;
}

// "unfree: CUDA EULA, through cudatoolkit-12.9.1", or of several "… cudatoolkit 12.6.3, 12.9.1".
std::string ReasonOf(const SkippedGroup& group) {
  if (group.versions.empty()) return group.reason;
  return absl::StrCat(group.reason, group.versions.size() == 1 ? "-" : " ", Names(group.versions));
}

Style StyleOf(const v1::Finding& finding) { return finding.severity() == "refuse" ? Style::kBad : Style::kWarn; }

// "CUDA EULA (unfree), bsd3".
std::string LicencesText(const v1::PackageFacts& facts) {
  std::vector<std::string> words;
  for (const auto& licence : facts.licences()) {
    words.push_back(licence.name() + (licence.free() || licence.name() == "unfree" ? "" : " (unfree)"));
  }
  return absl::StrJoin(words, ", ");
}

// "CUDA 12.9 for 8.9 9.0a, Python 3.12".
std::string MadeOfText(const v1::PackageFacts& facts) {
  std::vector<std::string> words;
  if (!facts.cuda_version().empty() || facts.capabilities_size() > 0) {
    std::string cuda = "CUDA";
    if (!facts.cuda_version().empty()) absl::StrAppend(&cuda, " ", facts.cuda_version());
    if (facts.capabilities_size() > 0) absl::StrAppend(&cuda, " for ", absl::StrJoin(facts.capabilities(), " "));
    words.push_back(std::move(cuda));
  }
  if (facts.has_cuda_support() && !facts.cuda_support()) words.push_back("without CUDA support");
  if (!facts.python_version().empty()) words.push_back("Python " + facts.python_version());
  return absl::StrJoin(words, ", ");
}

// "python3Packages.pytorch, the name of python3Packages.torch in this tree".
std::string FoundAsText(const v1::VariantStatus& variant) {
  const std::string& found = variant.facts().found_as();
  return found.empty() ? "" : absl::StrCat(found, ", the name of ", variant.package(), " in this tree");
}

// "2022 (nixpkgs 22.11: it has pkgs/top-level/cuda-packages.nix)".
std::string RecipeText(const v1::PackageFacts& facts) {
  if (facts.recipe().empty() || facts.recipe_why().empty()) return facts.recipe();
  return absl::StrCat(facts.recipe(), " (", facts.recipe_why(), ")");
}

}  // namespace

std::vector<std::string> RecipesOf(const Variants& variants) {
  std::vector<std::string> recipes;
  for (const auto& variant : variants) {
    std::string recipe = RecipeText(variant.facts());
    if (recipe.empty() || (!recipes.empty() && recipes.back() == recipe)) continue;
    if (std::find(recipes.begin(), recipes.end(), recipe) == recipes.end())
      recipes.push_back(std::move(recipe));
  }
  return recipes;
}

std::string HydraWord(std::span<const v1::VariantStatus* const> cells) {
  int known = 0;
  std::map<std::string, int> counts;
  for (const v1::VariantStatus* cell : cells) {
    if (cell == nullptr || !cell->has_hydra()) continue;
    ++known;
    if (cell->hydra().skips()) ++counts[ShortReason(cell->hydra().reason())];
  }
  if (known == 0) return "";
  if (counts.empty()) return "no";
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->second == known ? most->first : absl::StrCat(most->first, " ", most->second, "/", known);
}

int HydraWidth(const Variants& variants, size_t columns) {
  int width = DisplayWidth(kHydraHead);
  const std::string fraction = columns < 2 ? "" : absl::StrCat(" ", columns, "/", columns);
  for (const auto& variant : variants) {
    if (!variant.hydra().skips()) continue;
    width = std::max(width, DisplayWidth(Clean(ShortReason(variant.hydra().reason()) + fraction)));
  }
  return width;
}

std::string PolicyMarks(const v1::VariantStatus& variant) {
  return absl::StrCat(variant.findings_size() > 0 ? "!" : "", variant.tier() == "private" ? "*" : "");
}

std::vector<PolicyLegend> PolicyLegends(const Variants& variants) {
  PolicyLegend findings{"!", "with findings", 0}, hidden{"*", "private", 0};
  for (const auto& variant : variants) {
    if (variant.findings_size() > 0) ++findings.count;
    if (variant.tier() == "private") ++hidden.count;
  }
  std::vector<PolicyLegend> legends = {findings, hidden};
  std::erase_if(legends, [](const PolicyLegend& legend) { return legend.count == 0; });
  return legends;
}

std::vector<FindingGroup> GroupFindings(const Variants& variants) {
  std::vector<FindingGroup> groups;
  std::map<std::pair<std::string, std::string>, size_t> index;
  for (const auto& variant : variants) {
    for (const auto& finding : variant.findings()) {
      const auto [found, added] = index.emplace(std::pair(finding.rule(), finding.message()), groups.size());
      if (added) groups.push_back({.finding = finding});
      std::vector<const v1::VariantStatus*>& of = groups[found->second].variants;
      if (of.empty() || of.back() != &variant) of.push_back(&variant);
    }
  }
  return groups;
}

void WriteHydraSection(const Variants& variants, Writer& writer) {
  const std::vector<SkippedGroup> groups = GroupSkipped(variants);
  if (groups.empty()) return;
  writer.Line().Text("Hydra would skip", Style::kBold).Line();
  for (const SkippedGroup& group : groups) {
    writer.Text("  " + ReasonOf(group)).Text("  " + Count(group.variants, "variant"), Style::kDim).Line();
    writer.Paragraph(Names(group.packages), 4, Style::kDim);
  }
}

void WriteFindings(const Variants& variants, Writer& writer) {
  const std::vector<FindingGroup> groups = GroupFindings(variants);
  if (groups.empty()) return;
  writer.Line().Text("Findings", Style::kBold).Line();
  for (const FindingGroup& group : groups) {
    writer.Text("  " + group.finding.rule(), StyleOf(group.finding));
    writer.Text("  " + Count(static_cast<int64_t>(group.variants.size()), "variant"), Style::kDim).Line();
    writer.Paragraph(group.finding.message(), 4);
    if (group.finding.path_size() > 0) {
      writer.Paragraph("through " + absl::StrJoin(group.finding.path(), " > "), 4, Style::kDim);
    }
    for (size_t i = 0; i < std::min(group.variants.size(), kMostNamed); ++i) {
      writer.Text("    ! " + group.variants[i]->id()).Line();
    }
    if (group.variants.size() > kMostNamed) {
      writer.Text(absl::StrCat("    and ", group.variants.size() - kMostNamed, " more"), Style::kDim).Line();
    }
  }
}

std::string MarkdownHydraSection(const Variants& variants) {
  std::string out;
  for (const SkippedGroup& group : GroupSkipped(variants)) {
    absl::StrAppend(&out, out.empty() ? "\n### Hydra would skip\n\n" : "", "- ", MarkdownText(ReasonOf(group)), ": ",
                    Count(group.variants, "variant"), " of ", MarkdownText(Names(group.packages)), "\n");
  }
  return out;
}

std::string MarkdownFindings(const Variants& variants) {
  std::string out;
  for (const FindingGroup& group : GroupFindings(variants)) {
    absl::StrAppend(&out, out.empty() ? "\n### Findings\n\n" : "", "- **", MarkdownText(group.finding.rule()), "**",
                    group.finding.severity() == "refuse" ? " (refused)" : "", ": ",
                    MarkdownText(group.finding.message()), "\n");
    if (group.finding.path_size() > 0) {
      absl::StrAppend(&out, "  through ", MarkdownText(absl::StrJoin(group.finding.path(), " > ")), "\n");
    }
    for (const auto* variant : group.variants) absl::StrAppend(&out, "  - `", Clean(variant->id()), "`\n");
  }
  return out;
}

void WriteFacts(const v1::VariantStatus& variant, Writer& writer) {
  const auto line = [&](const char* head, const std::string& text) {
    if (!text.empty()) writer.Text(head, Style::kDim).Text(text).Line();
  };
  line("  licence  ", LicencesText(variant.facts()));
  line("  tier  ", variant.tier());
  line("  made of  ", MadeOfText(variant.facts()));
  line("  found as  ", FoundAsText(variant));
  line("  recipe  ", RecipeText(variant.facts()));
  writer.Paragraph(variant.hydra().sentence(), 2);
  if (variant.findings_size() == 0) return;
  writer.Line().Text("Findings", Style::kBold).Line();
  for (const auto& finding : variant.findings()) {
    writer.Text("  " + finding.rule(), StyleOf(finding));
    if (finding.severity() == "refuse") writer.Text("  refused: it is not published", Style::kBad);
    writer.Line().Paragraph(finding.message(), 4);
    for (int i = 0; i < finding.path_size(); ++i) {
      writer.Spaces(4 + 2 * std::min(i, 20)).Text(finding.path(i)).Line();
    }
  }
}

}  // namespace hydrant::client
