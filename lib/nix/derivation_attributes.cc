#include "lib/nix/derivation_attributes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

constexpr std::string_view kJson = "__json";
constexpr size_t kMostJson = 16 << 20;
constexpr std::string_view kFeatures = "requiredSystemFeatures";

absl::Status WrongType(std::string_view name, std::string_view expected, const nlohmann::json& got) {
  return absl::InvalidArgumentError(absl::StrCat("derivation: attribute ", AbslView(name), ": expected ",
                                                 AbslView(expected), ", got ", got.type_name()));
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (const auto word : absl::StrSplit(AbslView(text), absl::ByAnyChar(" \t\n\r"), absl::SkipEmpty()))
    words.emplace_back(word);
  return words;
}

void SortOnce(std::vector<std::string>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

// The object with that attribute alone, however much else there is; not an object: broken.
nlohmann::json OneAttribute(std::string_view json, std::string_view name) {
  const auto keep = [name](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    return depth != 1 || event != nlohmann::json::parse_event_t::key || parsed == name;
  };
  return nlohmann::json::parse(json, keep, /*allow_exceptions=*/false);
}

std::vector<std::string> Features(const std::string* json, const std::string* listed) {
  std::vector<std::string> features;
  const nlohmann::json attributes = json == nullptr ? nlohmann::json() : OneAttribute(*json, kFeatures);
  if (attributes.is_object()) {
    const auto found = attributes.find(kFeatures);
    if (found == attributes.end() || !found->is_array()) return features;
    for (const auto& feature : *found) {
      if (feature.is_string()) features.push_back(feature.get<std::string>());
    }
  } else if (listed != nullptr) {
    features = Words(*listed);
  }
  SortOnce(features);
  return features;
}

}  // namespace

struct DerivationAttributes::Values {
  nlohmann::json json;  // an object, or null
  std::map<std::string, std::string, std::less<>> environment;

  const nlohmann::json* Find(std::string_view name) const {
    const auto found = json.find(name);
    return found == json.end() ? nullptr : &*found;
  }
};

DerivationAttributes::DerivationAttributes(std::unique_ptr<Values> values) : values_(std::move(values)) {}
DerivationAttributes::DerivationAttributes(DerivationAttributes&&) noexcept = default;
DerivationAttributes& DerivationAttributes::operator=(DerivationAttributes&&) noexcept = default;
DerivationAttributes::~DerivationAttributes() = default;

absl::StatusOr<DerivationAttributes> DerivationAttributes::Parse(
    const std::map<std::string, std::string>& environment) {
  auto values = std::make_unique<Values>();
  const auto json = environment.find(std::string(kJson));
  if (json == environment.end()) {
    values->environment.insert(environment.begin(), environment.end());
    return DerivationAttributes(std::move(values));
  }
  if (json->second.size() > kMostJson)
    return absl::InvalidArgumentError("derivation: attribute __json: larger than 16 MiB");
  values->json = nlohmann::json::parse(json->second, nullptr, /*allow_exceptions=*/false);
  if (!values->json.is_object())
    return absl::InvalidArgumentError("derivation: attribute __json: expected a JSON object");
  return DerivationAttributes(std::move(values));
}

absl::StatusOr<DerivationAttributes> DerivationAttributes::Parse(const DerivationView& view) {
  std::map<std::string, std::string> environment;
  if (const RawString* json = view.Find(kJson); json != nullptr) {
    environment.emplace(kJson, Unescape(*json));
  } else {
    for (const DerivationView::Variable& variable : view.environment)
      environment.emplace(Unescape(variable.name), Unescape(variable.value));
  }
  return Parse(environment);
}

bool DerivationAttributes::structured() const { return values_->json.is_object(); }

absl::StatusOr<std::optional<std::string>> DerivationAttributes::String(std::string_view name) const {
  if (!structured()) {
    const auto found = values_->environment.find(name);
    return found == values_->environment.end() ? std::nullopt : std::make_optional(found->second);
  }
  const nlohmann::json* const value = values_->Find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return WrongType(name, "a string", *value);
  return value->get<std::string>();
}

absl::StatusOr<std::optional<bool>> DerivationAttributes::Bool(std::string_view name) const {
  if (!structured()) {
    HYDRANT_ASSIGN_OR_RETURN(const std::optional<std::string> text, String(name));
    return text.has_value() ? std::make_optional(*text == "1") : std::nullopt;
  }
  const nlohmann::json* const value = values_->Find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) return WrongType(name, "a boolean", *value);
  return value->get<bool>();
}

absl::StatusOr<std::optional<std::vector<std::string>>> DerivationAttributes::Strings(
    std::string_view name) const {
  if (!structured()) {
    HYDRANT_ASSIGN_OR_RETURN(const std::optional<std::string> text, String(name));
    return text.has_value() ? std::make_optional(Words(*text)) : std::nullopt;
  }
  const nlohmann::json* const value = values_->Find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) return WrongType(name, "a list of strings", *value);
  std::vector<std::string> words;
  for (const nlohmann::json& word : *value) {
    if (!word.is_string()) return WrongType(name, "a list of strings", word);
    words.push_back(word.get<std::string>());
  }
  return words;
}

absl::StatusOr<DerivationOptions> OptionsOf(const std::map<std::string, std::string>& environment) {
  HYDRANT_ASSIGN_OR_RETURN(const DerivationAttributes attributes, DerivationAttributes::Parse(environment));
  HYDRANT_ASSIGN_OR_RETURN(const auto name, attributes.String("name"));
  HYDRANT_ASSIGN_OR_RETURN(auto features, attributes.Strings(kFeatures));
  HYDRANT_ASSIGN_OR_RETURN(const auto prefer_local, attributes.Bool("preferLocalBuild"));
  HYDRANT_ASSIGN_OR_RETURN(const auto substitutes, attributes.Bool("allowSubstitutes"));
  HYDRANT_ASSIGN_OR_RETURN(const auto mode, attributes.String("outputHashMode"));
  DerivationOptions options{
      .name = name.value_or(""),
      .required_system_features = std::move(features).value_or(std::vector<std::string>()),
      .prefer_local_build = prefer_local.value_or(false),
      .allow_substitutes = substitutes.value_or(true),
      .output_hash_mode = mode.value_or("")};
  SortOnce(options.required_system_features);
  return options;
}

std::vector<std::string> RequiredSystemFeatures(const std::map<std::string, std::string>& environment) {
  const auto json = environment.find(std::string(kJson)), listed = environment.find(std::string(kFeatures));
  return Features(json == environment.end() ? nullptr : &json->second,
                  listed == environment.end() ? nullptr : &listed->second);
}

std::vector<std::string> RequiredSystemFeatures(const DerivationView& view) {
  const RawString* const json = view.Find(kJson);
  const RawString* const listed = view.Find(kFeatures);
  if (json == nullptr && listed == nullptr) return {};
  const std::string json_text = json == nullptr ? "" : Unescape(*json);
  const std::string listed_text = listed == nullptr ? "" : Unescape(*listed);
  return Features(json == nullptr ? nullptr : &json_text, listed == nullptr ? nullptr : &listed_text);
}

std::string NameAttribute(const std::map<std::string, std::string>& environment) {
  if (const auto json = environment.find(std::string(kJson)); json != environment.end()) {
    const nlohmann::json attributes = OneAttribute(json->second, "name");
    if (attributes.is_object()) {
      const auto name = attributes.find("name");
      return name != attributes.end() && name->is_string() ? name->get<std::string>() : "";
    }
  }
  const auto name = environment.find("name");
  return name == environment.end() ? "" : name->second;
}

}  // namespace hydrant::nix
