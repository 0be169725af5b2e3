#include "lib/nix/realisation.h"

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

using nlohmann::json;

constexpr size_t kMaxText = 1 << 20;
constexpr int kMaxDepth = 64;  // of JSON; what we read is three deep
constexpr size_t kMaxOutputName = 211;

absl::Status Bad(std::string_view what, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("realisation: ", AbslView(what), ": ", AbslView(why)));
}

std::string Quoted(std::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(AbslView(text.substr(0, 200))), "\"");
}

// Never throws: invalid UTF-8 has been refused by the parser, or is replaced.
std::string Dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

absl::StatusOr<json> ParseObject(std::string_view text) {
  if (text.size() > kMaxText)
    return Bad("JSON", absl::StrCat(text.size(), " bytes, at most ", kMaxText, " are read"));
  bool too_deep = false;
  json parsed = json::parse(
      text,
      [&](int depth, json::parse_event_t, json&) {
        too_deep |= depth > kMaxDepth;
        return !too_deep;
      },
      /*allow_exceptions=*/false);
  if (too_deep) return Bad("JSON", absl::StrCat("nested deeper than ", kMaxDepth));
  if (!parsed.is_object()) return Bad("JSON", absl::StrCat("expected an object, got ", Quoted(text)));
  return parsed;
}

// Takes the field out of `object`.
absl::StatusOr<std::string> TakeText(json& object, const char* key) {
  const auto field = object.find(key);
  if (field == object.end()) return Bad(key, "the field is missing");
  if (!field->is_string())
    return Bad(key, absl::StrCat("expected a string, got ", Dump(*field).substr(0, 200)));
  const std::string text = *field->get_ptr<const std::string*>();
  object.erase(field);
  return text;
}

absl::StatusOr<std::string> ParseSignature(const json& value) {
  if (value.is_string()) return *value.get_ptr<const std::string*>();
  json object = value;
  if (!object.is_object()) return Bad("signatures", "expected strings or objects");
  HYDRANT_ASSIGN_OR_RETURN(const std::string name, TakeText(object, "keyName"));
  HYDRANT_ASSIGN_OR_RETURN(const std::string bytes, TakeText(object, "sig"));
  return absl::StrCat(name, ":", bytes);
}

absl::StatusOr<RealisationValue> TakeValue(json& object) {
  RealisationValue value;
  HYDRANT_ASSIGN_OR_RETURN(const std::string out_path, TakeText(object, "outPath"));
  auto path = StorePath::FromBaseName(out_path);
  if (!path.ok()) return Bad("outPath", StdView(path.status().message()));
  value.out_path = *std::move(path);
  if (const auto field = object.find("signatures"); field != object.end()) {
    if (!field->is_array()) return Bad("signatures", "expected an array");
    for (const json& one : *field) {
      HYDRANT_ASSIGN_OR_RETURN(std::string signature, ParseSignature(one));
      value.signatures.push_back(std::move(signature));
    }
    object.erase(field);
  }
  std::sort(value.signatures.begin(), value.signatures.end());
  value.signatures.erase(std::unique(value.signatures.begin(), value.signatures.end()),
                         value.signatures.end());
  return value;
}

void KeepOthers(const json& object, RealisationValue& value) {
  for (const auto& [key, field] : object.items()) value.other_fields[key] = Dump(field);
}

// With those of other_fields that are JSON.
json WithOthers(json object, const RealisationValue& value) {
  for (const auto& [key, text] : value.other_fields) {
    json field = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!field.is_discarded()) object.emplace(key, std::move(field));
  }
  return object;
}

json DependentRealisations(const Realisation& realisation) {
  json dependents = json::object();
  for (const auto& [id, path] : realisation.dependent_realisations)
    dependents[id.ToString()] = path.base_name();
  return dependents;
}

json SignedPart(const Realisation& realisation) {
  return {{"id", realisation.id.ToString()},
          {"outPath", realisation.value.out_path.base_name()},
          {"dependentRealisations", DependentRealisations(realisation)}};
}

json SignatureObject(const std::string& signature) {
  const size_t colon = signature.find(':');
  if (colon == std::string::npos) return signature;
  return {{"keyName", signature.substr(0, colon)}, {"sig", signature.substr(colon + 1)}};
}

}  // namespace

