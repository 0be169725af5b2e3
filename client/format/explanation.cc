#include "absl/strings/str_cat.h"
#include "client/format/lists.h"
#include "client/format/policy.h"
#include "client/format/words.h"

namespace hydrant::client {
namespace {

void WriteVariant(const v1::VariantStatus& variant, Writer& writer) {
  const StateMark& mark = MarkOf(variant.state());
  writer.Text(MarkText(mark, writer.screen()), mark.style)
      .Text(" ")
      .Text(variant.id(), Style::kBold)
      .Text("  ");
  writer.Text(variant.state(), mark.style);
  if (!variant.cause().empty() && variant.cause() != variant.state())
    writer.Text(": " + variant.cause(), mark.style);
  if (variant.required()) writer.Text("  (required)");
  writer.Line().Paragraph(variant.message(), 2);
  if (!variant.held_by().empty()) writer.Text("  held by " + variant.held_by(), Style::kDim).Line();
  for (const auto& [name, path] : variant.outputs())
    writer.Text("  " + name + "  ", Style::kDim).Text(path).Line();
}

void WriteChecks(const v1::VariantStatus& variant, Writer& writer) {
  if (variant.checks_size() == 0) return;
  writer.Line().Text("Checks", Style::kBold).Line();
  for (const auto& check : variant.checks()) {
    const bool bad = check.outcome() == "fail" || check.outcome() == "error";
    writer.Text("  " + check.name() + "  ").Text(check.outcome(), bad ? Style::kBad : Style::kPlain);
    if (!check.class_().empty()) writer.Text("  " + check.class_());
    if (!check.architecture().empty())
      writer.Text("  on " + check.architecture() + ", driver " + check.driver());
    if (check.simulated()) writer.Text("  a simulated GPU: this says nothing about a real one", Style::kWarn);
    if (check.attempt() != 0) writer.Text(absl::StrCat("  a", check.attempt()), Style::kDim);
    writer.Line().Paragraph(check.message(), 4);
  }
}

void WriteChain(const v1::ExplainResponse& explanation, Writer& writer) {
  if (explanation.chain_size() < 2) return;
  writer.Line().Text("From here to the root cause", Style::kBold).Line();
  for (int i = 0; i < explanation.chain_size(); ++i) {
    const bool root = i + 1 == explanation.chain_size();
    writer.Spaces(2 + 2 * std::min(i, 20))
        .Text(explanation.chain(i), root ? Style::kBad : Style::kPlain)
        .Line();
  }
}

void WriteShared(const v1::ExplainResponse& explanation, Writer& writer) {
  if (explanation.shared_with_size() == 0) return;
  writer.Line().Text("The same step serves", Style::kBold).Line();
  for (const auto& id : explanation.shared_with()) writer.Text("  " + id).Line();
  const int64_t more = explanation.shared_with_count() - explanation.shared_with_size();
  if (more > 0) writer.Text(absl::StrCat("  and ", more, " more"), Style::kDim).Line();
}

void WriteWorkers(const v1::ExplainResponse& explanation, Writer& writer) {
  if (explanation.workers_size() == 0) return;
  writer.Line().Text("Workers", Style::kBold).Line();
  for (const auto& verdict : explanation.workers()) {
    writer.Text("  " + verdict.worker() + "  ");
    writer.Text(verdict.rule().empty() ? "could take it" : verdict.rule(),
                verdict.rule().empty() ? Style::kGood : Style::kWarn);
    writer.Line();
  }
}

void WriteAttempts(const v1::ExplainResponse& explanation, Writer& writer) {
  if (explanation.attempts_size() == 0) return;
  writer.Line().Text("Attempts", Style::kBold).Text("  (hydrant log aN)", Style::kDim).Line();
  for (const auto& attempt : explanation.attempts()) {
    writer.Text(absl::StrCat("  a", attempt.attempt(), "  ", attempt.worker(), "  "));
    writer.Text(attempt.outcome(), attempt.outcome() == "succeeded" ? Style::kGood
                                   : attempt.outcome() == "running" ? Style::kBusy
                                                                    : Style::kBad);
    if (!attempt.cause().empty()) writer.Text("  " + attempt.cause());
    writer.Text("  " + TimeText(attempt.started_at_ms(), writer.screen()), Style::kDim);
    if (attempt.ended_at_ms() != 0) {
      writer.Text("  " + DurationText(attempt.ended_at_ms() - attempt.started_at_ms()), Style::kDim);
    }
    writer.Line().Paragraph(attempt.message(), 4);
  }
}

}  // namespace

std::string FormatExplanation(const v1::ExplainResponse& explanation, const Screen& screen) {
  Writer writer(screen);
  if (explanation.has_variant()) WriteVariant(explanation.variant(), writer);
  if (!explanation.derivation().empty()) {
    writer.Text("  " + explanation.derivation());
    if (!explanation.step_state().empty()) writer.Text("  step " + explanation.step_state(), Style::kDim);
    writer.Line();
  }
  if (explanation.reason() != explanation.variant().message()) writer.Paragraph(explanation.reason(), 2);
  if (explanation.has_variant()) WriteFacts(explanation.variant(), writer);
  if (explanation.has_variant()) WriteChecks(explanation.variant(), writer);
  WriteChain(explanation, writer);
  if (explanation.waits_for_size() > 0) {
    writer.Line().Text("Waits for", Style::kBold).Line();
    for (const auto& path : explanation.waits_for()) writer.Text("  " + path).Line();
  }
  WriteShared(explanation, writer);
  WriteWorkers(explanation, writer);
  WriteAttempts(explanation, writer);
  return writer.Take();
}

}  // namespace hydrant::client
