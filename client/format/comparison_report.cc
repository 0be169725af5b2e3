#include "client/format/comparison_report.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/format/table.h"
#include "client/format/text.h"
#include "client/format/words.h"
#include "client/format/writer.h"

namespace hydrant::client {
namespace {

constexpr size_t kMostNamed = 12;  // variants of a cause that are named on a screen

struct Section {
  std::string head;
  std::vector<const v1::VariantChange*> changes;
};

// One for each cause, then what is new, then what is gone.
std::vector<Section> SectionsOf(const v1::CompareEvaluationsResponse& comparison) {
  std::vector<Section> sections;
  for (const v1::ChangeCause& cause : comparison.causes()) sections.push_back({.head = cause.text()});
  const size_t causes = sections.size();
  sections.push_back({.head = "New"});
  sections.push_back({.head = "Gone"});
  for (const v1::VariantChange& change : comparison.changes()) {
    const bool has_cause = change.cause() > 0 && static_cast<size_t>(change.cause()) <= causes;
    const size_t place = has_cause ? change.cause() - 1 : causes + (change.change() == "gone" ? 1 : 0);
    sections[place].changes.push_back(&change);
  }
  return sections;
}

// "demo evaluation 5 against 4"; with both matrices where they differ.
std::string TitleOf(const v1::CompareEvaluationsResponse& comparison) {
  const v1::Evaluation &before = comparison.before(), &after = comparison.after();
  return absl::StrCat(after.matrix(), " evaluation ", after.id(), " against ",
                      before.matrix() == after.matrix() ? "" : absl::StrCat(before.matrix(), " evaluation "),
                      before.id());
}

std::string TotalsOf(const v1::CompareEvaluationsResponse& comparison) {
  std::vector<std::string> words;
  for (const char* word : {"changed", "new", "gone", "unchanged"}) {
    const auto found = comparison.totals().find(word);
    if (found != comparison.totals().end() && found->second > 0)
      words.push_back(absl::StrCat(found->second, " ", word));
  }
  return words.empty() ? "no variants" : absl::StrJoin(words, ", ");
}

// "through magma-2.7; was failed": the way to the cause, and what the change did to the variant's state.
std::string NoteOf(const v1::VariantChange& change) {
  constexpr int kMostOnTheWay = 3;
  std::vector<std::string> way;
  for (int i = 1; i + 1 < change.chain_size(); ++i) {
    if (i > kMostOnTheWay) {
      way.emplace_back("…");
      break;
    }
    way.push_back(change.chain(i));
  }
  std::vector<std::string> notes;
  if (!way.empty()) notes.push_back(absl::StrCat("through ", absl::StrJoin(way, ", ")));
  if (!change.state_before().empty() && change.state_before() != change.state_after())
    notes.push_back(absl::StrCat("was ", change.state_before()));
  return absl::StrJoin(notes, "; ");
}

void WriteSection(const Section& section, Writer& writer) {
  writer.Line().Text(section.head, Style::kBold);
  writer.Text("  " + Count(static_cast<int64_t>(section.changes.size()), "variant"), Style::kDim).Line();
  for (size_t i = 0; i < section.changes.size() && i < kMostNamed; ++i) {
    const v1::VariantChange& change = *section.changes[i];
    const StateMark& mark =
        MarkOf(change.state_after().empty() ? change.state_before() : change.state_after());
    writer.Spaces(2).Text(MarkText(mark, writer.screen()), mark.style).Text(" " + change.id());
    const std::string note = NoteOf(change);
    if (!note.empty()) writer.Text("  " + note, Style::kDim);
    writer.Line();
  }
  if (section.changes.size() > kMostNamed) {
    writer.Text(absl::StrCat("  and ", section.changes.size() - kMostNamed, " more"), Style::kDim).Line();
  }
}

}  // namespace

std::string FormatComparison(const v1::CompareEvaluationsResponse& comparison, const Screen& screen) {
  Writer writer(screen);
  writer.Text(TitleOf(comparison), Style::kBold);
  writer.Text(absl::StrCat("  revision ", ShortRevision(comparison.before().revision()), " → ",
                           ShortRevision(comparison.after().revision())));
  writer.Line().Text(TotalsOf(comparison)).Line();
  for (const Section& section : SectionsOf(comparison)) {
    if (!section.changes.empty()) WriteSection(section, writer);
  }
  return writer.Take();
}

std::string FormatMarkdownComparison(const v1::CompareEvaluationsResponse& comparison) {
  std::string out = absl::StrCat("## Report on ", MarkdownText(TitleOf(comparison)), "\n\nrevision `",
                                 Clean(comparison.before().revision()), "` → `",
                                 Clean(comparison.after().revision()), "`: ", TotalsOf(comparison), "\n");
  for (const Section& section : SectionsOf(comparison)) {
    if (section.changes.empty()) continue;
    absl::StrAppend(&out, "\n### ", MarkdownText(section.head), ": ",
                    Count(static_cast<int64_t>(section.changes.size()), "variant"), "\n\n");
    for (const v1::VariantChange* change : section.changes) {
      const std::string& state =
          change->state_after().empty() ? change->state_before() : change->state_after();
      const std::string note = NoteOf(*change);
      absl::StrAppend(&out, "- ", MarkOf(state).mark, " `", Clean(change->id()), "`",
                      note.empty() ? "" : absl::StrCat(": ", MarkdownText(note)), "\n");
    }
  }
  return out;
}

}  // namespace hydrant::client
