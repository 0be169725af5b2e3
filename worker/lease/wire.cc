#include "worker/lease/wire.h"

#include <string_view>

#include "absl/strings/str_cat.h"

namespace hydrant::worker {
namespace {

constexpr size_t kMaxMessage = 4 << 10;

// A builder may print anything; a `string` field may hold only UTF-8.
std::string CleanText(std::string_view text) {
  std::string clean;
  for (size_t i = 0; i < text.size() && clean.size() < kMaxMessage - 4;) {
    const auto byte = static_cast<unsigned char>(text[i]);
    size_t length = byte < 0x80                   ? 1
                    : byte >= 0xc2 && byte < 0xe0 ? 2
                    : byte >= 0xe0 && byte < 0xf0 ? 3
                    : byte >= 0xf0 && byte < 0xf5 ? 4
                                                  : 0;
    for (size_t k = 1; k < length; ++k) {
      if (i + k >= text.size() || (static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) length = 0;
    }
    // Overlong forms and surrogates, which protobuf refuses as well.
    const auto second = length > 2 ? static_cast<unsigned char>(text[i + 1]) : 0;
    if ((byte == 0xe0 && second < 0xa0) || (byte == 0xed && second >= 0xa0) ||
        (byte == 0xf0 && second < 0x90) || (byte == 0xf4 && second >= 0x90)) {
      length = 0;
    }
    if (length == 0) {
      clean += '?';
      ++i;
    } else {
      clean.append(text.substr(i, length));
      i += length;
    }
  }
  return clean;
}

v1::Gpu ToWire(const GpuFacts& gpu) {
  v1::Gpu wire;
  wire.set_uuid(gpu.uuid);
  wire.set_name(gpu.name);
  wire.set_architecture(gpu.architecture);
  wire.set_memory_bytes(gpu.memory_bytes);
  wire.set_driver(gpu.driver);
  wire.set_simulated(gpu.simulated);
  return wire;
}

GpuFacts FromWire(const v1::Gpu& wire) {
  return {.uuid = wire.uuid(),
          .name = wire.name(),
          .architecture = wire.architecture(),
          .memory_bytes = wire.memory_bytes(),
          .driver = wire.driver(),
          .simulated = wire.simulated()};
}

AttemptLimits FromWire(const v1::AttemptLimits& wire) {
  return {.timeout = absl::Seconds(wire.timeout_s()),
          .max_silent = absl::Seconds(wire.max_silent_s()),
          .max_log_bytes = wire.max_log_bytes(),
          .max_output_bytes = wire.max_output_bytes(),
          .memory_bytes = wire.memory_bytes()};
}

}  // namespace

v1::Offer ToWire(const WorkerOffer& offer) {
  v1::Offer wire;
  for (const std::string& system : offer.systems) wire.add_systems(system);
  for (const std::string& feature : offer.features) wire.add_features(feature);
  wire.set_cores(offer.cores);
  wire.set_memory_bytes(offer.memory_bytes);
  wire.set_slots(offer.slots);
  for (const GpuFacts& gpu : offer.gpus) *wire.add_gpus() = ToWire(gpu);
  wire.set_version(offer.version);
  wire.set_nix_version(offer.nix_version);
  return wire;
}

v1::AttemptStage ToWire(AttemptStage stage) { return static_cast<v1::AttemptStage>(stage); }

v1::AttemptEnd ToWire(const AttemptEnd& end) {
  v1::AttemptEnd wire;
  wire.set_cause(std::string(CauseName(end.cause)));
  wire.set_message(CleanText(end.message));
  wire.set_nix_status(end.nix_status);
  wire.set_fetching_ms(absl::ToInt64Milliseconds(end.fetching));
  wire.set_building_ms(absl::ToInt64Milliseconds(end.building));
  wire.set_pushing_ms(absl::ToInt64Milliseconds(end.pushing));
  wire.set_cpu_ms(absl::ToInt64Milliseconds(end.cpu));
  wire.set_max_memory_bytes(end.max_memory_bytes);
  wire.set_log_bytes(end.log_bytes);
  if (end.gpu) *wire.mutable_gpu() = ToWire(*end.gpu);
  return wire;
}

AttemptEnd FromWire(const v1::AttemptEnd& wire) {
  AttemptEnd end;
  end.cause = ParseCause(wire.cause()).value_or(wire.cause().empty() ? Cause::kNone : Cause::kUnknown);
  end.message = wire.message();
  end.nix_status = wire.nix_status();
  end.fetching = absl::Milliseconds(wire.fetching_ms());
  end.building = absl::Milliseconds(wire.building_ms());
  end.pushing = absl::Milliseconds(wire.pushing_ms());
  end.cpu = absl::Milliseconds(wire.cpu_ms());
  end.max_memory_bytes = wire.max_memory_bytes();
  end.log_bytes = wire.log_bytes();
  if (wire.has_gpu()) end.gpu = FromWire(wire.gpu());
  return end;
}

FarmFacts FromWire(const v1::Farm& wire) {
  FarmFacts farm{.cache_url = wire.cache_url(), .staged_public_key = wire.staged_public_key()};
  for (const v1::Substituter& one : wire.substituters()) {
    farm.substituters.push_back(
        {.url = one.url(), .public_keys = {one.public_keys().begin(), one.public_keys().end()}});
  }
  return farm;
}

absl::StatusOr<Assignment> FromWire(const v1::Assignment& wire, const v1::Farm& farm) {
  Assignment result;
  result.attempt = {wire.attempt()};
  result.token = {wire.token()};
  result.gpu_uuid = wire.gpu_uuid();
  result.farm = FromWire(farm);
  if (wire.has_step()) {
    const v1::StepWork& step = wire.step();
    result.work = StepWork{.derivation_path = step.derivation_path(),
                           .aterm = step.aterm(),
                           .input_paths = {step.input_paths().begin(), step.input_paths().end()},
                           .needs_derivation_closure = step.needs_derivation_closure(),
                           .limits = FromWire(step.limits())};
  } else if (wire.has_check()) {
    const v1::CheckWork& check = wire.check();
    result.work = CheckWork{.name = check.name(),
                            .output_path = check.output_path(),
                            .environment_path = check.environment_path(),
                            .command = {check.command().begin(), check.command().end()},
                            .gpu = check.gpu(),
                            .limits = FromWire(check.limits())};
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("attempt a", wire.attempt(), " holds neither a step nor a check"));
  }
  return result;
}

}  // namespace hydrant::worker
