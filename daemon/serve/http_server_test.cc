// Over real sockets: what goes out when, and what a connection is good for afterwards.
#include "daemon/serve/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "daemon/serve/http_health.h"
#include "lib/base/mutex.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Client {
 public:
  explicit Client(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const timeval timeout = {.tv_sec = 20, .tv_usec = 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  }
  void Send(std::string_view text) {
    EXPECT_EQ(send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Up to and with `end`, or to the end of the connection.
  std::string Until(std::string_view end) {
    size_t found = rest_.find(end), searched = 0;
    while (found == rest_.npos && Fill()) {
      found = rest_.find(end, searched);
      searched = rest_.size() < end.size() ? 0 : rest_.size() - end.size();
    }
    const std::string got = rest_.substr(0, found == rest_.npos ? found : found + end.size());
    rest_.erase(0, got.size());
    return got;
  }
  bool Closed() { return rest_.empty() && !Fill(); }
  void Close() { fd_.Reset(); }

 private:
  bool Fill() {
    char buffer[65536];
    const ssize_t n = recv(fd_.get(), buffer, sizeof buffer, 0);
    if (n > 0) rest_.append(buffer, static_cast<size_t>(n));
    return n > 0;
  }
  UniqueFd fd_;
  std::string rest_;
};

// /code/N answers N from the headers; /echo gives the body back; /gate blocks in Finish until it is opened.
class Situations final : public HttpHandler {
 public:
  std::optional<HttpDecision> Handle(const HttpRequest& request) override {
    if (request.path.starts_with("/code/")) return TextResponse(std::stoi(request.path.substr(6)), "early");
    if (request.path == "/echo" || request.path == "/gate")
      return std::make_unique<Echo>(*this, request.path == "/gate");
    if (request.path == "/peer") return TextResponse(200, request.loopback ? "loopback" : "remote");
    return std::nullopt;
  }
  void Open() {
    MutexLock lock(mu_);
    open_ = true;
    changed_.NotifyAll();
  }
  void AwaitBytes() {
    MutexLock lock(mu_);
    while (!bytes_came_) changed_.Wait(mu_);
  }
  void AwaitFinishing() {
    MutexLock lock(mu_);
    while (!finishing_) changed_.Wait(mu_);
  }
  void AwaitGone() {
    MutexLock lock(mu_);
    while (gone_ == 0) changed_.Wait(mu_);
  }

 private:
  class Echo final : public BodyReceiver {
   public:
    Echo(Situations& owner, bool gated) : owner_(owner), gated_(gated) {}
    ~Echo() override {
      MutexLock lock(owner_.mu_);
      ++owner_.gone_;
      owner_.changed_.NotifyAll();
    }
    void Write(std::string_view bytes) override {
      body_ += bytes;
      MutexLock lock(owner_.mu_);
      owner_.bytes_came_ = true;
      owner_.changed_.NotifyAll();
    }
    HttpResponse Finish() override {
      MutexLock lock(owner_.mu_);
      owner_.finishing_ = true;
      owner_.changed_.NotifyAll();
      while (gated_ && !owner_.open_) owner_.changed_.Wait(owner_.mu_);
      return TextResponse(201, body_);
    }

   private:
    Situations& owner_;
    const bool gated_;
    std::string body_;
  };
  Mutex mu_;
  CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mu_) = false, bytes_came_ ABSL_GUARDED_BY(mu_) = false,
             finishing_ ABSL_GUARDED_BY(mu_) = false;
  int gone_ ABSL_GUARDED_BY(mu_) = 0;
};

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    server_ =
        *HttpServer::Start({.listen = "127.0.0.1:0", .handlers = {&health_, &situations_}, .max_uploads = 2});
  }
  std::string Head(const std::string& method, const std::string& path, size_t length, bool expect = false) {
    return absl::StrCat(method, " ", path, " HTTP/1.1\r\nHost: x\r\nContent-Length: ", length, "\r\n",
                        expect ? "Expect: 100-continue\r\n" : "", "\r\n");
  }
  Situations situations_;
  absl::Status ready_;
  HealthHttp health_{[this] { return ready_; }};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnEarlyFinalStatusGoesOutInsteadOf100) {
  for (int code : {201, 307, 401, 403, 409, 413, 503}) {
    Client client(server_->port());
    client.Send(Head("PUT", absl::StrCat("/code/", code), 5'000'000, /*expect=*/true));
    const std::string reply = client.Until("early\n");
    EXPECT_THAT(reply, StartsWith(absl::StrCat("HTTP/1.1 ", code)));
    EXPECT_THAT(reply, Not(HasSubstr("100 Continue")));
    EXPECT_THAT(reply, HasSubstr("Connection: close"));
    EXPECT_TRUE(client.Closed());
  }
}

