// How `hydrant inspect closure` shows what derivations need.
#ifndef HYDRANT_CLIENT_FORMAT_INSPECT_CLOSURE_H_
#define HYDRANT_CLIENT_FORMAT_INSPECT_CLOSURE_H_

#include <string>

#include "client/format/json.h"
#include "client/format/screen.h"
#include "lib/nix/closure.h"

namespace hydrant::client {

// The counts, then the paths in order.
std::string FormatClosure(const nix::Closure& closure, const Screen& screen);
// kPretty: the counts and the paths in order; kLines: a line for each derivation, inputs before those that
// use them.
std::string ClosureJson(const nix::Closure& closure, JsonLayout layout);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_INSPECT_CLOSURE_H_
