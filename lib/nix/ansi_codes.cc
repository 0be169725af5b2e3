#include "lib/nix/ansi_codes.h"

namespace hydrant::nix {

std::string WithoutAnsiCodes(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
    }
  }
  return plain;
}

}  // namespace hydrant::nix
