// From the texts and codes of Nix and of builders to a cause. ANSI codes and NULs are stripped first. Knows
// Nix 2.8's wording and the newer one (…2.36); every line is searched, no position is relied on.
#ifndef HYDRANT_LIB_FAILURE_CLASSIFY_H_
#define HYDRANT_LIB_FAILURE_CLASSIFY_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "lib/failure/cause.h"

namespace hydrant {

struct Classified {
  Cause cause = Cause::kUnknown;
  std::string message;  // the decisive line, clean, without "error: "
  size_t line = 0;      // where it stands in the text, from 1; 0: in none
};

// Without colours, titles, links (CSI, OSC and the other escape sequences) and NULs; CR LF becomes LF.
std::string StripAnsi(std::string_view text);

// The last `error:` that a wording explains decides. An `error:` that none explains is kThrow, a text without
// one kUnknown.
Classified ClassifyEvaluation(std::string_view text);

// `error`: what Nix said of the attempt; `log_tail`: the builder's last lines. `nix_status`:
// BuildResult::status of the daemon protocol, or -1. An exact status (timed out, log limit, not
// deterministic, hash mismatch, dependency failed) outranks all text; the log decides where it is more exact
// than Nix (disk full behind a plain builder failure). kNone for a status of success; kUnknown only without a
// status.
Classified ClassifyAttempt(int nix_status, std::string_view error, std::string_view log_tail);

// An attempt of which only a text is there that may hold Nix's words, the builder's log, or both.
Classified ClassifyAttemptText(std::string_view text);

// kWrongResult when no symptom is known: the check ran and said no.
Classified ClassifyCheck(std::string_view output);

// A text of unknown origin, as a user pastes it: the stage whose wording it has, kUnknown when none.
struct Guess {
  FailureStage stage = FailureStage::kEvaluation;
  Classified classified;
};
Guess ClassifyText(std::string_view text);

}  // namespace hydrant

#endif  // HYDRANT_LIB_FAILURE_CLASSIFY_H_
