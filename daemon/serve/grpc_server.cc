#include "daemon/serve/grpc_server.h"

#include <chrono>

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant {

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const std::string& address, const rpc::TlsFiles& tls,
                                                              FarmService::Options farm, WorkerService::Options worker) {
  static const bool plugins = [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
  (void)plugins;
  std::unique_ptr<GrpcServer> server(new GrpcServer(std::move(farm), std::move(worker)));
  grpc::ServerBuilder builder;
  HYDRANT_RETURN_IF_ERROR(rpc::AddListener(builder, address, tls, &server->port_));
  builder.RegisterService(&server->farm_);
  builder.RegisterService(&server->worker_);
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || server->port_ == 0) {
    return absl::UnavailableError(absl::StrCat("listen on ", address, " for gRPC: the address is in use or not ours"));
  }
  grpc::HealthCheckServiceInterface* health = server->server_->GetHealthCheckService();
  for (const char* name : {"hydrant.v1.FarmService", "hydrant.v1.WorkerService"}) health->SetServingStatus(name, true);
  return server;
}

GrpcServer::~GrpcServer() {
  worker_.Stop();
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
}

}  // namespace hydrant
