// Reads a TOML text into a protobuf message by its descriptor: a table is a message, an array of tables a
// repeated message, a key a field of the same name. So the schema of a configuration file is its .proto and
// stands in one place.
#ifndef HYDRANT_LIB_RPC_TOML_MESSAGE_H_
#define HYDRANT_LIB_RPC_TOML_MESSAGE_H_

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace hydrant::rpc {

// InvalidArgument: "FILE:LINE: [nix] has no key 'evaluator'; the nearest is 'evaluators' (known: …)", or what
// type was expected and found. `message` is then undefined.
absl::Status ReadTomlMessage(std::string_view text, std::string_view file,
                             google::protobuf::Message* message);

// The message as TOML, fields in declared order, unset ones left out; what check-config prints.
std::string PrintTomlMessage(const google::protobuf::Message& message);

}  // namespace hydrant::rpc

#endif  // HYDRANT_LIB_RPC_TOML_MESSAGE_H_
