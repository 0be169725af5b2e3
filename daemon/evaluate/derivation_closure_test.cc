#include "daemon/evaluate/derivation_closure.h"

#include <pthread.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string PathOf(const std::string& name) {
  return "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-" + name + ".drv";
}

class DerivationClosureTest : public testing::Test {
 protected:
  DerivationClosureTest() { EXPECT_TRUE(MakeDirectories(dir_ / "nix/store").ok()); }

  static std::string Text(const std::string& name, const std::vector<std::string>& inputs) {
    nix::Derivation derivation{
        .outputs = {{"out", {.path = "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-" + name}}},
        .system = "x86_64-linux",
        .builder = "/bin/sh"};
    for (const std::string& input : inputs) derivation.input_derivations[PathOf(input)] = {"out"};
    return nix::PrintDerivation(derivation);
  }
  void Write(const std::string& name, const std::vector<std::string>& inputs) {
    WriteText(name, Text(name, inputs));
  }
  void WriteText(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(dir_.path() + PathOf(name), text).ok());
  }
  static std::string NameOf(const LoadedDerivation& loaded) {
    return loaded.path.substr(44, loaded.path.size() - 48);
  }
  static std::vector<std::string> NamesOf(const std::vector<const LinkedDerivation*>& derivations) {
    std::vector<std::string> names;
    for (const LinkedDerivation* derivation : derivations) names.push_back(NameOf(*derivation->loaded));
    return names;
  }
  std::vector<std::string> Order(const std::vector<std::string>& roots) {
    std::vector<std::string> paths, names;
    for (const std::string& root : roots) paths.push_back(PathOf(root));
    const auto all = closure_.LoadAll(paths);
    EXPECT_TRUE(all.ok()) << all.status();
    for (const auto& loaded : *all) names.push_back(NameOf(*loaded));
    return names;
  }

  TestDir dir_;
  DerivationClosure closure_{dir_.path()};
};

TEST_F(DerivationClosureTest, InputsComeBeforeTheirUsersAndOnce) {
  Write("top", {"left", "right"});
  Write("left", {"base"});
  Write("right", {"base", "left"});
  Write("base", {});
  EXPECT_THAT(Order({"top", "right"}), ElementsAre("base", "left", "right", "top"));
}

TEST_F(DerivationClosureTest, WhatWasReadOnceIsNotReadAgain) {
  Write("a", {});
  const auto first = closure_.Load(PathOf("a"));
  ASSERT_TRUE(first.ok()) << first.status();
  WriteText("a", "other");
  EXPECT_EQ(*closure_.Load(PathOf("a")), *first);
  EXPECT_EQ((*first)->aterm, nix::PrintDerivation((*first)->parsed));
}

// In a thread whose stack has 160 bytes for each derivation of the chain.
TEST_F(DerivationClosureTest, AChainDeeperThanAStack) {
  constexpr int kDepth = 1200;
  const auto name = [](int i) { return absl::StrFormat("d%05d", i); };
  for (int i = 0; i < kDepth; ++i) {
    std::vector<std::string> inputs;
    if (i > 0) inputs.push_back(name(i - 1));
    std::ofstream(dir_.path() + PathOf(name(i))) << Text(name(i), inputs);
  }
  std::function<void()> load = [&] {
    EXPECT_EQ(closure_.LoadAll({PathOf(name(kDepth - 1))})->size(), kDepth);
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 192 << 10), 0);
  pthread_t thread;
  const auto run = [](void* work) -> void* {
    return (*static_cast<std::function<void()>*>(work))(), nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &load), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_F(DerivationClosureTest, GarbageIsNamedWithPathAndOffset) {
  WriteText("a", "Derive([garbage");
  const auto loaded = closure_.Load(PathOf("a"));
  EXPECT_TRUE(absl::IsInvalidArgument(loaded.status())) << loaded.status();
  EXPECT_THAT(std::string(loaded.status().message()), testing::AllOf(HasSubstr(PathOf("a")), HasSubstr("8")));
}

