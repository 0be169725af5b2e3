// What a tree may fetch while it is evaluated: addresses under prefixes that the matrix asks for and the farm
// permits. Pure.
#ifndef HYDRANT_LIB_MATRIX_URI_PREFIXES_H_
#define HYDRANT_LIB_MATRIX_URI_PREFIXES_H_

#include <string>
#include <string_view>
#include <vector>

namespace hydrant {

// What is wrong with a prefix, "" if nothing. It is a scheme and what follows it; after "://" at least a
// host.
std::string UriPrefixFault(std::string_view prefix);

// As Nix compares them (its setting allowed-uris): equal, or under it at a slash. "https://a.org" covers
// "https://a.org/b" and not "https://a.organ". Text alone is compared, and what a server redirects to is not:
// the host is what surely bounds.
bool UriPrefixCovers(std::string_view prefix, std::string_view uri);

// Those that no permitted prefix covers.
std::vector<std::string> UncoveredUris(const std::vector<std::string>& asked,
                                       const std::vector<std::string>& permitted);

// Why a matrix that asks for these cannot have them, with what it can have; "" when it can.
std::string UriRefusal(const std::vector<std::string>& asked, const std::vector<std::string>& permitted);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_URI_PREFIXES_H_
