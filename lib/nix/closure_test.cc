#include "lib/nix/closure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "lib/nix/derivation.h"
#include "lib/nix/hash.h"

namespace hydrant::nix {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string PathOf(const std::string& name) {
  return "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-" + name + ".drv";
}

class ClosureTest : public testing::Test {
 protected:
  ClosureTest() { EXPECT_TRUE(MakeDirectories(dir_ / "nix/store").ok()); }

  static Derivation Plain(const std::string& name, const std::vector<std::string>& inputs) {
    Derivation d{.outputs = {{"out", {.path = "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-" + name}}},
                 .system = "x86_64-linux",
                 .builder = "/bin/sh"};
    for (const std::string& input : inputs) d.input_derivations[PathOf(input)] = {"out"};
    return d;
  }
  void Write(const std::string& name, const std::vector<std::string>& inputs = {}) {
    WriteText(name, PrintDerivation(Plain(name, inputs)));
  }
  void WriteText(const std::string& name, const std::string& text) {
    std::ofstream(dir_.path() + PathOf(name)) << text;
  }
  ClosureLoader& loader() {
    if (loader_ == nullptr) loader_ = ClosureLoader::Open(options_).value();
    return *loader_;
  }
  absl::StatusOr<Closure> Load(const std::vector<std::string>& names) {
    std::vector<std::string> roots;
    for (const std::string& name : names) roots.push_back(PathOf(name));
    return loader().Load(roots);
  }
  std::vector<std::string> Order(const absl::StatusOr<Closure>& closure) {
    std::vector<std::string> names;
    EXPECT_TRUE(closure.ok()) << closure.status();
    if (!closure.ok()) return names;
    for (const DerivationId id : closure->topological()) {
      const std::string_view base = closure->node(id).base_name;
      names.emplace_back(base.substr(33, base.size() - 37));
    }
    return names;
  }

