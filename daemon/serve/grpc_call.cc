#include "daemon/serve/grpc_call.h"

#include <utility>

#include "lib/base/status_macros.h"
#include "lib/rpc/channel.h"
#include "lib/rpc/status.h"

namespace hydrant {

absl::StatusOr<Identity> CallGate::Admit(const grpc::ServerContextBase& context, Role needed) {
  const std::optional<std::string> token = rpc::BearerToken(context);
  HYDRANT_ASSIGN_OR_RETURN(Identity identity,
                           authenticator_.Identify(token ? std::optional<std::string_view>(*token) : std::nullopt,
                                                   rpc::FromLoopback(context)));
  HYDRANT_RETURN_IF_ERROR(Require(identity, needed));
  HYDRANT_RETURN_IF_ERROR(ready_());
  return identity;
}

grpc::ServerUnaryReactor* CallGate::Serve(grpc::CallbackServerContext* context, Role needed,
                                          std::function<absl::Status()> answer) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::Status admitted = Admit(*context, needed).status();
  if (!admitted.ok()) {
    reactor->Finish(rpc::ToGrpc(admitted));
    return reactor;
  }
  const bool posted = executor_.Post(
      [reactor, answer = std::move(answer)] { reactor->Finish(rpc::ToGrpc(answer())); });
  if (!posted) reactor->Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "too many calls at once; try again"));
  return reactor;
}

StreamThreads::~StreamThreads() {
  stopping_ = true;
  MutexLock lock(mu_);
  while (running_ > 0) ended_.Wait(mu_);
}

bool StreamThreads::Start(std::function<void()> body) {
  {
    MutexLock lock(mu_);
    if (running_ >= most_ || stopping_) return false;
    ++running_;
  }
  std::thread([this, body = std::move(body)] {
    body();
    MutexLock lock(mu_);
    --running_;
    ended_.NotifyAll();
  }).detach();
  return true;
}

}  // namespace hydrant
