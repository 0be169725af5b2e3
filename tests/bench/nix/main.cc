// nix_bench VERB ARGUMENTS…: see verbs.h. Exits 0, 1 when the work failed, 2 on a wrong call.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string_view>

#include "tests/bench/nix/verbs.h"

namespace {

using hydrant::nix::bench::Arguments;

struct Verb {
  std::string_view name;
  size_t arguments;
  bool more;  // may be given more arguments
  absl::Status (*run)(const Arguments&);
};

constexpr Verb kVerbs[] = {
    {"dump", 1, false, hydrant::nix::bench::Dump},
    {"restore", 1, false, hydrant::nix::bench::Restore},
    {"hash", 1, false, hydrant::nix::bench::Hash},
    {"scan", 2, false, hydrant::nix::bench::Scan},
    {"verify", 1, false, hydrant::nix::bench::Verify},
    {"list", 0, false, hydrant::nix::bench::List},
    {"compress", 2, false, hydrant::nix::bench::Compress},
    {"decompress", 2, false, hydrant::nix::bench::Decompress},
    {"closure", 3, false, hydrant::nix::bench::Closure},
    {"nar-from-path", 2, false, hydrant::nix::bench::NarFromPath},
    {"add-nar", 4, false, hydrant::nix::bench::AddNar},
    {"build-each", 1, false, hydrant::nix::bench::BuildEach},
    {"build-all", 2, false, hydrant::nix::bench::BuildAll},
    {"measure", 2, true, hydrant::nix::bench::Measure},
    {"sample-stream", 1, false, hydrant::nix::bench::SampleStream},
    {"sample-nar", 1, false, hydrant::nix::bench::SampleNar},
};

int Micro(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

int Usage() {
  std::fputs("usage: nix_bench VERB ARGUMENT...; verbs:\n  micro (any number)\n", stderr);
  for (const Verb& verb : kVerbs) {
    std::fprintf(stderr, "  %s (%zu%s)\n", verb.name.data(), verb.arguments, verb.more ? " or more" : "");
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return Usage();
  const std::string_view name = argv[1];
  if (name == "micro") return Micro(argc - 1, argv + 1);
  const Arguments arguments(argv + 2, argv + argc);
  for (const Verb& verb : kVerbs) {
    if (verb.name != name) continue;
    if (arguments.size() < verb.arguments || (arguments.size() > verb.arguments && !verb.more))
      return Usage();
    const absl::Status status = verb.run(arguments);
    if (status.ok()) return 0;
    std::fprintf(stderr, "nix_bench %s: %s\n", argv[1], status.ToString().c_str());
    return 1;
  }
  return Usage();
}
