#include "lib/rpc/channel.h"

#include <arpa/inet.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant::rpc {
namespace {

using grpc::experimental::FileWatcherCertificateProvider;

constexpr int kMaxMessageBytes = 16 << 20;
constexpr int kKeepaliveMs = 5000;
constexpr int kLeastPingIntervalMs = 1000;  // a server ends connections whose pings come faster
constexpr int kReconnectFirstMs = 250, kReconnectMostMs = 1000;
constexpr int kConnectTimeoutMs = 5000;
constexpr unsigned kCertificateRefreshSeconds = 1;

struct HostPort {
  std::string host;
  int port = 0;
};

// HOST:PORT with an IPv6 host in brackets.
std::optional<HostPort> Split(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  HostPort split{address.substr(0, colon)};
  const bool bracketed = split.host.front() == '[' && split.host.back() == ']';
  if (bracketed) split.host = split.host.substr(1, split.host.size() - 2);
  if (split.host.empty() || (!bracketed && absl::StrContains(split.host, ':'))) return std::nullopt;
  if (!absl::SimpleAtoi(address.substr(colon + 1), &split.port) || split.port < 0 || split.port > 65535) {
    return std::nullopt;
  }
  return split;
}

bool IsLoopbackHost(const std::string& host) {
  if (host == "localhost") return true;
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6;
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

absl::Status CheckAddress(const std::string& address, bool encrypted) {
  const std::optional<HostPort> split = Split(address);
  if (!split) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", address, "' is no address: expected HOST:PORT, such as 127.0.0.1:8581 or [::1]:8581"));
  }
  if (!encrypted && !IsLoopbackHost(split->host)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", address, "' is not a loopback address: it needs TLS (the files of [tls])"));
  }
  return absl::OkStatus();
}

absl::Status CheckReadable(std::initializer_list<std::string> paths) {
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    HYDRANT_RETURN_IF_ERROR(Annotate(ReadFile(path).status(), "[tls]"));
  }
  return absl::OkStatus();
}

absl::Status CheckFiles(const TlsFiles& tls) {
  if (tls.cert.empty() != tls.key.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("[tls] has a ", tls.cert.empty() ? "key" : "cert",
                                                   " without a ", tls.cert.empty() ? "cert" : "key"));
  }
  return CheckReadable({tls.cert, tls.key, tls.ca});
}

std::shared_ptr<FileWatcherCertificateProvider> Watch(const TlsFiles& tls) {
  if (tls.cert.empty())
    return std::make_shared<FileWatcherCertificateProvider>(tls.ca, kCertificateRefreshSeconds);
  return std::make_shared<FileWatcherCertificateProvider>(tls.key, tls.cert, tls.ca,
                                                          kCertificateRefreshSeconds);
}

std::shared_ptr<grpc::ServerCredentials> ServerTls(const TlsFiles& tls) {
  grpc::experimental::TlsServerCredentialsOptions options(Watch(tls));
  options.watch_identity_key_cert_pairs();
  if (!tls.ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

// Without a `ca` the system's roots decide.
std::shared_ptr<grpc::ChannelCredentials> ClientTls(const TlsFiles& tls) {
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(Watch(tls));
  if (!tls.ca.empty()) options.watch_root_certs();
  if (!tls.cert.empty()) options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}

std::string_view View(grpc::string_ref text) { return {text.data(), text.size()}; }

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const ChannelOptions& options) {
  HYDRANT_RETURN_IF_ERROR(CheckAddress(options.address, options.tls.enabled()));
  HYDRANT_RETURN_IF_ERROR(CheckFiles(options.tls));
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  args.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectFirstMs);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS,
              kConnectTimeoutMs);  // gRPC's name for how long one try may take
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMostMs);
  args.SetMaxReceiveMessageSize(kMaxMessageBytes);
  args.SetMaxSendMessageSize(kMaxMessageBytes);
  if (IsLoopbackAddress(options.address)) args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(
      options.address, options.tls.enabled() ? ClientTls(options.tls) : grpc::InsecureChannelCredentials(),
      args);
}

void Authorise(grpc::ClientContext& context, const std::string& token) {
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
}

absl::Status AddListener(grpc::ServerBuilder& builder, const std::string& address, const TlsFiles& tls,
                         int* bound_port) {
  HYDRANT_RETURN_IF_ERROR(CheckAddress(address, tls.enabled()));
  HYDRANT_RETURN_IF_ERROR(CheckFiles(tls));
  if (tls.enabled() && tls.cert.empty()) {
    return absl::InvalidArgumentError("[tls] has a client_ca without cert and key: a server needs both");
  }
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kLeastPingIntervalMs);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a second daemon must not share the port
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  builder.AddListeningPort(address, tls.enabled() ? ServerTls(tls) : grpc::InsecureServerCredentials(),
                           bound_port);
  return absl::OkStatus();
}

std::optional<std::string> BearerToken(const grpc::ServerContextBase& context) {
  constexpr std::string_view kScheme = "bearer ";
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("authorization");
  if (found == metadata.end()) return std::nullopt;
  const std::string_view value = View(found->second);
  if (!absl::StartsWithIgnoreCase(AbslView(value), AbslView(kScheme))) return std::nullopt;
  return std::string(value.substr(kScheme.size()));
}

bool FromLoopback(const grpc::ServerContextBase& context) {
  const std::string peer = absl::StrReplaceAll(context.peer(), {{"%5B", "["}, {"%5D", "]"}});
  if (absl::StartsWith(peer, "inproc")) return true;
  const size_t scheme = peer.find(':');
  const std::string kind = peer.substr(0, scheme);
  return (kind == "ipv4" || kind == "ipv6") && IsLoopbackAddress(peer.substr(scheme + 1));
}

bool IsLoopbackAddress(const std::string& address) {
  const std::optional<HostPort> split = Split(address);
  return split && IsLoopbackHost(split->host);
}

}  // namespace hydrant::rpc
