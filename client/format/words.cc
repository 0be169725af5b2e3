#include "client/format/words.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

std::string WordOf(const std::string& name, size_t prefix) {
  if (name.size() <= prefix || absl::EndsWith(name, "UNSPECIFIED")) return "unknown";
  return absl::AsciiStrToLower(name.substr(prefix));
}

}  // namespace

std::string EvaluationStateWord(v1::EvaluationState state) {
  return WordOf(v1::EvaluationState_Name(state), sizeof("EVALUATION_STATE_") - 1);
}

bool IsEnded(v1::EvaluationState state) {
  return state == v1::EVALUATION_STATE_SETTLED || state == v1::EVALUATION_STATE_INCOMPLETE ||
         state == v1::EVALUATION_STATE_FAILED || state == v1::EVALUATION_STATE_CANCELLED;
}

std::string AttemptStageWord(v1::AttemptStage stage) {
  return WordOf(v1::AttemptStage_Name(stage), sizeof("ATTEMPT_STAGE_") - 1);
}

const std::vector<StateMark>& StateMarks() {
  static const auto& marks = *new std::vector<StateMark>{
      {"cached", "●", "#", Style::kGood, true},           {"building", "▶", ">", Style::kBusy, false},
      {"testing", "◆", "t", Style::kBusy, false},         {"ready", "○", "o", Style::kPlain, false},
      {"pending", "·", ".", Style::kDim, false},          {"evaluating", "…", ",", Style::kDim, false},
      {"waiting", "?", "?", Style::kWarn, true},          {"failed", "✗", "X", Style::kBad, true},
      {"dependency_failed", "⊘", "x", Style::kBad, true}, {"cancelled", "⊖", "/", Style::kDim, true},
      {"impossible", "–", "-", Style::kDim, true},
  };
  return marks;
}

const StateMark& MarkOf(std::string_view state) {
  static constexpr StateMark kUnknown = {"unknown", "¿", "!", Style::kWarn, false};
  const auto& marks = StateMarks();
  const auto found =
      std::find_if(marks.begin(), marks.end(), [&](const StateMark& m) { return m.state == state; });
  return found == marks.end() ? kUnknown : *found;
}

std::string MarkText(const StateMark& mark, const Screen& screen) {
  return screen.utf8 ? mark.mark : mark.ascii;
}

std::string TotalsText(const Totals& totals) {
  std::vector<std::string> words;
  for (const StateMark& mark : StateMarks()) {
    const auto found = totals.find(mark.state);
    if (found != totals.end() && found->second != 0)
      words.push_back(absl::StrCat(found->second, " ", mark.state));
  }
  return absl::StrJoin(words, ", ");
}

int64_t SumOf(const Totals& totals) {
  int64_t sum = 0;
  for (const auto& [state, count] : totals) sum += count;
  return sum;
}

int64_t FinalOf(const Totals& totals) {
  int64_t sum = 0;
  for (const auto& [state, count] : totals) sum += MarkOf(state).final ? count : 0;
  return sum;
}

std::string TimeText(int64_t ms, const Screen& screen) {
  return ms == 0 ? "" : absl::FormatTime("%Y-%m-%d %H:%M", absl::FromUnixMillis(ms), screen.zone);
}

std::string TimeRfc3339(int64_t ms) {
  return ms == 0 ? ""
                 : absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

std::string DurationText(int64_t ms) {
  const double seconds = std::max<double>(0, static_cast<double>(ms) / 1000.0);
  if (seconds < 120) return absl::StrFormat("%.0f s", seconds);
  if (seconds < 2 * 3600) return absl::StrFormat("%.0f min", seconds / 60);
  if (seconds < 48 * 3600) return absl::StrFormat("%.1f h", seconds / 3600);
  return absl::StrFormat("%.0f d", seconds / 86400);
}

std::string BytesText(int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return unit == 0 ? absl::StrCat(bytes, " B") : absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string Count(int64_t n, std::string_view noun) {
  return absl::StrCat(n, " ", AbslView(noun), n == 1 ? "" : "s");
}

std::string StorePathName(const std::string& path) {
  constexpr size_t kHash = 32;
  const std::string base = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
  return base.size() > kHash + 1 && base[kHash] == '-' ? base.substr(kHash + 1) : path;
}

std::string ShortRevision(const std::string& revision) { return revision.substr(0, 12); }

}  // namespace hydrant::client
