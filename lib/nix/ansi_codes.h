// Terminal control sequences, which Nix puts into its messages.
#ifndef HYDRANT_LIB_NIX_ANSI_CODES_H_
#define HYDRANT_LIB_NIX_ANSI_CODES_H_

#include <string>
#include <string_view>

namespace hydrant::nix {

// `text` without CSI sequences ("\x1b[31;1m") and lone escape characters.
std::string WithoutAnsiCodes(std::string_view text);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_ANSI_CODES_H_
