#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

constexpr Target kTargets[] = {
    {"classify", FuzzClassify},
    {"daemon", FuzzDaemon},
    {"daemon_values", FuzzDaemonValues},
    {"decoder", FuzzDecoder},
    {"derivation", FuzzDerivation},
    {"hash", FuzzHash},
    {"key", FuzzKey},
    {"nar", FuzzNar},
    {"nar_listing", FuzzNarListing},
    {"narinfo", FuzzNarinfo},
    {"realisation", FuzzRealisation},
    {"signature", FuzzSignature},
    {"store_path", FuzzStorePath},
    {"structured_attributes", FuzzStructuredAttributes},
    {"zstd_frames", FuzzZstdFrames},
};

}  // namespace

std::span<const Target> Targets() { return kTargets; }

const Target* FindTarget(std::string_view name) {
  for (const Target& target : kTargets) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace hydrant::fuzz
