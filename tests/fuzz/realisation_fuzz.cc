// A realisation's JSON, of the protocol and of both formats of a cache, and the texts that name outputs: what
// is read and printed again reads the same, and what is signed does not change by it.
#include "lib/nix/derived_path.h"
#include "lib/nix/realisation.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {

namespace {

template <typename Entry, typename Parse>
void JudgeEntry(const absl::StatusOr<Entry>& entry, Parse parse) {
  if (!entry.ok()) {
    Demand(absl::IsInvalidArgument(entry.status()), "a bad realisation is InvalidArgument",
           entry.status().ToString());
    return;
  }
  const std::string printed = entry->Print(), fingerprint = entry->Fingerprint();
  const absl::StatusOr<Entry> again = parse(printed);
  DemandOk(again.status(), "what is printed can be read");
  Demand(again->Print() == printed, "printing is stable", printed);
  Demand(again->Fingerprint() == fingerprint, "the fingerprint is stable", fingerprint);
  Demand(again->value.out_path == entry->value.out_path &&
             again->value.signatures == entry->value.signatures &&
             again->value.other_fields == entry->value.other_fields,
         "what is printed reads the same", printed);
  Demand(entry->CacheFile().find("/../") == std::string::npos, "a cache's file is one of its own",
         entry->CacheFile());
}

}  // namespace

void FuzzRealisation(std::string_view input) {
  JudgeEntry(nix::Realisation::Parse(input), nix::Realisation::Parse);
  const auto parse_trace = [](std::string_view json) {
    static const nix::StorePath derivation =
        nix::StorePath::Parse("/nix/store/6563gizg4p41dv3srnm9khz56i19ldq0-built.drv").value();
    return nix::BuildTraceEntry::Parse(derivation, "out", json);
  };
  JudgeEntry(parse_trace(input), parse_trace);
  if (const auto id = nix::Realisation::Id::Parse(input); id.ok()) {
    Demand(nix::Realisation::Id::Parse(id->ToString()).value() == *id, "a printed id is the same", input);
  }
  const auto path = nix::DerivedPath::Parse(input);
  if (!path.ok()) return;
  DemandOk(path->Check(), "a target that was read is one");
  const auto again = nix::DerivedPath::Parse(path->ToString());
  DemandOk(again.status(), "a printed target can be read");
  Demand(*again == *path, "a printed target is the same", path->ToString());
}

}  // namespace hydrant::fuzz
