#include "daemon/audit/hydra_policy.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hydrant {
namespace {

HydraVerdict Skips(std::string reason, std::string sentence) {
  return {.skips = true, .reason = std::move(reason), .sentence = std::move(sentence)};
}

// The names of its licences that are not free; "unfree" where meta says so without naming one.
std::vector<std::string> UnfreeLicences(const VariantFacts& facts) {
  std::vector<std::string> names;
  for (const Licence& licence : facts.licences) {
    if (!licence.free) names.push_back(licence.name);
  }
  if (names.empty() && facts.unfree.value_or(false)) names.push_back("unfree");
  return names;
}

bool IsUnfree(const VariantFacts& facts) { return facts.unfree.value_or(!UnfreeLicences(facts).empty()); }

// What stands behind "unfree": nothing where the name says no more than that.
std::string Colon(const std::string& licence) {
  return licence == "unfree" ? "" : absl::StrCat(": ", licence);
}
std::string Brackets(const std::string& licence) {
  return licence == "unfree" ? "" : absl::StrCat(" (", licence, ")");
}

HydraVerdict JudgeRefusal(Cause cause) {
  switch (cause) {
    case Cause::kUnfree:
      return Skips("unfree", "Hydra would skip it: it is unfree, or needs something that is");
    case Cause::kBroken:
      return Skips("broken", "Hydra would skip it: it is marked as broken, or needs something that is");
    case Cause::kInsecure:
      return Skips("insecure", "Hydra would skip it: it is marked as insecure, or needs something that is");
    case Cause::kUnsupportedSystem:
      return Skips("unsupported system",
                   "Hydra would skip it: it is not supported on this system, or needs something that is not");
    default:
      return {};
  }
}

std::string ComesThrough(const std::vector<std::string>& inputs) {
  return inputs.empty() ? "" : absl::StrCat("; it comes through ", absl::StrJoin(inputs, ", then "));
}

HydraVerdict JudgeUnfreeInput(const VariantFacts& facts) {
  const std::string licence = facts.unfree_licence.empty() ? "unfree" : facts.unfree_licence;
  return Skips(absl::StrCat("unfree", Colon(licence), ", through ", facts.unfree_through),
               absl::StrCat("Hydra would skip it: ", facts.unfree_through, ", which it needs, is unfree",
                            Brackets(licence), ComesThrough(facts.unfree_inputs)));
}

HydraVerdict JudgeMarkedInput(const VariantFacts& facts) {
  const bool unsupported = facts.mark == "unsupported";
  const std::string is = unsupported ? "not supported on this system" : absl::StrCat("marked as ", facts.mark);
  return Skips(absl::StrCat(unsupported ? "unsupported system" : facts.mark, ", through ", facts.marked_through),
               absl::StrCat("Hydra would skip it: ", facts.marked_through, ", which it needs, is ", is,
                            ComesThrough(facts.marked_inputs)));
}

bool TellNothing(const VariantFacts& facts) {
  return facts.licences.empty() && facts.unfree_through.empty() && facts.marked_through.empty() && !facts.unfree &&
         !facts.broken && !facts.insecure && !facts.unsupported && !facts.hydra_platform;
}

}  // namespace

HydraVerdict JudgeForHydra(const VariantFacts& facts, Cause cause) {
  if (cause != Cause::kNone) return JudgeRefusal(cause);
  if (TellNothing(facts)) return {};
  if (IsUnfree(facts)) {
    const std::vector<std::string> names = UnfreeLicences(facts);
    const std::string licences = names.empty() ? "unfree" : absl::StrJoin(names, ", ");
    return Skips(absl::StrCat("unfree", Colon(licences)),
                 absl::StrCat("Hydra would skip it: its own licence is unfree", Brackets(licences)));
  }
  if (facts.broken.value_or(false)) return Skips("broken", "Hydra would skip it: it is marked as broken");
  if (facts.unsupported.value_or(false))
    return Skips("unsupported system", "Hydra would skip it: it is not supported on this system");
  if (facts.insecure.value_or(false))
    return Skips("insecure", "Hydra would skip it: it is marked as insecure");
  if (!facts.unfree_through.empty()) return JudgeUnfreeInput(facts);
  if (!facts.marked_through.empty()) return JudgeMarkedInput(facts);
  if (!facts.hydra_platform.value_or(true)) {
    return Skips("platforms: not in meta.hydraPlatforms",
                 "Hydra would skip it: its meta.hydraPlatforms leaves this system out");
  }
  return {.skips = false,
          .reason = "",
          .sentence = "Hydra would not skip it, as far as its licences and marks tell"};
}

}  // namespace hydrant
