#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/format/lists.h"
#include "client/format/status_report.h"
#include "client/format/table.h"
#include "client/format/text.h"
#include "client/format/words.h"

namespace hydrant::client {
namespace {

using Notes = google::protobuf::RepeatedPtrField<std::string>;

constexpr char kUnknown[] = "unknown";

// The grid and its reasons, of the status of an evaluation that is not recorded.
v1::GetStatusResponse AsStatus(const Variants& variants, const Totals& totals, const Notes& notes) {
  v1::GetStatusResponse status;
  *status.mutable_variants() = variants;
  *status.mutable_totals() = totals;
  *status.mutable_notes() = notes;
  return status;
}

int64_t Millis(double seconds) { return static_cast<int64_t>(seconds * 1000); }

// "13", "1.3", "0.013": two digits that count.
std::string Figure(double value) {
  if (value == 0) return "0";
  return value >= 10 || value <= -10 ? absl::StrFormat("%.0f", value) : absl::StrFormat("%.2g", value);
}

// "28 ours, 2 in https://cache.nixos.org"
std::string Places(const Totals& present_in) {
  std::vector<std::string> words;
  for (const auto& [cache, count] : present_in) {
    words.push_back(cache == "ours" ? absl::StrCat(count, " in ours") : absl::StrCat(count, " in ", cache));
  }
  std::sort(words.begin(), words.end());
  return words.empty() ? "" : absl::StrCat(" (", absl::StrJoin(words, ", "), ")");
}

std::string Steps(const v1::PlanResponse& plan) {
  return absl::StrCat(plan.steps_build(), " to build, ", plan.steps_present(), " already in a cache",
                      Places(plan.present_in()), ", ", plan.steps_shared(), " shared by several variants");
}

// Whether any of the work is known, so that a sum says something; and when there is none, it is 0.
bool KnowsAny(const v1::PlanEstimate& e) {
  const int64_t work = e.steps() + e.checks();
  return work == 0 || e.unknown_steps() + e.unknown_checks() < work;
}
bool KnowsBytes(const v1::PlanEstimate& e) { return e.steps() == 0 || e.unknown_bytes() < e.steps(); }
bool KnowsGpu(const v1::PlanEstimate& e) {
  return e.checks() == 0 || e.unknown_checks() < e.checks() || e.gpu_time_s() > 0;
}

std::string CoreHours(const v1::PlanEstimate& e) {
  return KnowsAny(e) ? Figure(e.core_time_s() / 3600) : kUnknown;
}
std::string GpuMinutes(const v1::PlanEstimate& e) {
  return KnowsGpu(e) ? Figure(e.gpu_time_s() / 60) : kUnknown;
}
std::string DownloadBytes(const v1::PlanEstimate& e) {
  const bool known = e.downloads() == 0 || e.unknown_downloads() < e.downloads();
  return known ? BytesText(e.download_bytes()) : kUnknown;
}
std::string Bytes(const v1::PlanEstimate& e) { return KnowsBytes(e) ? BytesText(e.bytes()) : kUnknown; }

std::string Cost(const v1::PlanEstimate& e) {
  return absl::StrCat("core-hours ", CoreHours(e), ", GPU-minutes ", GpuMinutes(e), ", outputs ", Bytes(e));
}

// "14 outputs, 1.1 GiB (2 of unknown size)"; "" when there is nothing to fetch.
std::string Download(const v1::PlanEstimate& e) {
  if (e.downloads() == 0) return "";
  std::string text = absl::StrCat(Count(e.downloads(), "output"), ", ", DownloadBytes(e));
  if (0 < e.unknown_downloads() && e.unknown_downloads() < e.downloads())
    absl::StrAppend(&text, " (", e.unknown_downloads(), " of unknown size)");
  return text;
}

std::string Farm(const v1::PlanEstimate& e) {
  return absl::StrCat(Count(e.workers(), "worker"), " (", Count(e.slots(), "slot"), ", ",
                      Count(e.cores(), "core"), ", ", Count(e.gpus(), "GPU"), ")");
}

std::string Time(const v1::PlanEstimate& e) {
  if (e.steps() + e.checks() == 0) return "none: there is nothing to build or check";
  if (e.workers() == 0) return "unknown: no worker is connected";
  if (!KnowsAny(e)) return absl::StrCat("unknown, on ", Farm(e));
  const std::string least = DurationText(Millis(e.wall_s())), most = DurationText(Millis(e.wall_at_most_s()));
  if (e.backlog_running() + e.backlog_waiting() > 0) {
    return absl::StrCat("between ", least, ", were they idle, and ", most, ", after the ", e.backlog_running(),
                        " that run and the ", e.backlog_waiting(), " that wait now, on ", Farm(e));
  }
  const std::string text =
      least == most ? absl::StrCat("about ", least) : absl::StrCat("between ", least, " and ", most);
  return absl::StrCat(text, " on ", Farm(e), ", which have nothing else to do");
}

// What the figures are without; "" when they are whole.
std::string Gaps(const v1::PlanEstimate& e) {
  std::vector<std::string> words;
  if (e.unknown_steps() > 0)
    words.push_back(absl::StrCat(e.unknown_steps(), " of ", Count(e.steps(), "step")));
  if (e.unknown_checks() > 0)
    words.push_back(absl::StrCat(e.unknown_checks(), " of ", Count(e.checks(), "check")));
  std::vector<std::string> gaps;
  if (!words.empty())
    gaps.push_back(absl::StrCat(absl::StrJoin(words, " and "), " never ran here: no figure has them"));
  if (e.unplaceable() > 0 && e.workers() > 0) {
    gaps.push_back(
        absl::StrCat(e.unplaceable(), " that no connected worker can take: the time is without them"));
  }
  if (e.backlog_unknown() > 0) {
    gaps.push_back(absl::StrCat(e.backlog_unknown(), " of what runs or waits now never ran here: the time has nothing of it"));
  }
  if (e.unmeasured_cpu() > 0) {
    gaps.push_back(absl::StrCat(Count(e.unmeasured_cpu(), "step"), " of unmeasured CPU: taken as one core"));
  }
  return absl::StrJoin(gaps, "; ");
}

// What the estimate is without, and the steps that build longest.
void WriteDetails(const v1::PlanEstimate& estimate, Writer& writer) {
  if (const std::string gaps = Gaps(estimate); !gaps.empty()) {
    writer.Text("Unknown  ", Style::kBold).Text(gaps, Style::kWarn).Line();
  }
  const char* head = "Longest  ";
  for (const auto& step : estimate.longest()) {
    writer.Text(head, Style::kBold)
        .Text(PadLeft(DurationText(Millis(step.building_s())), 7))
        .Text("  " + step.name())
        .Line();
    head = "         ";
  }
}

std::string Signed(int64_t value) { return value > 0 ? absl::StrCat("+", value) : absl::StrCat(value); }

// What a figure grows by: "unknown" stays, and nothing is 0.
std::string More(const std::string& figure) {
  return figure == kUnknown || figure == "0" || figure[0] == '-' ? figure : "+" + figure;
}

Table AdditionTable(const v1::PlanResponse& plan) {
  const v1::PlanSummary& with = plan.addition().with();
  const v1::PlanSummary& more = plan.addition().difference();
  const v1::PlanEstimate &a = plan.estimate(), &b = with.estimate(), &d = more.estimate();
  Table table{.columns = {{""}, {"as it is", true}, {"with it", true}, {"difference", true}}, .empty = ""};
  const auto count = [&](const std::string& what, int64_t before, int64_t after) {
    table.rows.push_back({what, absl::StrCat(before), absl::StrCat(after), Signed(after - before)});
  };
  count("variants", SumOf(plan.totals()), SumOf(with.totals()));
  for (const StateMark& mark : StateMarks()) {
    const auto before = plan.totals().find(mark.state), after = with.totals().find(mark.state);
    if (after == with.totals().end()) continue;
    count(absl::StrCat("  ", mark.state), before == plan.totals().end() ? 0 : before->second, after->second);
  }
  count("steps to build", plan.steps_build(), with.steps_build());
  count("  never built here", a.unknown_steps(), b.unknown_steps());
  count("steps in a cache", plan.steps_present(), with.steps_present());
  table.rows.push_back({"core-hours", CoreHours(a), CoreHours(b), More(CoreHours(d))});
  table.rows.push_back({"GPU-minutes", GpuMinutes(a), GpuMinutes(b), More(GpuMinutes(d))});
  table.rows.push_back({"outputs", Bytes(a), Bytes(b), More(Bytes(d))});
  if (b.downloads() > 0) {
    count("outputs to download", a.downloads(), b.downloads());
    if (a.unknown_downloads() + b.unknown_downloads() > 0)
      count("  of unknown size", a.unknown_downloads(), b.unknown_downloads());
    table.rows.push_back({"  bytes", DownloadBytes(a), DownloadBytes(b), More(DownloadBytes(d))});
  }
  const auto wall = [](const v1::PlanEstimate& e) {
    const bool known = e.steps() + e.checks() == 0 || (e.workers() > 0 && KnowsAny(e));
    return known ? DurationText(Millis(e.wall_s())) : kUnknown;
  };
  table.rows.push_back({"time, at least", wall(a), wall(b), More(wall(d))});
  return table;
}

std::string Added(const v1::PlanAddition& addition) { return "with " + absl::StrJoin(addition.add(), " "); }

v1::GetStatusResponse AddedStatus(const v1::PlanResponse& plan) {
  const v1::PlanAddition& addition = plan.addition();
  Totals totals;
  for (const auto& variant : addition.variants()) ++totals[variant.state()];
  return AsStatus(addition.variants(), totals, plan.notes());
}

// The variants that are added, with their reasons; then what they cost.
std::string FormatAddition(const std::string& matrix, const v1::PlanResponse& plan, const Screen& screen) {
  const v1::PlanAddition& addition = plan.addition();
  Writer head(screen), details(screen);
  head.Text(matrix, Style::kBold).Text(" " + Added(addition)).Line();
  details.Line();
  WriteDetails(addition.difference().estimate(), details);
  if (addition.difference().estimate().longest().empty() && Gaps(addition.difference().estimate()).empty())
    details.Take();
  return head.Take() + FormatStatus("added", AddedStatus(plan), absl::InfinitePast(), screen) + "\n" +
         FormatTable(AdditionTable(plan), screen) + details.Take();
}

}  // namespace

std::string FormatPlan(const std::string& matrix, const v1::PlanResponse& plan, const Screen& screen) {
  if (plan.has_addition()) return FormatAddition(matrix, plan, screen);
  Writer writer(screen);
  writer.Line().Text("Revision ", Style::kBold).Text(plan.revision()).Line();
  writer.Text("Steps    ", Style::kBold).Text(Steps(plan)).Line();
  writer.Text("Cost     ", Style::kBold).Text(Cost(plan.estimate())).Line();
  if (const std::string download = Download(plan.estimate()); !download.empty())
    writer.Text("Download ", Style::kBold).Text(download).Line();
  writer.Text("Time     ", Style::kBold).Text(Time(plan.estimate())).Line();
  WriteDetails(plan.estimate(), writer);
  return FormatStatus(matrix, AsStatus(plan.variants(), plan.totals(), plan.notes()), absl::InfinitePast(), screen) +
         writer.Take();
}

std::string FormatMarkdownPlan(const std::string& matrix, const v1::PlanResponse& plan) {
  if (plan.has_addition()) {
    const v1::PlanAddition& addition = plan.addition();
    const std::string gaps = Gaps(addition.difference().estimate());
    return absl::StrCat(
        FormatMarkdownStatus(absl::StrCat(matrix, " ", Added(addition)), AddedStatus(plan)), "\n",
        FormatMarkdownTable(AdditionTable(plan)),
        gaps.empty() ? "" : absl::StrCat("\nUnknown: ", gaps, ".\n"));
  }
  std::string text = absl::StrCat(FormatMarkdownStatus(matrix, AsStatus(plan.variants(), plan.totals(), plan.notes())),
                                  "\nSteps: ", Steps(plan), ".\n\nCost: ", Cost(plan.estimate()), ".");
  if (const std::string download = Download(plan.estimate()); !download.empty())
    absl::StrAppend(&text, " Download: ", download, ".");
  absl::StrAppend(&text, " Time: ", Time(plan.estimate()), ".\n");
  if (const std::string gaps = Gaps(plan.estimate()); !gaps.empty())
    absl::StrAppend(&text, "\nUnknown: ", gaps, ".\n");
  return text;
}

}  // namespace hydrant::client
