// The words and marks of the user's interface for what the farm says in enums and numbers.
#ifndef HYDRANT_CLIENT_FORMAT_WORDS_H_
#define HYDRANT_CLIENT_FORMAT_WORDS_H_

#include <google/protobuf/map.h>
#include <hydrant/v1/matrix.pb.h>
#include <hydrant/v1/step.pb.h>

#include <string>
#include <string_view>
#include <vector>

#include "client/format/screen.h"
#include "client/format/writer.h"

namespace hydrant::client {

// "settled"; "unknown" for a number that this version has no word for.
std::string EvaluationStateWord(v1::EvaluationState state);
// Nothing more happens in it.
bool IsEnded(v1::EvaluationState state);
std::string AttemptStageWord(v1::AttemptStage stage);

// A state of a variant, as the grid shows it.
struct StateMark {
  const char* state;
  const char* mark;   // UTF-8, one column
  const char* ascii;  // one character
  Style style;
  bool final;  // nothing more happens to the variant, or it waits
};
// In the order of legends.
const std::vector<StateMark>& StateMarks();
// A mark "?" for a state that this version does not know.
const StateMark& MarkOf(std::string_view state);
std::string MarkText(const StateMark& mark, const Screen& screen);

using Totals = google::protobuf::Map<std::string, int64_t>;
// "28 cached, 2 failed", in the order of StateMarks.
std::string TotalsText(const Totals& totals);
int64_t SumOf(const Totals& totals);
// Those in final states.
int64_t FinalOf(const Totals& totals);

// "2026-03-01 12:00" in the screen's zone; "" for 0.
std::string TimeText(int64_t ms, const Screen& screen);
// "2026-03-01T12:00:00.000Z"; "" for 0.
std::string TimeRfc3339(int64_t ms);
// "90 s", "12 min", "3.5 h", "4 d".
std::string DurationText(int64_t ms);
// "1.5 GiB".
std::string BytesText(int64_t bytes);
// "1 variant", "3 variants".
std::string Count(int64_t n, std::string_view noun);
// The name part of a store path; anything else as it is.
std::string StorePathName(const std::string& path);
// The first 12 letters.
std::string ShortRevision(const std::string& revision);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_WORDS_H_
