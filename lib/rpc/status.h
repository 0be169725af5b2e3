// absl::Status to grpc::Status and back; the codes are the same numbers.
#ifndef HYDRANT_LIB_RPC_STATUS_H_
#define HYDRANT_LIB_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace hydrant::rpc {

grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace hydrant::rpc

#endif  // HYDRANT_LIB_RPC_STATUS_H_
