#include "lib/rpc/status.h"

#include <string>

namespace hydrant::rpc {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = status.error_message();
  return {static_cast<absl::StatusCode>(status.error_code()), message};
}

}  // namespace hydrant::rpc
