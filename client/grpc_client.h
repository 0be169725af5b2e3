// A Client over gRPC.
#ifndef HYDRANT_CLIENT_GRPC_CLIENT_H_
#define HYDRANT_CLIENT_GRPC_CLIENT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "client/settings.h"

namespace hydrant::client {

// InvalidArgument: the address is none, a TLS file cannot be read, or plaintext would leave loopback.
// Connects at the first call; a connection that is not there within 5 s is Unavailable, the message names the
// address.
absl::StatusOr<std::unique_ptr<Client>> MakeGrpcClient(const ServerSettings& settings);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_GRPC_CLIENT_H_