TEST_F(DerivationClosureTest, AMissingInputNamesItsUser) {
  Write("top", {"gone"});
  const auto all = closure_.LoadAll({PathOf("top")});
  EXPECT_TRUE(absl::IsNotFound(all.status())) << all.status();
  EXPECT_THAT(std::string(all.status().message()),
              testing::AllOf(HasSubstr("-gone.drv"), HasSubstr("-top.drv")));
}

TEST_F(DerivationClosureTest, WhatIsLinkedKeepsItsNumberWhateverIsReadLater) {
  Write("base", {});
  Write("left", {"base"});
  Write("top", {"base", "left"});
  const auto before = closure_.Link({PathOf("left")}), after = closure_.Link({PathOf("top"), PathOf("left")});
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_THAT(after->roots, ElementsAre(after->all[2], before->roots[0]));
  EXPECT_THAT(after->roots[0]->inputs, ElementsAre(before->all[0], before->all[1]));
  EXPECT_EQ(after->roots[0]->number, 2u);
}

TEST_F(DerivationClosureTest, WhatIsLeftOutIsLeftOutWithAllThatItNeeds) {
  Write("top", {"left", "right"});
  Write("left", {"base"});
  Write("right", {"base"});
  Write("base", {});
  DerivationMarks brought;
  const auto left = closure_.Link({PathOf("left")});
  for (const LinkedDerivation* derivation : left->all) {
    brought.resize(derivation->number + 1);
    brought[derivation->number] = true;
  }
  EXPECT_THAT(NamesOf(closure_.Link({PathOf("top"), PathOf("left")}, brought)->all),
              ElementsAre("right", "top"));
}

TEST_F(DerivationClosureTest, WhatIsKnownIsNotReadAndLinkedWhereAllThatItNeedsIsKnown) {
  std::vector<std::shared_ptr<const LoadedDerivation>> known;
  const auto read_elsewhere = [&](const std::string& name, const std::vector<std::string>& inputs) {
    LoadedDerivation loaded{.path = PathOf(name), .aterm = Text(name, inputs)};
    loaded.parsed = *nix::ParseDerivation(loaded.aterm);
    known.push_back(std::make_shared<const LoadedDerivation>(std::move(loaded)));
  };
  read_elsewhere("top", {"left", "lost"});
  read_elsewhere("above", {"top"});
  read_elsewhere("right", {"left"});
  read_elsewhere("left", {"base"});
  read_elsewhere("base", {});
  EXPECT_THAT(NamesOf(closure_.Know(known)), ElementsAre("base", "left", "right"));
  EXPECT_THAT(NamesOf(closure_.Link({PathOf("right")})->all), ElementsAre("base", "left", "right"));
  EXPECT_TRUE(absl::IsNotFound(closure_.Link({PathOf("above")}).status()));
  Write("lost", {});  // the others are no files
  EXPECT_THAT(NamesOf(closure_.Link({PathOf("above")})->all),
              ElementsAre("base", "left", "lost", "top", "above"));
}

TEST_F(DerivationClosureTest, WhatNeedsSomethingUnbuildableIsUnbuildableForTheSameReason) {
  WriteText("floating",
            "Derive([(\"out\",\"\",\"r:sha256\",\"\")],[],[],\"x86_64-linux\",\"/bin/sh\",[],[])");
  Write("user", {"floating"});
  Write("top", {"user"});
  Write("good", {});
  const auto closure = closure_.Link({PathOf("top"), PathOf("good")});
  ASSERT_TRUE(closure.ok()) << closure.status();
  EXPECT_EQ(closure->roots[0]->unbuildable, PathOf("floating") + ": the output out is content-addressed");
  EXPECT_EQ(closure->roots[1]->unbuildable, "");
}

TEST_F(DerivationClosureTest, DerivationsThatNeedOneAnotherAreRefused) {
  Write("a", {"b"});
  Write("b", {"a"});
  EXPECT_TRUE(absl::IsInvalidArgument(closure_.LoadAll({PathOf("a")}).status()));
}

TEST_F(DerivationClosureTest, APathOutsideTheStoreIsRefused) {
  for (const char* path : {"/etc/passwd", "/nix/store/../../etc/x.drv", ""}) {
    EXPECT_TRUE(absl::IsInvalidArgument(closure_.Load(path).status())) << path;
  }
}

}  // namespace
}  // namespace hydrant
