#include <unistd.h>

#include <iostream>
#include <set>

#include "absl/strings/str_split.h"
#include "lib/base/fd_stream.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/nar.h"
#include "lib/nix/nar_listing.h"
#include "tests/bench/nix/verbs.h"

namespace hydrant::nix::bench {
namespace {

absl::StatusOr<std::set<std::string>> HashParts(const std::string& path) {
  HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return std::set<std::string>(absl::StrSplit(text, '\n', absl::SkipEmpty()));
}

void Print(const NarFacts& facts) {
  std::cout << facts.hash.ToNixString() << " " << facts.size << " " << facts.references.size() << "\n";
}

}  // namespace

absl::Status Dump(const Arguments& arguments) {
  FdSink out(STDOUT_FILENO, "the output");
  return DumpPath(arguments[0], out);
}

absl::Status Restore(const Arguments& arguments) {
  FdSource in(STDIN_FILENO, "the input");
  return RestorePath(in, arguments[0]);
}

absl::Status Hash(const Arguments& arguments) {
  Sha256 hash;
  HYDRANT_RETURN_IF_ERROR(DumpPath(arguments[0], hash));
  std::cout << hash.Finish().ToBase32() << "\n";
  return absl::OkStatus();
}

absl::Status Scan(const Arguments& arguments) {
  HYDRANT_ASSIGN_OR_RETURN(std::set<std::string> hash_parts, HashParts(arguments[1]));
  HYDRANT_ASSIGN_OR_RETURN(const NarFacts facts,
                           DescribePath(arguments[0], {.hash_parts = std::move(hash_parts)}));
  Print(facts);
  return absl::OkStatus();
}

absl::Status Verify(const Arguments& arguments) {
  HYDRANT_ASSIGN_OR_RETURN(std::set<std::string> hash_parts, HashParts(arguments[0]));
  NarVerifier verifier(std::move(hash_parts));
  FdSource in(STDIN_FILENO, "the input");
  HYDRANT_RETURN_IF_ERROR(Copy(in, verifier).status());
  HYDRANT_ASSIGN_OR_RETURN(const NarFacts facts, verifier.Finish());
  Print(facts);
  return absl::OkStatus();
}

absl::Status List(const Arguments&) {
  FdSource in(STDIN_FILENO, "the input");
  HYDRANT_ASSIGN_OR_RETURN(const NarListing listing, ListNar(in));
  std::cout << listing.entries().size() << " entries\n";
  return absl::OkStatus();
}

}  // namespace hydrant::nix::bench
