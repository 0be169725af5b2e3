// What a tree may fetch while it is evaluated, with a real server on loopback.
#include <string>

#include "daemon/evaluate/evaluation_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

constexpr char kServe[] = R"(
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
handler.func.log_message = lambda *_: None
server = http.server.HTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
)";

class FetchingTest : public testing::Test {
 protected:
  FetchingTest() {
    EXPECT_TRUE(MakeDirectories(world_.dir / "served/lib").ok());
    EXPECT_TRUE(WriteFileAtomically(
                    world_.dir / "served/lib/ok.nix",
                    R"(name: derivation { inherit name; system = "x86_64-linux"; builder = "/bin/sh"; })")
                    .ok());
    server_ =
        *Subprocess::Start({.argv = {"python3", "-c", kServe, world_.dir / "served"}, .pipe_stdout = true});
    char line[32] = {};
    const ssize_t size = read(server_->stdout_fd().get(), line, sizeof line - 1);
    EXPECT_GT(size, 1);
    url_ = absl::StrCat("http://127.0.0.1:", atoi(line));
    EXPECT_TRUE(WriteFileAtomically(
                    world_.tree() + "/default.nix",
                    absl::StrCat("{ slice }: let file = path: import (builtins.fetchurl \"", url_,
                                 "/${path}\"); in { fetched = file \"lib/ok.nix\" \"fetched\"; "
                                 "gone = file \"lib/gone.nix\" \"gone\"; elsewhere = file \"other/x.nix\"; "
                                 "plain = derivation { name = \"plain\"; system = \"x86_64-linux\"; "
                                 "builder = \"/bin/sh\"; }; }"))
                    .ok());
    world_.options.nix.more_config = "download-attempts = 1\n";
  }
  Answers Evaluate(const std::vector<std::string>& packages, const std::vector<std::string>& asked) {
    Matrix matrix = SmallMatrix(packages);
    matrix.nixpkgs.allowed_uris = asked;
    return world_.Evaluate(matrix);
  }
  static const Outcome& Of(const Answers& answers, const std::string& package) {
    return answers.by_id.at(package + "@cuda12.9-x86_64-linux");
  }

  NixWorld world_;
  std::unique_ptr<Subprocess> server_;
  std::string url_;
};

TEST_F(FetchingTest, WhatIsNotAskedForIsRefusedWithTheSettingsThatWouldAllowIt) {
  world_.options.allowed_uris = {url_};
  const Answers answers = Evaluate({"fetched", "plain"}, {});
  EXPECT_EQ(Of(answers, "plain").cause, Cause::kNone);
  EXPECT_EQ(Of(answers, "fetched").cause, Cause::kRule);
  EXPECT_THAT(Of(answers, "fetched").message,
              HasSubstr("restricted mode; a matrix asks for addresses with [nixpkgs] allowed_uris"));
}

TEST_F(FetchingTest, WhatIsAskedForAndPermittedIsFetchedAndNothingBesideIt) {
  world_.options.allowed_uris = {url_};
  const Answers answers = Evaluate({"fetched", "elsewhere", "plain"}, {url_ + "/lib/"});
  EXPECT_EQ(Of(answers, "fetched").cause, Cause::kNone) << Of(answers, "fetched").message;
  EXPECT_EQ(Of(answers, "plain").cause, Cause::kNone);
  EXPECT_EQ(Of(answers, "elsewhere").cause, Cause::kRule);
}

TEST_F(FetchingTest, AFetchThatFailsLeavesItsVariantUnknownAndTheRestGood) {
  world_.options.allowed_uris = {url_};
  const Answers answers = Evaluate({"gone", "fetched"}, {url_});
  EXPECT_EQ(Of(answers, "fetched").cause, Cause::kNone) << Of(answers, "fetched").message;
  EXPECT_EQ(Of(answers, "gone").cause, Cause::kFetchFailed);
  EXPECT_TRUE(IsEvaluatorDeath(Of(answers, "gone").cause));
}

TEST_F(FetchingTest, AMatrixThatAsksForMoreThanTheFarmPermitsIsNotEvaluated) {
  world_.options.allowed_uris = {url_ + "/lib/"};
  const Answers answers = Evaluate({"plain"}, {url_});
  EXPECT_TRUE(absl::IsInvalidArgument(answers.status)) << answers.status;
  EXPECT_THAT(std::string(answers.status.message()), HasSubstr("this farm permits " + url_ + "/lib/"));
}

}  // namespace
}  // namespace hydrant
