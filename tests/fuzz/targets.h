// The fuzz targets by name. Each judges one input and aborts, with what was promised, when a promise of
// lib/nix or lib/failure does not hold for it. Knows nothing of who thinks up the inputs: libFuzzer
// (libfuzzer_entry.cc) or fuzz_replay.
#ifndef HYDRANT_TESTS_FUZZ_TARGETS_H_
#define HYDRANT_TESTS_FUZZ_TARGETS_H_

#include <span>
#include <string_view>

namespace hydrant::fuzz {

void FuzzClassify(std::string_view input);
void FuzzDaemon(std::string_view input);
void FuzzDaemonValues(std::string_view input);
void FuzzDecoder(std::string_view input);
void FuzzDerivation(std::string_view input);
void FuzzHash(std::string_view input);
void FuzzKey(std::string_view input);
void FuzzNar(std::string_view input);
void FuzzNarListing(std::string_view input);
void FuzzNarinfo(std::string_view input);
void FuzzRealisation(std::string_view input);
void FuzzSignature(std::string_view input);
void FuzzStorePath(std::string_view input);
void FuzzStructuredAttributes(std::string_view input);
void FuzzZstdFrames(std::string_view input);

struct Target {
  std::string_view name;  // of its corpus and dictionary too
  void (*judge)(std::string_view input);
};

std::span<const Target> Targets();
// nullptr when there is none of that name.
const Target* FindTarget(std::string_view name);

}  // namespace hydrant::fuzz

#endif  // HYDRANT_TESTS_FUZZ_TARGETS_H_
