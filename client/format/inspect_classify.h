// How `hydrant inspect classify` shows what a text tells of.
#ifndef HYDRANT_CLIENT_FORMAT_INSPECT_CLASSIFY_H_
#define HYDRANT_CLIENT_FORMAT_INSPECT_CLASSIFY_H_

#include <string>

#include "client/format/json.h"
#include "client/format/screen.h"
#include "lib/failure/classify.h"

namespace hydrant::client {

std::string FormatClassified(const Guess& guess, const Screen& screen);
std::string ClassifiedJson(const Guess& guess, JsonLayout layout);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_INSPECT_CLASSIFY_H_