TEST_F(HttpServerTest, AnAcceptedBodyIsAskedForWith100) {
  Client client(server_->port());
  client.Send(Head("PUT", "/echo", 5, /*expect=*/true));
  EXPECT_THAT(client.Until("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  client.Send("hello");
  EXPECT_THAT(client.Until("hello\n"), StartsWith("HTTP/1.1 201"));
}

TEST_F(HttpServerTest, ABodyThatCameUnaskedIsReadBeforeAnEarlyAnswer) {
  Client client(server_->port());
  client.Send(Head("PUT", "/code/401", 500'000) + std::string(500'000, 'x'));
  EXPECT_THAT(client.Until("early\n"), StartsWith("HTTP/1.1 401"));
  client.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.Until("ok\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, AConnectionServesManyRequestsAndUploads) {
  Client client(server_->port());
  for (int i = 0; i < 5; ++i) {
    client.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.Until("ok\n"), StartsWith("HTTP/1.1 200"));
    client.Send(Head("PUT", "/echo", 3'000'001) + std::string(3'000'000, 'a') + "!");
    EXPECT_GT(client.Until("a!\n").size(), 3'000'000u);
  }
}

TEST_F(HttpServerTest, ABlockedUploadHoldsNobodyElseUp) {
  Client blocked(server_->port());
  blocked.Send(Head("PUT", "/gate", 1) + "x");
  situations_.AwaitFinishing();
  for (int i = 0; i < 10; ++i) {
    Client client(server_->port());
    client.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.Until("ok\n"), StartsWith("HTTP/1.1 200"));
  }
  situations_.Open();
  EXPECT_THAT(blocked.Until("x\n"), StartsWith("HTTP/1.1 201"));
}

TEST_F(HttpServerTest, ATruncatedUploadIsDroppedWithoutFinish) {
  Client client(server_->port());
  client.Send(Head("PUT", "/echo", 10) + "half");
  situations_.AwaitBytes();
  client.Close();
  situations_.AwaitGone();
}

TEST_F(HttpServerTest, MoreUploadsThanAllowedGetAnEarly503) {
  Client one(server_->port()), two(server_->port()), three(server_->port());
  for (Client* client : {&one, &two}) {
    client->Send(Head("PUT", "/echo", 10, /*expect=*/true));
    EXPECT_THAT(client->Until("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  }
  three.Send(Head("PUT", "/echo", 10, /*expect=*/true));
  EXPECT_THAT(three.Until("\r\n\r\n"), StartsWith("HTTP/1.1 503"));
}

TEST_F(HttpServerTest, StopLetsAnUploadThatBeganEnd) {
  Client client(server_->port());
  client.Send(Head("PUT", "/gate", 1) + "x");
  situations_.AwaitFinishing();
  std::thread stopper([&] { server_->Stop(absl::Seconds(30)); });
  situations_.Open();
  EXPECT_THAT(client.Until("x\n"), StartsWith("HTTP/1.1 201"));
  stopper.join();
}

TEST_F(HttpServerTest, StopWithoutGraceCutsAHalfUploadOff) {
  Client client(server_->port());
  client.Send(Head("PUT", "/echo", 10) + "half");
  situations_.AwaitBytes();
  server_->Stop(absl::ZeroDuration());
  EXPECT_TRUE(client.Closed());
}

TEST_F(HttpServerTest, HeadHasTheLengthAndNoBody) {
  Client client(server_->port());
  client.Send("HEAD /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string reply = client.Until("never");
  EXPECT_THAT(reply, HasSubstr("Content-Length: 3"));
  EXPECT_TRUE(reply.ends_with("\r\n\r\n"));
}

TEST_F(HttpServerTest, AnUnknownPathIs404AndABadOne400) {
  Client client(server_->port());
  client.Send("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.Until("path\n"), StartsWith("HTTP/1.1 404"));
  client.Send("GET /a%00b HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.Until("in it\n"), StartsWith("HTTP/1.1 400"));
}

TEST_F(HttpServerTest, ReadinessSaysWhyNot) {
  ready_ = absl::UnavailableError("the database is away");
  Client client(server_->port());
  client.Send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string reply = client.Until("away\n");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 503"));
}

TEST_F(HttpServerTest, ALoopbackPeerIsKnown) {
  Client client(server_->port());
  client.Send("GET /peer HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.Until("loopback\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, APortInUseIsNamed) {
  const std::string address = absl::StrCat("127.0.0.1:", server_->port());
  const auto second = HttpServer::Start({.listen = address});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(address));
}

TEST_F(HttpServerTest, AnAddressThatIsNoneIsNamed) {
  for (const char* bad : {"8580", "127.0.0.1", "127.0.0.1:x", "example:80", "127.0.0.1:99999"}) {
    EXPECT_THAT(std::string(HttpServer::Start({.listen = bad}).status().message()), HasSubstr(bad));
  }
}

}  // namespace
}  // namespace hydrant
