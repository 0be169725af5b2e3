#include "client/format/inspect_derivation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/commands/inspect.h"
#include "client/commands/inspect_input.h"
#include "client/format/text.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

constexpr size_t kLongestFile = 256 << 20;  // bytes; real ones stay below 10 MB

std::string ByteText(std::string_view text, size_t at) {
  if (at >= text.size()) return "nothing";
  return absl::StrCat("\"", absl::CHexEscape(AbslView(text.substr(at, 1))), "\"");
}

absl::Status CheckRoundtrip(const nix::Derivation& derivation, std::string_view text) {
  const std::string printed = nix::PrintDerivation(derivation);
  if (printed == text) return absl::OkStatus();
  const size_t at =
      std::mismatch(text.begin(), text.end(), printed.begin(), printed.end()).first - text.begin();
  return absl::DataLossError(absl::StrCat("byte ", at, ": the file has ", ByteText(text, at),
                                          ", written again it has ", ByteText(printed, at)));
}

absl::StatusOr<InspectedDerivation> Inspect(const std::string& file,
                                            const InspectDerivationOptions& options) {
  InspectedDerivation inspected{.path = WithoutOutputs(file)};
  HYDRANT_ASSIGN_OR_RETURN(const std::string text,
                           ReadInput(PathOnDisk(options.store, inspected.path), kLongestFile));
  absl::StatusOr<nix::Derivation> derivation = nix::ParseDerivation(text);
  if (!derivation.ok()) return Malformed(inspected.path, derivation.status());
  if (options.roundtrip) {
    if (absl::Status bad = CheckRoundtrip(*derivation, text); !bad.ok())
      return Malformed(inspected.path, bad);
  }
  inspected.derivation = *std::move(derivation);
  return inspected;
}

}  // namespace

absl::StatusOr<Exit> InspectDerivation(const InspectDerivationOptions& options, Session& session) {
  std::vector<InspectedDerivation> derivations;
  Exit exit = Exit::kOk;
  for (const std::string& file : options.files) {
    absl::StatusOr<InspectedDerivation> inspected = Inspect(file, options);
    if (!inspected.ok()) {
      session.console().Err(
          absl::StrCat("hydrant: ", CleanLines(StdView(inspected.status().message())), "\n"));
      exit = std::max(exit, ExitOf(inspected.status()));
    } else if (!options.roundtrip) {
      derivations.push_back(*std::move(inspected));
    }
  }
  if (derivations.empty()) return exit;
  session.Print({.table = [&] { return FormatDerivations(derivations, session.screen()); },
                 .json =
                     [&](JsonLayout layout) {
                       return options.files.size() == 1 ? DerivationJson(derivations[0], layout)
                                                        : DerivationsJson(derivations, layout);
                     }});
  return exit;
}

}  // namespace hydrant::client
