#include "worker/config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ConfigReaderTest : public testing::Test {
 protected:
  absl::StatusOr<WorkerOptions> Read(const std::string& text, std::string_view token = "t") {
    EXPECT_TRUE(WriteFileAtomically(dir_ / "worker.toml", text).ok());
    line_.config = dir_ / "worker.toml";
    return ReadWorkerOptions(line_, token);
  }
  std::string Error(const std::string& text, std::string_view token = "t") {
    const auto options = Read(text, token);
    EXPECT_TRUE(absl::IsInvalidArgument(options.status())) << options.status();
    return std::string(options.status().message());
  }
  TestDir dir_;
  CommandLine line_;
};

constexpr char kFull[] = R"(
name = "builder-1"
server = "127.0.0.1:8581"
spool = "/var/spool/it"
[nix]
store = "/srv/store"
sandbox_paths = ["/bin/sh=/opt/busybox"]
[offer]
systems = ["x86_64-linux", "i686-linux"]
features = ["big-parallel"]
cores = 8
memory = "16GB"
slots = 3
[[gpu]]
architecture = "8.6"
memory = "24GB"
driver = "550.54.14"
simulated = true
[metrics]
listen = "127.0.0.1:9000"
)";

TEST_F(ConfigReaderTest, ReadsEverything) {
  const auto options = Read(kFull);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->name, "builder-1");
  EXPECT_EQ(options->server, "127.0.0.1:8581");
  EXPECT_EQ(options->token, "t");
  EXPECT_EQ(options->store, "/srv/store");
  EXPECT_THAT(options->sandbox_paths, ElementsAre("/bin/sh=/opt/busybox"));
  EXPECT_EQ(options->cores, 8);
  EXPECT_EQ(options->memory_bytes, 16'000'000'000);
  EXPECT_EQ(options->slots, 3);
  ASSERT_EQ(options->gpus.size(), 1u);
  EXPECT_EQ(options->gpus[0].memory_bytes, 24'000'000'000);
  EXPECT_EQ(options->metrics_listen, "127.0.0.1:9000");
  EXPECT_EQ(options->idle, absl::InfiniteDuration());
}

TEST_F(ConfigReaderTest, FlagsWin) {
  ASSERT_TRUE(WriteFileAtomically(dir_ / "token", "from-file\n").ok());
  line_.server = "farm:1";
  line_.name = "other";
  line_.slots = 9;
  line_.store = "daemon";
  line_.token_file = dir_ / "token";
  line_.once = true;
  line_.idle = "5s";
  const auto options = Read(kFull);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->server, "farm:1");
  EXPECT_EQ(options->name, "other");
  EXPECT_EQ(options->slots, 9);
  EXPECT_EQ(options->store, "daemon");
  EXPECT_EQ(options->token, "from-file");
  EXPECT_EQ(options->idle, absl::Seconds(5));
}

TEST_F(ConfigReaderTest, DefaultsAreThoseOfTheInterface) {
  const auto options = Read("server = \"127.0.0.1:1\"\n");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_FALSE(options->name.empty());
  EXPECT_EQ(options->spool, "/var/lib/hydrant-worker");
  EXPECT_EQ(options->store, "daemon");
  EXPECT_THAT(options->sandbox_paths, ElementsAre(HasSubstr("/bin/sh=")));
}

TEST_F(ConfigReaderTest, AnUnknownKeyNamesTheNearest) {
  EXPECT_THAT(Error("serve = \"x\"\n"),
              testing::AllOf(HasSubstr("worker.toml:1"), HasSubstr("serve"), HasSubstr("server")));
}

TEST_F(ConfigReaderTest, WrongValuesSayWhatWasExpected) {
  EXPECT_THAT(Error("server = \"a:1\"\nname = \"Bad_Name\"\n"), HasSubstr("Bad_Name"));
  EXPECT_THAT(Error("server = \"a:1\"\n[offer]\nmemory = \"lots\"\n"), HasSubstr("[offer] memory"));
  EXPECT_THAT(Error("server = \"a:1\"\n[offer]\nslots = -1\n"), HasSubstr("slots"));
  EXPECT_THAT(Error("server = \"a:1\"\n[[gpu]]\narchitecture = \"sm_86\"\nsimulated = true\n"),
              HasSubstr("\"8.6\""));
  EXPECT_THAT(Error("server = \"a:1\"\n[[gpu]]\narchitecture = \"8.6\"\n"),
              HasSubstr("simulated must be true"));
}

TEST_F(ConfigReaderTest, WithoutServerOrTokenThereIsNothingToDo) {
  EXPECT_THAT(Error(""), HasSubstr("--server"));
  EXPECT_THAT(Error("server = \"a:1\"\n", ""), HasSubstr("HYDRANT_TOKEN"));
}

TEST_F(ConfigReaderTest, AProbeNeedsNeither) {
  line_.command = CommandLine::Command::kProbe;
  EXPECT_TRUE(Read("", "").ok());
}

TEST_F(ConfigReaderTest, AFileThatIsNotThereIsNamed) {
  line_.config = dir_ / "absent.toml";
  const auto options = ReadWorkerOptions(line_, "");
  EXPECT_THAT(std::string(options.status().message()), HasSubstr("absent.toml"));
}

}  // namespace
}  // namespace hydrant::worker
