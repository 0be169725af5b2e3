// For tests: a Nix store, a client on it, and what its builds said.
#ifndef HYDRANT_LIB_NIX_DAEMON_CLIENT_FIXTURE_H_
#define HYDRANT_LIB_NIX_DAEMON_CLIENT_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/nix/test_store.h"

namespace hydrant::nix {

class DaemonClientTest : public testing::Test {
 protected:
  void SetUp() override {
    auto client = store_.Connect();
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
    ASSERT_TRUE(client_->SetOptions({}).ok());
  }

  LogSink Events() {
    return [this](const LogEvent& event) { events_.push_back(event); };
  }
  BuildResult Build(const std::string& expression) {
    drv_ = store_.Instantiate(expression).value();
    const auto result = client_->BuildDerivation(drv_, ResolveInputs(store_, drv_), Events());
    EXPECT_TRUE(result.ok()) << result.status();
    return result.value_or(BuildResult());
  }
  std::string OutPath() const { return ResolveInputs(store_, drv_).outputs.at("out").path; }
  std::vector<std::string> LogLines() const {
    std::vector<std::string> lines;
    for (const LogEvent& event : events_) {
      if (event.kind == LogEvent::Kind::kBuildLogLine) lines.push_back(event.text);
    }
    return lines;
  }
  std::string AddText(const std::string& name, const std::string& text,
                      const std::set<std::string>& references = {}) {
    return client_->AddTextToStore(name, text, references).value();
  }
  std::string NarOf(const std::string& path) {
    StringSink nar;
    EXPECT_TRUE(client_->NarFromPath(path, nar).ok());
    return std::move(nar.value);
  }

  const std::string absent_ = "/nix/store/0c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d-absent";
  TestStore store_;
  std::unique_ptr<DaemonClient> client_;
  std::vector<LogEvent> events_;
  std::string drv_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_CLIENT_FIXTURE_H_