absl::Status CheckOutputName(std::string_view name) {
  const bool allowed = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("+-._?=").find(c) != std::string_view::npos;
  });
  if (!allowed || name.empty() || name.size() > kMaxOutputName || name.front() == '.') {
    return Bad("output name", absl::StrCat("expected 1 to ", kMaxOutputName,
                                           " letters, digits and +-._?=, no dot first, got ", Quoted(name)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Realisation::Id> Realisation::Id::Parse(std::string_view text) {
  const size_t mark = text.find('!');
  if (mark == std::string_view::npos) {
    return Bad("id", absl::StrCat("expected sha256:<hash>!<output>, got ", Quoted(text)));
  }
  const auto hash = Hash::Parse(text.substr(0, mark));
  if (!hash.ok()) return Bad("id", StdView(hash.status().message()));
  if (hash->algorithm != HashAlgorithm::kSha256)
    return Bad("id", absl::StrCat("expected a sha256, got ", Quoted(text)));
  Id id{.output_name = std::string(text.substr(mark + 1))};
  HYDRANT_RETURN_IF_ERROR(CheckOutputName(id.output_name));
  std::copy_n(hash->bytes.begin(), id.derivation_hash.bytes.size(), id.derivation_hash.bytes.begin());
  return id;
}

std::string Realisation::Id::ToString() const {
  return absl::StrCat("sha256:", derivation_hash.ToBase16(), "!", output_name);
}

absl::StatusOr<Realisation> Realisation::Parse(std::string_view text) {
  HYDRANT_ASSIGN_OR_RETURN(json object, ParseObject(text));
  Realisation realisation;
  HYDRANT_ASSIGN_OR_RETURN(const std::string id, TakeText(object, "id"));
  HYDRANT_ASSIGN_OR_RETURN(realisation.id, Id::Parse(id));
  HYDRANT_ASSIGN_OR_RETURN(realisation.value, TakeValue(object));
  if (const auto dependents = object.find("dependentRealisations"); dependents != object.end()) {
    if (!dependents->is_object()) return Bad("dependentRealisations", "expected an object");
    for (const auto& [key, value] : dependents->items()) {
      HYDRANT_ASSIGN_OR_RETURN(Id dependent, Id::Parse(key));
      if (!value.is_string()) return Bad("dependentRealisations", "expected strings");
      auto path = StorePath::FromBaseName(*value.get_ptr<const std::string*>());
      if (!path.ok()) return Bad("dependentRealisations", StdView(path.status().message()));
      realisation.dependent_realisations.emplace(std::move(dependent), *std::move(path));
    }
    object.erase(dependents);
  }
  KeepOthers(object, realisation.value);
  return realisation;
}

std::string Realisation::Print() const {
  json object = SignedPart(*this);
  object["signatures"] = value.signatures;
  return Dump(WithOthers(std::move(object), value));
}

std::string Realisation::CacheFile() const { return absl::StrCat("realisations/", id.ToString(), ".doi"); }

std::string Realisation::Fingerprint() const { return Dump(SignedPart(*this)); }

absl::StatusOr<BuildTraceEntry> BuildTraceEntry::Parse(const StorePath& derivation,
                                                       std::string_view output_name, std::string_view text) {
  if (!derivation.is_derivation()) return Bad("derivation", absl::StrCat(derivation.path(), " is no .drv"));
  HYDRANT_RETURN_IF_ERROR(CheckOutputName(output_name));
  HYDRANT_ASSIGN_OR_RETURN(json object, ParseObject(text));
  BuildTraceEntry entry{.derivation = derivation, .output_name = std::string(output_name)};
  HYDRANT_ASSIGN_OR_RETURN(entry.value, TakeValue(object));
  KeepOthers(object, entry.value);
  return entry;
}

std::string BuildTraceEntry::Print() const {
  json object = {{"outPath", value.out_path.base_name()}, {"signatures", json::array()}};
  for (const std::string& signature : value.signatures)
    object["signatures"].push_back(SignatureObject(signature));
  return Dump(WithOthers(std::move(object), value));
}

std::string BuildTraceEntry::CacheFile() const {
  return absl::StrCat("build-trace-v2/", AbslView(derivation.base_name()), "/", output_name, ".doi");
}

std::string BuildTraceEntry::Fingerprint() const {
  const json key = {{"drvPath", derivation.base_name()}, {"outputName", output_name}};
  const json signed_value = {{"outPath", value.out_path.base_name()}};
  return Dump({{"key", key}, {"value", signed_value}});
}

}  // namespace hydrant::nix
