// The file of one slice.
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "daemon/evaluate/driver_facts.h"
#include "daemon/evaluate/evaluation_cache.h"
#include "lib/base/status_macros.h"
#include "lib/base/stream.h"
#include "lib/nix/compression.h"
#include "lib/nix/hash.h"

namespace hydrant {
namespace {

using nlohmann::json;

constexpr std::string_view kMagic = "hydrant-evaluation";
constexpr char kVersion = 1;
constexpr size_t kHashSize = 32;
constexpr size_t kMaxContent = 256 << 20;  // bytes, decompressed

class BoundedSink final : public Sink {
 public:
  absl::Status Write(std::string_view bytes) override {
    if (value.size() + bytes.size() > kMaxContent) return absl::DataLossError("too large");
    value.append(bytes);
    return absl::OkStatus();
  }
  std::string value;
};

json LineOf(const CachedName& name, const Outcome& outcome) {
  // By name, so that a new field is either written or does not compile.
  const auto& [variant, cause, message, derivation, outputs, environment, environment_output, facts] = outcome;
  json line = {{"package", name.package}, {"wants", name.environment}};
  if (cause != Cause::kNone) line["cause"] = CauseName(cause);
  if (!message.empty()) line["message"] = message;
  if (!derivation.empty()) line["derivation"] = derivation;
  if (!outputs.empty()) line["outputs"] = outputs;
  if (!environment.empty()) line["environment"] = environment;
  if (!environment_output.empty()) line["environment_output"] = environment_output;
  if (json meta = FactsMeta(facts); !meta.empty()) line["meta"] = std::move(meta);
  if (!facts.found_as.empty()) line["found_as"] = facts.found_as;
  return line;
}

absl::Status ParseLine(std::string_view text, CachedSlice& slice) {
  const json line = json::parse(text, nullptr, false);
  const absl::Status wrong = absl::DataLossError("a line is no outcome");
  if (!line.is_object()) return wrong;
  const auto text_of = [&](const char* key) {
    const auto found = line.find(key);
    return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto wants = line.find("wants");
  if (wants == line.end() || !wants->is_boolean()) return wrong;
  Outcome outcome{.message = text_of("message"),
                  .derivation = text_of("derivation"),
                  .environment = text_of("environment"),
                  .environment_output = text_of("environment_output")};
  if (const auto meta = line.find("meta"); meta != line.end()) ReadFacts(*meta, &outcome.facts);
  outcome.facts.found_as = text_of("found_as");
  if (const std::string word = text_of("cause"); !word.empty()) {
    const std::optional<Cause> cause = ParseCause(word);
    if (!cause) return wrong;
    outcome.cause = *cause;
  }
  if ((outcome.cause == Cause::kNone) == outcome.derivation.empty()) return wrong;
  if (const auto outputs = line.find("outputs"); outputs != line.end()) {
    if (!outputs->is_object()) return wrong;
    for (const auto& [name, path] : outputs->items()) {
      if (!path.is_string()) return wrong;
      outcome.outputs[name] = path.get<std::string>();
    }
  }
  slice[{.package = text_of("package"), .environment = wants->get<bool>()}] = std::move(outcome);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> PrintCachedSlice(const CachedSlice& slice) {
  StringSink body;
  HYDRANT_ASSIGN_OR_RETURN(const auto compressor, nix::ZstdCompressor(body));
  for (const auto& [name, outcome] : slice) {
    const std::string line = LineOf(name, outcome).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    HYDRANT_RETURN_IF_ERROR(compressor->Write(line));
  }
  HYDRANT_RETURN_IF_ERROR(compressor->Finish());
  return absl::StrCat(AbslView(kMagic), std::string(1, kVersion),
                      AbslView(nix::HashSha256(body.value).view()), body.value);
}

absl::StatusOr<CachedSlice> ParseCachedSlice(std::string_view bytes) {
  constexpr size_t kHeader = kMagic.size() + 1 + kHashSize;
  if (bytes.size() < kHeader || !bytes.starts_with(kMagic)) return absl::DataLossError("no evaluation");
  if (bytes[kMagic.size()] != kVersion) return absl::DataLossError("another version's");
  const std::string_view body = bytes.substr(kHeader);
  if (nix::HashSha256(body).view() != bytes.substr(kMagic.size() + 1, kHashSize)) {
    return absl::DataLossError("its bytes are not those that were written");
  }
  BoundedSink content;
  HYDRANT_ASSIGN_OR_RETURN(const auto decompressor, nix::Decompressor("zstd", content));
  HYDRANT_RETURN_IF_ERROR(decompressor->Write(body));
  HYDRANT_RETURN_IF_ERROR(decompressor->Finish());
  CachedSlice slice;
  for (std::string_view rest = content.value; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1);
    HYDRANT_RETURN_IF_ERROR(ParseLine(rest.substr(0, end), slice));
    rest.remove_prefix(end + 1);
  }
  return slice;
}

}  // namespace hydrant
