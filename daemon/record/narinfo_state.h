// The words of NarInfoState.
#ifndef HYDRANT_DAEMON_RECORD_NARINFO_STATE_H_
#define HYDRANT_DAEMON_RECORD_NARINFO_STATE_H_

#include <optional>
#include <string_view>

#include "daemon/record/records.h"

namespace hydrant {

inline std::string_view NarInfoStateName(NarInfoState state) {
  switch (state) {
    case NarInfoState::kStaged:
      return "staged";
    case NarInfoState::kPublished:
      return "published";
    case NarInfoState::kRetired:
      return "retired";
  }
  return "";
}

inline std::optional<NarInfoState> ParseNarInfoState(std::string_view name) {
  for (const NarInfoState state : {NarInfoState::kStaged, NarInfoState::kPublished, NarInfoState::kRetired}) {
    if (NarInfoStateName(state) == name) return state;
  }
  return std::nullopt;
}

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_NARINFO_STATE_H_
