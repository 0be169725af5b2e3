// One of a list by its name.
#ifndef HYDRANT_CLIENT_COMMANDS_NAMED_H_
#define HYDRANT_CLIENT_COMMANDS_NAMED_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/nearest_word.h"

namespace hydrant::client {

// NotFound with the nearest name that is there. The result points into `items`.
template <typename Items>
auto FindNamed(std::string_view noun, const std::string& name, const Items& items)
    -> absl::StatusOr<decltype(&*items.begin())> {
  std::vector<std::string> names;
  for (const auto& item : items) {
    if (item.name() == name) return &item;
    names.push_back(item.name());
  }
  return absl::NotFoundError(
      absl::StrCat("there is no ", AbslView(noun), " '", name, "'", NearestHint(name, names)));
}

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_COMMANDS_NAMED_H_
