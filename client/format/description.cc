#include "client/format/description.h"

#include <algorithm>

namespace hydrant::client {

void Describe(Writer& writer, std::string_view name, std::string_view value, Style style) {
  constexpr size_t kNameWidth = 12;
  if (value.empty()) return;
  writer.Text("  ")
      .Text(name, Style::kDim)
      .Spaces(static_cast<int>(kNameWidth - std::min(kNameWidth - 1, name.size())));
  writer.Text(value, style).Line();
}

}  // namespace hydrant::client
