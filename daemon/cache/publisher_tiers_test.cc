// How private what is published becomes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "daemon/cache/publisher.h"
#include "daemon/cache/test_cache.h"

namespace hydrant {
namespace {

constexpr NarInfoTier kPublic = NarInfoTier::kPublic, kPrivate = NarInfoTier::kPrivate,
                      kHeld = NarInfoTier::kHeld;

std::optional<NarInfoTier> ByName(std::string_view name) {
  if (name.starts_with("cuda")) return kPrivate;
  return std::nullopt;
}
PublishingTiers Tiers(NarInfoTier roots) { return {.roots = roots, .own = ByName}; }

class PublisherTiersTest : public testing::Test {
 protected:
  Package Staged(const std::string& name, const std::vector<std::string>& references = {}) {
    Package package = MakePackage(name, references);
    EXPECT_TRUE(cache_.Stage(package).ok());
    return package;
  }
  void Publish(const Package& root, NarInfoTier tier) {
    const auto published = cache_.publisher.Publish({root.path()}, Tiers(tier));
    EXPECT_TRUE(published.ok()) << published.status();
  }
  NarInfoTier TierOf(const Package& package) {
    const auto record = cache_.catalogue.FindPath(package.path());
    EXPECT_EQ(record->state, NarInfoState::kPublished) << package.path();
    const auto recorded = cache_.store.Load();
    for (const NarInfoRecord& kept : recorded->narinfos) {
      if (kept.path == package.path()) {
        EXPECT_EQ(kept.tier, record->tier) << package.path();
      }
    }
    return record->tier;
  }
  TestCache cache_;
};

TEST_F(PublisherTiersTest, APublicClosureIsPublic) {
  const Package a = Staged("a"), b = Staged("b", {a.path()});
  Publish(b, kPublic);
  EXPECT_EQ(TierOf(a), kPublic);
  EXPECT_EQ(TierOf(b), kPublic);
}

TEST_F(PublisherTiersTest, BehindAPrivatePathTheRestIsHeld) {
  const Package libc = Staged("libc"), torch = Staged("torch", {libc.path()});
  Publish(torch, kPrivate);
  EXPECT_EQ(TierOf(torch), kPrivate);
  EXPECT_EQ(TierOf(libc), kHeld);
}

TEST_F(PublisherTiersTest, WhatIsHeldIsOpenedByAPublicPathThatRefersToIt) {
  const Package libc = Staged("libc"), torch = Staged("torch", {libc.path()});
  Publish(torch, kPrivate);
  const Package numpy = Staged("numpy", {libc.path()});
  Publish(numpy, kPublic);
  EXPECT_EQ(TierOf(libc), kPublic);
  EXPECT_EQ(TierOf(numpy), kPublic);
  EXPECT_EQ(TierOf(torch), kPrivate);
}

TEST_F(PublisherTiersTest, WhatIsHeldIsOpenedAsARootToo) {
  const Package libc = Staged("libc");
  Publish(Staged("torch", {libc.path()}), kPrivate);
  Publish(libc, kPublic);
  EXPECT_EQ(TierOf(libc), kPublic);
}

TEST_F(PublisherTiersTest, APathWhoseClosureHoldsAPrivateOneIsPrivateItself) {
  const Package cuda = Staged("cudatoolkit"), libc = Staged("libc"),
                magma = Staged("magma", {cuda.path(), libc.path()}), torch = Staged("torch", {magma.path()});
  Publish(torch, kPublic);
  EXPECT_EQ(TierOf(cuda), kPrivate);
  EXPECT_EQ(TierOf(magma), kPrivate);
  EXPECT_EQ(TierOf(torch), kPrivate);
  EXPECT_EQ(TierOf(libc), kHeld);
}

TEST_F(PublisherTiersTest, OncePrivateNothingThatRefersToItIsPublic) {
  const Package secret = Staged("secret");
  Publish(secret, kPrivate);
  const Package user = Staged("user", {secret.path()});
  Publish(user, kPublic);
  EXPECT_EQ(TierOf(user), kPrivate);
  Publish(secret, kPublic);
  EXPECT_EQ(TierOf(secret), kPrivate);
}

TEST_F(PublisherTiersTest, WhatWasPublicStaysSo) {
  const Package a = Staged("a");
  Publish(a, kPublic);
  Publish(Staged("b", {a.path()}), kPrivate);
  Publish(a, kPrivate);
  EXPECT_EQ(TierOf(a), kPublic);
}

TEST_F(PublisherTiersTest, OneOfTwoRootsMayBePrivateByItsReferences) {
  const Package cuda = Staged("cudart"), lib = Staged("lib", {cuda.path()}), doc = Staged("doc");
  ASSERT_TRUE(cache_.publisher.Publish({lib.path(), doc.path()}, Tiers(kPublic)).ok());
  EXPECT_EQ(TierOf(lib), kPrivate);
  EXPECT_EQ(TierOf(doc), kPublic);
}

TEST_F(PublisherTiersTest, AnUploadByHandIsAsPrivateAsWhatItRefersToAndOpensNothing) {
  const Package libc = Staged("libc"), torch = Staged("torch", {libc.path()});
  Publish(torch, kPrivate);
  const Package alone = MakePackage("alone"), tool = MakePackage("tool", {libc.path()}),
                model = MakePackage("model", {libc.path(), torch.path()});
  for (const Package& package : {alone, tool, model}) {
    ASSERT_TRUE(cache_.PutBlob(package).ok());
    ASSERT_TRUE(cache_.publisher.PublishByHand(package.info).ok());
  }
  EXPECT_EQ(TierOf(alone), kPublic);
  EXPECT_EQ(TierOf(tool), kHeld);
  EXPECT_EQ(TierOf(model), kPrivate);
  EXPECT_EQ(TierOf(libc), kHeld);
}

TEST_F(PublisherTiersTest, WithoutTheRecordNothingIsOpened) {
  const Package libc = Staged("libc");
  Publish(Staged("torch", {libc.path()}), kPrivate);
  cache_.SetDatabaseAway(true);
  EXPECT_EQ(cache_.publisher.Publish({libc.path()}, Tiers(kPublic)).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(TierOf(libc), kHeld);
}

// Whatever is published in whatever order, no public path refers to one that is not.
TEST_F(PublisherTiersTest, NoReaderOfWhatIsPublicSeesAHole) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    TestCache cache;
    std::mt19937 random(seed);
    std::vector<Package> packages;
    for (int i = 0; i < 40; ++i) {
      std::vector<std::string> references;
      for (int n = 0; i > 0 && n < 3; ++n) references.push_back(packages[random() % packages.size()].path());
      packages.push_back(
          MakePackage(absl::StrCat(random() % 12 == 0 ? "cuda" : "p", seed, "-", i), references));
      ASSERT_TRUE(cache.Stage(packages.back()).ok());
    }
    for (int i = 0; i < 60; ++i) {
      const PublishingTiers tiers = Tiers(random() % 4 == 0 ? kPrivate : kPublic);
      ASSERT_TRUE(cache.publisher.Publish({packages[random() % packages.size()].path()}, tiers).ok());
      for (const Package& package : packages) {
        const auto record = cache.catalogue.FindPath(package.path());
        if (!Catalogue::Shows(*record, Catalogue::Sees::kPublic)) continue;
        EXPECT_FALSE(ByName(package.info.store_path.name())) << package.path() << ", seed " << seed;
        for (const std::string& reference : record->references) {
          EXPECT_TRUE(Catalogue::Shows(*cache.catalogue.FindPath(reference), Catalogue::Sees::kPublic))
              << package.path() << " → " << reference << ", seed " << seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hydrant
