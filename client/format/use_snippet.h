// The snippets that make a machine use the farm's cache. Pure.
#ifndef HYDRANT_CLIENT_FORMAT_USE_SNIPPET_H_
#define HYDRANT_CLIENT_FORMAT_USE_SNIPPET_H_

#include <optional>
#include <string>
#include <string_view>

namespace hydrant::client {

enum class SnippetFormat { kNixConf, kFlake, kNixos, kShebang };

struct SnippetInput {
  std::string url;         // of the cache
  std::string public_key;  // name:base64
  std::string variant;     // its id; empty: none was asked for
  std::string output;      // the variant's default output
};

std::string MakeSnippet(SnippetFormat format, const SnippetInput& input);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_USE_SNIPPET_H_
