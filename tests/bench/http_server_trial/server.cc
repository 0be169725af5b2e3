// Serves what the HTTP trial asks for: /early/CODE answers every request from its headers alone, PUT /sink
// verifies a NAR (uncompressed) and drops it, GET /blob sends the file named by argv[1]. Prints its port.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdio>

#include "absl/strings/numbers.h"
#include "daemon/serve/http_server.h"
#include "lib/nix/nar.h"

namespace hydrant {
namespace {

class VerifyAndDrop final : public BodyReceiver {
 public:
  void Write(std::string_view bytes) override {
    (void)file_hash_.Write(bytes);
    if (status_.ok()) status_ = verifier_.Write(bytes);
  }
  HttpResponse Finish() override {
    if (status_.ok()) status_ = verifier_.Finish().status();
    return TextResponse(status_.ok() ? 201 : 422, file_hash_.Finish().ToBase16());
  }

 private:
  nix::Sha256 file_hash_;
  nix::NarVerifier verifier_;
  absl::Status status_;
};

class Trial final : public HttpHandler {
 public:
  explicit Trial(std::string blob) : blob_(std::move(blob)) {}
  std::optional<HttpDecision> Handle(const HttpRequest& request) override {
    if (int code = 0;
        request.path.starts_with("/early/") && absl::SimpleAtoi(request.path.substr(7), &code)) {
      return TextResponse(code, "decided from the headers");
    }
    if (request.path == "/sink") return std::make_unique<VerifyAndDrop>();
    if (request.path == "/small") return TextResponse(200, std::string(600, 'x'));
    struct stat info;
    UniqueFd fd(open(blob_.c_str(), O_RDONLY | O_CLOEXEC));
    if (request.path != "/blob" || !fd.valid() || fstat(fd.get(), &info) != 0) return std::nullopt;
    HttpResponse response;
    response.file = HttpResponse::FileRange{std::move(fd), 0, info.st_size};
    return response;
  }

 private:
  const std::string blob_;
};

}  // namespace
}  // namespace hydrant

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  hydrant::Trial trial(argc > 1 ? argv[1] : "/dev/null");
  auto server = hydrant::HttpServer::Start({.listen = "127.0.0.1:0", .handlers = {&trial}});
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
    return 1;
  }
  std::printf("%d\n", (*server)->port());
  std::fflush(stdout);
  int signal_number = 0;
  sigwait(&set, &signal_number);
  (*server)->Stop(absl::Seconds(5));
}
