// A store path: the parts of what is accepted make up the whole, and both ways in agree. A content address:
// every spelling reads the same, and gives one path.
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/content_address.h"
#include "lib/nix/store_path.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

void JudgeContentAddress(std::string_view input) {
  const auto address = nix::ContentAddress::Parse(input);
  if (!address.ok()) {
    Demand(absl::IsInvalidArgument(address.status()), "a bad content address is InvalidArgument",
           address.status().ToString());
    return;
  }
  const auto again = nix::ContentAddress::Parse(address->ToString());
  DemandOk(again.status(), "a printed content address can be read");
  Demand(*again == *address, "a printed content address is the same", address->ToString());
  const auto path = nix::PathOfContent(*address, "name");
  Demand(path.status() == nix::PathOfContent(*again, "name").status(), "a content has one path");
  if (path.ok()) DemandOk(nix::CheckStorePath(path->path()), "a content's path is a store path");
  const auto of_output =
      nix::ContentAddress::OfOutput(address->MethodAndAlgorithm(), address->hash.ToBase16());
  DemandOk(of_output.status(), "a content address can stand in a .drv");
  Demand(*of_output == *address, "a content address in a .drv is the same", address->ToString());
}

}  // namespace

void FuzzStorePath(std::string_view input) {
  JudgeContentAddress(input);
  const auto path = nix::StorePath::Parse(input);
  Demand(path.status() == nix::CheckStorePath(input), "Parse and CheckStorePath agree");
  const auto from_base_name = nix::StorePath::FromBaseName(input);
  const std::string below = absl::StrCat(AbslView(nix::kStoreDir), "/", AbslView(input));
  Demand(from_base_name.ok() == nix::StorePath::Parse(below).ok(), "Parse and FromBaseName agree", below);
  for (const auto& accepted : {path, from_base_name}) {
    if (!accepted.ok()) continue;
    const nix::StorePath& p = *accepted;
    Demand(nix::EncodeHashPart(nix::DecodeHashPart(p.hash_part())) == p.hash_part(),
           "a hash part is its bytes");
    Demand(p.path() == input || p.base_name() == input, "the text is kept", p.path());
    Demand(nix::IsHashPart(p.hash_part()), "the hash part is one", p.hash_part());
    Demand(p.path() ==
               absl::StrCat(AbslView(nix::kStoreDir), "/", AbslView(p.hash_part()), "-", AbslView(p.name())),
           "the parts make up the path", p.path());
    Demand(p.path().find('/', nix::kStoreDir.size() + 1) == std::string::npos, "nothing lies below",
           p.path());
  }
}

}  // namespace hydrant::fuzz
