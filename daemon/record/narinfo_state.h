// The words of NarInfoState and NarInfoTier.
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

inline std::string_view NarInfoTierName(NarInfoTier tier) {
  switch (tier) {
    case NarInfoTier::kPublic:
      return "public";
    case NarInfoTier::kPrivate:
      return "private";
    case NarInfoTier::kHeld:
      return "held";
  }
  return "";
}

inline std::optional<NarInfoTier> ParseNarInfoTier(std::string_view name) {
  for (const NarInfoTier tier : {NarInfoTier::kPublic, NarInfoTier::kPrivate, NarInfoTier::kHeld}) {
    if (NarInfoTierName(tier) == name) return tier;
  }
  return std::nullopt;
}

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_NARINFO_STATE_H_
