// The file of one derived package list.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/evaluate/evaluation_cache.h"
#include "daemon/evaluate/sealed_text.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

using nlohmann::json;

constexpr Seal kSeal = {.magic = "hydrant-list", .version = 1};

absl::StatusOr<std::vector<std::string>> Texts(const json& object, const char* key) {
  const auto found = object.find(key);
  const bool texts =
      found != object.end() && found->is_array() &&
      std::all_of(found->begin(), found->end(), [](const json& each) { return each.is_string(); });
  if (!texts) return absl::DataLossError("it is no package list");
  return found->get<std::vector<std::string>>();
}

}  // namespace

absl::StatusOr<std::string> PrintCachedList(const DerivedList& list) {
  const json text = {{"packages", list.packages}, {"notes", list.notes}};
  return SealText(kSeal, text.dump(-1, ' ', false, json::error_handler_t::replace));
}

absl::StatusOr<DerivedList> ParseCachedList(std::string_view bytes) {
  HYDRANT_ASSIGN_OR_RETURN(const std::string text, UnsealText(kSeal, bytes));
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return absl::DataLossError("it is no package list");
  DerivedList list;
  HYDRANT_ASSIGN_OR_RETURN(list.packages, Texts(object, "packages"));
  HYDRANT_ASSIGN_OR_RETURN(list.notes, Texts(object, "notes"));
  return list;
}

}  // namespace hydrant
