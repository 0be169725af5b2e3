// A JSON document as it is printed. The only header of the client that knows a JSON library, which is slow to
// compile.
#ifndef HYDRANT_CLIENT_FORMAT_JSON_DOCUMENT_H_
#define HYDRANT_CLIENT_FORMAT_JSON_DOCUMENT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "client/format/json.h"

namespace hydrant::client {

using Json = nlohmann::ordered_json;

// Bytes that are no UTF-8 become U+FFFD: a reader must never meet a document that it cannot read.
inline std::string Dump(const Json& json, JsonLayout layout) {
  return json.dump(layout == JsonLayout::kPretty ? 2 : -1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// {"NAME":[…]}, or its elements a line each.
inline std::string DumpList(const char* name, const Json& list, JsonLayout layout) {
  if (layout == JsonLayout::kPretty) return Dump({{name, list}}, layout);
  std::string lines;
  for (const Json& element : list) lines += Dump(element, layout);
  return lines;
}

template <typename Items, typename Make>
Json List(const Items& items, Make make) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(make(item));
  return list;
}

inline Json Nullable(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_JSON_DOCUMENT_H_
