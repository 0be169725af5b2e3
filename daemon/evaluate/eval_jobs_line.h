// One line of nix-eval-jobs over eval_jobs.nix. Source of the format: its README and src/drv.cc,
// versions 2.24 to 2.33.
#ifndef HYDRANT_DAEMON_EVALUATE_EVAL_JOBS_LINE_H_
#define HYDRANT_DAEMON_EVALUATE_EVAL_JOBS_LINE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/evaluate/variant_facts.h"

namespace hydrant {

struct EvalJobsLine {
  enum class Part { kDerivation, kEnvironment, kFacts };
  size_t import = 0, name = 0;  // as eval_jobs.nix numbers them
  Part part = Part::kDerivation;
  std::string error;  // Nix's words; empty: it is a derivation
  std::string derivation;
  std::map<std::string, std::string> outputs;  // name -> store path
  VariantFacts facts;                          // of kFacts
};

// Nothing for what is no such line, or names no derivation and output of a Nix store.
std::optional<EvalJobsLine> ParseEvalJobsLine(std::string_view line);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_EVAL_JOBS_LINE_H_