  TestDir dir_;
  ClosureLoader::Options options_{.store_root = dir_.path()};
  std::unique_ptr<ClosureLoader> loader_;
};

TEST_F(ClosureTest, InputsComeBeforeTheirUsersAndOnce) {
  Write("top", {"left", "right"});
  Write("left", {"base"});
  Write("right", {"base", "left"});
  Write("base");
  const auto closure = Load({"top", "right", "top"});
  EXPECT_THAT(Order(closure), ElementsAre("base", "left", "right", "top"));
  EXPECT_EQ(closure->counts(), (ClosureCounts{.derivations = 4, .edges = 5, .outputs = 4}));
  EXPECT_THAT(closure->SortedPaths(),
              ElementsAre(PathOf("base"), PathOf("left"), PathOf("right"), PathOf("top")));
}

TEST_F(ClosureTest, ANodeHasWhatTheFileSays) {
  Derivation d = Plain("a", {"b"});
  d.outputs["dev"] = {.path = "/nix/store/zyxwvsrqpnmlkjihgfdcba9876543210-a-dev"};
  d.input_derivations[PathOf("b")] = {"dev", "out"};
  d.environment["requiredSystemFeatures"] = "kvm cuda kvm";
  WriteText("a", PrintDerivation(d));
  Derivation fixed = Plain("b", {});
  fixed.outputs["out"].hash_algo = "sha256";
  fixed.outputs["out"].hash = HashSha256("").ToBase16();
  WriteText("b", PrintDerivation(fixed));
  const Closure closure = Load({"a"}).value();
  const ClosureNode& b = closure.node(closure.topological()[0]);
  const ClosureNode& a = closure.node(closure.topological()[1]);
  EXPECT_EQ(a.path(), PathOf("a"));
  ASSERT_EQ(a.inputs.size(), 1u);
  EXPECT_EQ(a.inputs[0].derivation, closure.topological()[0]);
  EXPECT_THAT(closure.names(a.inputs[0].output_names), ElementsAre("dev", "out"));
  EXPECT_THAT(closure.names(a.features), ElementsAre("cuda", "kvm"));
  EXPECT_THAT(closure.names(a.system), ElementsAre("x86_64-linux"));
  ASSERT_EQ(a.outputs.size(), 2u);
  EXPECT_THAT(closure.names(a.outputs[0].name), ElementsAre("dev"));
  EXPECT_EQ(closure.OutputPath(a, a.outputs[0]), d.outputs["dev"].path);
  EXPECT_EQ(closure.OutputPath(a, a.outputs[1]), d.outputs["out"].path);
  EXPECT_FALSE(a.fixed_output());
  EXPECT_TRUE(b.fixed_output());
  EXPECT_THAT(closure.names(b.features), IsEmpty());
  EXPECT_EQ(closure.counts(),
            (ClosureCounts{.derivations = 2, .edges = 1, .outputs = 3, .fixed_outputs = 1}));
}

TEST_F(ClosureTest, AnOutputWithoutAPathYetHasNone) {
  Derivation d = Plain("a", {});
  d.outputs["out"] = {.hash_algo = "r:sha256"};
  WriteText("a", PrintDerivation(d));
  const Closure closure = Load({"a"}).value();
  const ClosureNode& a = closure.node(closure.topological()[0]);
  EXPECT_EQ(a.outputs[0].kind, OutputKind::kFloating);
  EXPECT_EQ(closure.OutputPath(a, a.outputs[0]), "");
}

TEST_F(ClosureTest, WhatWasReadOnceIsNotReadAgain) {
  Write("a", {"b"});
  Write("b");
  Write("c", {"a"});
  const Closure first = Load({"a"}).value();
  WriteText("b", "other");
  EXPECT_THAT(Order(Load({"c"})), ElementsAre("b", "a", "c"));
  EXPECT_EQ(loader().files_read(), 3u);
  EXPECT_THAT(Order(first), ElementsAre("b", "a"));
}

TEST_F(ClosureTest, ManyThreadsFindTheSame) {
  const auto name = [](int i) { return absl::StrFormat("d%05d", i); };
  for (int i = 0; i < 1000; ++i) {
    std::vector<std::string> inputs;
    for (int divisor = 2; divisor < 9 && i > 0; ++divisor) inputs.push_back(name(i / divisor));
    Write(name(i), inputs);
  }
  std::vector<std::string> roots;
  for (int i = 500; i < 1000; ++i) roots.push_back(name(i));
  options_.threads = 8;
  const auto many = Order(Load(roots));
  options_.threads = 1;
  loader_ = ClosureLoader::Open(options_).value();
  EXPECT_EQ(many, Order(Load(roots)));
  EXPECT_EQ(loader().files_read(), 1000u);
}

TEST_F(ClosureTest, ACallerReadsOneClosureWhileAnotherIsLoaded) {
  const auto name = [](int i) { return absl::StrFormat("d%05d", i); };
  for (int i = 0; i < 1500; ++i)
    Write(name(i), i == 0 ? std::vector<std::string>{} : std::vector<std::string>{name(i - 1)});
  const Closure small = Load({name(10)}).value();
  std::thread load([&] { EXPECT_EQ(Load({name(1499)})->counts().derivations, 1500u); });
  for (int i = 0; i < 1000; ++i) {
    for (const DerivationId id : small.topological()) EXPECT_LE(small.node(id).inputs.size(), 1u);
  }
  load.join();
}

TEST_F(ClosureTest, AChainIsReadToItsEnd) {
  const auto name = [](int i) { return absl::StrFormat("d%06d", i); };
  for (int i = 0; i < 3000; ++i)
    Write(name(i), i == 0 ? std::vector<std::string>{} : std::vector<std::string>{name(i - 1)});
  EXPECT_EQ(Load({name(2999)})->counts().edges, 2999u);
}

TEST_F(ClosureTest, AMissingFileNamesItsUserAndTheNextLoadFindsIt) {
  Write("top", {"middle"});
  Write("middle", {"gone"});
  const auto failed = Load({"top"});
  EXPECT_TRUE(absl::IsNotFound(failed.status())) << failed.status();
  EXPECT_THAT(std::string(failed.status().message()),
              AllOf(HasSubstr("-gone.drv"), HasSubstr("input of " + PathOf("middle"))));
  Write("gone");
  EXPECT_THAT(Order(Load({"top"})), ElementsAre("gone", "middle", "top"));
}

struct Refusal {
  std::string text;
  absl::StatusCode code;
  std::string message;
};

TEST_F(ClosureTest, ACorruptFileIsNamedWithItsUser) {
  Write("top", {"bad"});
  const std::string good = PrintDerivation(Plain("bad", {}));
  for (const Refusal& r : std::vector<Refusal>{
           {"", absl::StatusCode::kInvalidArgument, "byte 0: expected \"Derive(\", got the end of the file"},
           {"Derive([garbage", absl::StatusCode::kInvalidArgument, "byte 8"},
           {good.substr(0, 100), absl::StatusCode::kInvalidArgument, "byte "},
           {absl::StrReplaceAll(good, {{"xyz-bad", "xyz-good"}}), absl::StatusCode::kInvalidArgument,
            "output out: expected a path named bad"},
           {PrintDerivation(Plain("bad", {"top"})), absl::StatusCode::kInvalidArgument, "needs itself"},
           {good + std::string(1 << 20, ' '), absl::StatusCode::kResourceExhausted, "larger than 500000"}}) {
    WriteText("bad", r.text);
    options_.most_file_bytes = 500'000;
    loader_ = nullptr;
    const absl::Status status = Load({"top"}).status();
    EXPECT_EQ(status.code(), r.code) << status;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(r.message), HasSubstr(PathOf("top"))));
  }
}

TEST_F(ClosureTest, WhatIsNoFileIsRefused) {
  ASSERT_EQ(mkdir((dir_.path() + PathOf("folder")).c_str(), 0755), 0);
  ASSERT_EQ(mkfifo((dir_.path() + PathOf("fifo")).c_str(), 0644), 0);
  ASSERT_EQ(symlink("/etc/hostname", (dir_.path() + PathOf("link")).c_str()), 0);
  for (const char* name : {"folder", "fifo", "link"}) EXPECT_FALSE(Load({name}).ok()) << name;
}

TEST_F(ClosureTest, TheNumberOfDerivationsIsBounded) {
  Write("top", {"a", "b"});
  Write("a");
  Write("b");
  options_.most_derivations = 2;
  const absl::Status status = Load({"top"}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than 2 derivations"));
}

TEST_F(ClosureTest, ARootThatIsNoDerivationOfTheStoreIsRefused) {
  for (const std::string root :
       {"/etc/passwd", "", "/nix/store/../../etc/x.drv", "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-a"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(loader().Load(std::vector{root}).status())) << root;
  }
  Write("a");
  EXPECT_TRUE(Load({"a"}).ok());
  const std::string foreign = absl::StrReplaceAll(PathOf("a"), {{"/nix/store", "/usr/store"}});
  EXPECT_TRUE(absl::IsInvalidArgument(loader().Load(std::vector{foreign}).status()));
}

TEST_F(ClosureTest, AStoreThatIsNotThereIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(ClosureLoader::Open({.store_root = dir_ / "none"}).status()));
}

}  // namespace
}  // namespace hydrant::nix
