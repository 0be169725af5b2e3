#include "daemon/evaluate/driver_facts.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "daemon/evaluate/evaluator_death.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

using nlohmann::json;

constexpr size_t kText = 300;  // bytes
constexpr size_t kItems = 64;

// One line, whatever a package calls itself.
std::string Text(const json& value) {
  if (!value.is_string()) return "";
  std::string text = PrintableText(value.get_ref<const std::string&>().substr(0, kText));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

const json& Member(const json& object, const char* key) {
  static const json& none = *new json;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

std::optional<bool> Truth(const json& value) {
  return value.is_boolean() ? std::optional<bool>(value.get<bool>()) : std::nullopt;
}

std::vector<std::string> Texts(const json& value) {
  std::vector<std::string> texts;
  if (!value.is_array()) return texts;
  for (size_t i = 0; i < std::min(value.size(), kItems); ++i) {
    if (value[i].is_string()) texts.push_back(Text(value[i]));
  }
  return texts;
}

std::vector<Licence> Licences(const json& value) {
  std::vector<Licence> licences;
  if (!value.is_array()) return licences;
  for (size_t i = 0; i < std::min(value.size(), kItems); ++i) {
    const std::string name = Text(Member(value[i], "name"));
    licences.push_back({name.empty() ? "unknown" : name, Truth(Member(value[i], "free")).value_or(false)});
  }
  return licences;
}

// Names and derivations.
std::map<std::string, std::string> Named(const json& value) {
  std::map<std::string, std::string> named;
  if (!value.is_object()) return named;
  for (const auto& [name, derivation] : value.items()) {
    const std::string path = Text(derivation);
    if (named.size() < kItems && path.ends_with(".drv") && nix::CheckStorePath(path).ok())
      named[name.substr(0, kText)] = path;
  }
  return named;
}

}  // namespace

void ReadFacts(const json& meta, VariantFacts* facts) {
  facts->licences = Licences(Member(meta, "licences"));
  const json& through = Member(meta, "unfreeThrough");
  facts->unfree_through = Text(Member(through, "package"));
  facts->unfree_licence = Text(Member(through, "licence"));
  facts->unfree_inputs = Texts(Member(through, "inputs"));
  const json& marked = Member(meta, "markedThrough");
  facts->marked_through = Text(Member(marked, "package"));
  facts->mark = Text(Member(marked, "mark"));
  facts->marked_inputs = Texts(Member(marked, "inputs"));
  facts->broken = Truth(Member(meta, "broken"));
  facts->unfree = Truth(Member(meta, "unfree"));
  facts->insecure = Truth(Member(meta, "insecure"));
  facts->unsupported = Truth(Member(meta, "unsupported"));
  facts->hydra_platform = Truth(Member(meta, "hydraPlatform"));
  facts->cuda_support = Truth(Member(meta, "cudaSupport"));
  facts->rocm_support = Truth(Member(meta, "rocmSupport"));
  facts->cuda_version = Text(Member(meta, "cudaVersion"));
  facts->cuda_capabilities = Texts(Member(meta, "cudaCapabilities"));
  facts->python_version = Text(Member(meta, "pythonVersion"));
  const json& recipe = Member(meta, "recipe");
  facts->recipe = Text(Member(recipe, "name"));
  facts->recipe_why = Text(Member(recipe, "why"));
  facts->named = Named(Member(meta, "named"));
  facts->hygiene = Texts(Member(meta, "hygiene"));
}

json FactsMeta(const VariantFacts& facts) {
  // By name, so that a new field is either written or does not compile.
  const auto& [licences, unfree_through, unfree_licence, unfree_inputs, marked_through, mark, marked_inputs,
               broken, unfree, insecure, unsupported, hydra_platform, cuda_support, rocm_support, cuda_version, cuda_capabilities, python_version,
               found_as, recipe, recipe_why, named, hygiene] = facts;
  json meta = json::object();
  for (const Licence& licence : licences)
    meta["licences"].push_back({{"name", licence.name}, {"free", licence.free}});
  if (!unfree_through.empty()) {
    meta["unfreeThrough"] = {
        {"package", unfree_through}, {"licence", unfree_licence}, {"inputs", unfree_inputs}};
  }
  if (!marked_through.empty())
    meta["markedThrough"] = {{"package", marked_through}, {"mark", mark}, {"inputs", marked_inputs}};
  const auto truth = [&meta](const char* key, const std::optional<bool>& value) {
    if (value.has_value()) meta[key] = *value;
  };
  truth("broken", broken);
  truth("unfree", unfree);
  truth("insecure", insecure);
  truth("unsupported", unsupported);
  truth("hydraPlatform", hydra_platform);
  truth("cudaSupport", cuda_support);
  truth("rocmSupport", rocm_support);
  if (!cuda_version.empty()) meta["cudaVersion"] = cuda_version;
  if (!cuda_capabilities.empty()) meta["cudaCapabilities"] = cuda_capabilities;
  if (!python_version.empty()) meta["pythonVersion"] = python_version;
  if (!recipe.empty()) meta["recipe"] = {{"name", recipe}, {"why", recipe_why}};
  if (!named.empty()) meta["named"] = named;
  if (!hygiene.empty()) meta["hygiene"] = hygiene;
  return meta;
}

std::map<std::string, std::string> ReadNamed(const json& fields) { return Named(fields); }

}  // namespace hydrant
