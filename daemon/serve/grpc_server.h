// The gRPC port: both services, health and reflection.
#ifndef HYDRANT_DAEMON_SERVE_GRPC_SERVER_H_
#define HYDRANT_DAEMON_SERVE_GRPC_SERVER_H_

#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "absl/status/statusor.h"
#include "daemon/serve/farm_service.h"
#include "daemon/serve/worker_service.h"
#include "lib/rpc/channel.h"

namespace hydrant {

class GrpcServer {
 public:
  // Unavailable when the port is taken; InvalidArgument when plaintext would leave loopback.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const std::string& address, const rpc::TlsFiles& tls,
                                                           FarmService::Options farm, WorkerService::Options worker);
  ~GrpcServer();
  int port() const { return port_; }

 private:
  GrpcServer(FarmService::Options farm, WorkerService::Options worker)
      : farm_(std::move(farm)), worker_(std::move(worker)) {}
  FarmService farm_;
  WorkerService worker_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_GRPC_SERVER_H_
