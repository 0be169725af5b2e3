// The lines of a description, "  name        value".
#ifndef HYDRANT_CLIENT_FORMAT_DESCRIPTION_H_
#define HYDRANT_CLIENT_FORMAT_DESCRIPTION_H_

#include <string_view>

#include "client/format/writer.h"

namespace hydrant::client {

// Nothing for an empty value.
void Describe(Writer& writer, std::string_view name, std::string_view value, Style style = Style::kPlain);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_DESCRIPTION_H_
