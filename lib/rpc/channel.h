// gRPC channels and servers of ours: credentials, keepalive, tokens. Knows nothing of any service.
#ifndef HYDRANT_LIB_RPC_CHANNEL_H_
#define HYDRANT_LIB_RPC_CHANNEL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace hydrant::rpc {

// PEM files, read again when they change. All empty: plaintext, which is refused off loopback.
struct TlsFiles {
  std::string cert, key, ca;
  bool enabled() const { return !cert.empty() || !key.empty() || !ca.empty(); }
};

struct ChannelOptions {
  std::string address;  // HOST:PORT
  TlsFiles tls;  // ca: who signed the server's certificate; cert and key: ours, when the server asks for one
};

// InvalidArgument when plaintext would leave loopback or the address is no HOST:PORT. Does not connect.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const ChannelOptions& options);

// Puts "authorization: Bearer TOKEN" on a call; nothing for an empty token.
void Authorise(grpc::ClientContext& context, const std::string& token);

// Credentials and keepalive of a server; InvalidArgument when plaintext would leave loopback. A taken port:
// check the bound port.
absl::Status AddListener(grpc::ServerBuilder& builder, const std::string& address, const TlsFiles& tls,
                         int* bound_port);

// The token of a call, and whether its peer is on loopback.
std::optional<std::string> BearerToken(const grpc::ServerContextBase& context);
bool FromLoopback(const grpc::ServerContextBase& context);

// "127.0.0.1:80", "[::1]:80", "localhost:80".
bool IsLoopbackAddress(const std::string& address);

}  // namespace hydrant::rpc

#endif  // HYDRANT_LIB_RPC_CHANNEL_H_
