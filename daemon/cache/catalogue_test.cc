#include "daemon/cache/catalogue.h"

#include <gtest/gtest.h>

#include "daemon/cache/test_cache.h"

namespace hydrant {
namespace {

NarInfoRecord Record(const std::string& name, NarInfoState state, const std::string& file_hash = "f",
                     int64_t size = 10) {
  NarInfoRecord record;
  record.path = MakePackage(name).path();
  record.state = state;
  record.file_hash = file_hash;
  record.file_size = size;
  return record;
}

TEST(CatalogueTest, APathIsFoundByItsHashPart) {
  Catalogue catalogue;
  catalogue.Put({Record("a", NarInfoState::kStaged)});
  const Package a = MakePackage("a");
  ASSERT_NE(catalogue.Find(a.hash_part()), nullptr);
  EXPECT_EQ(catalogue.FindPath(a.path()), catalogue.Find(a.hash_part()));
  EXPECT_EQ(catalogue.FindPath(a.path() + "-other"), nullptr);
  EXPECT_EQ(catalogue.FindPath("/nix"), nullptr);
}

TEST(CatalogueTest, AFileIsReferredToByWhatIsPublished) {
  Catalogue catalogue;
  catalogue.Put({Record("a", NarInfoState::kStaged)});
  EXPECT_TRUE(catalogue.Refers("f", Catalogue::Sees::kStaged));
  EXPECT_FALSE(catalogue.Refers("f", Catalogue::Sees::kPublished));
  catalogue.Put({Record("b", NarInfoState::kPublished)});
  EXPECT_TRUE(catalogue.Refers("f", Catalogue::Sees::kPublic));
}

TEST(CatalogueTest, WhatIsPrivateIsShownToWhoMayReadAllThatIsPublished) {
  Catalogue catalogue;
  NarInfoRecord a = Record("a", NarInfoState::kPublished), held = Record("b", NarInfoState::kPublished, "g");
  a.tier = NarInfoTier::kPrivate;
  held.tier = NarInfoTier::kHeld;
  a.deriver = held.deriver = "0123-x.drv";
  catalogue.Put({a, held});
  for (const char* file : {"f", "g"}) {
    EXPECT_FALSE(catalogue.Refers(file, Catalogue::Sees::kPublic));
    EXPECT_TRUE(catalogue.Refers(file, Catalogue::Sees::kPublished));
    EXPECT_TRUE(catalogue.Refers(file, Catalogue::Sees::kStaged));
  }
  // Until its last private output is.
  EXPECT_TRUE(catalogue.MadeInPrivate("0123-x.drv"));
  held.tier = NarInfoTier::kPublic;
  catalogue.Put({held});
  EXPECT_TRUE(catalogue.MadeInPrivate("0123-x.drv"));
  a.state = NarInfoState::kRetired;
  catalogue.Put({a});
  EXPECT_FALSE(catalogue.MadeInPrivate("0123-x.drv"));
}

TEST(CatalogueTest, WhatIsRetiredIsGone) {
  Catalogue catalogue;
  catalogue.Put({Record("a", NarInfoState::kPublished)});
  catalogue.Put({Record("a", NarInfoState::kRetired)});
  EXPECT_EQ(catalogue.FindPath(MakePackage("a").path()), nullptr);
  EXPECT_FALSE(catalogue.Refers("f", Catalogue::Sees::kStaged));
}

TEST(CatalogueTest, TotalsFollowEachMove) {
  Catalogue catalogue;
  catalogue.Put({Record("a", NarInfoState::kStaged, "f", 10), Record("b", NarInfoState::kStaged, "g", 5)});
  catalogue.Put({Record("a", NarInfoState::kPublished, "f", 10)});
  const Catalogue::Totals totals = catalogue.totals();
  EXPECT_EQ(totals.staged_paths, 1);
  EXPECT_EQ(totals.staged_bytes, 5);
  EXPECT_EQ(totals.published_paths, 1);
  EXPECT_EQ(totals.published_bytes, 10);
}

TEST(CatalogueTest, WhatStagedPathsReferToAndIsNotHereIsElsewhere) {
  Catalogue catalogue;
  NarInfoRecord a = Record("a", NarInfoState::kStaged), b = Record("b", NarInfoState::kPublished);
  a.references = {MakePackage("b").path(), MakePackage("upstream").path()};
  b.references = {MakePackage("old").path()};  // published: its references were checked then
  catalogue.Put({a, b});
  EXPECT_EQ(catalogue.ReferencesElsewhere(), std::vector<std::string>{MakePackage("upstream").path()});
}

TEST(CatalogueTest, LoadReplacesEverything) {
  Catalogue catalogue;
  catalogue.Put({Record("a", NarInfoState::kStaged)});
  catalogue.Load({Record("b", NarInfoState::kPublished)});
  EXPECT_EQ(catalogue.FindPath(MakePackage("a").path()), nullptr);
  EXPECT_EQ(catalogue.totals().staged_paths, 0);
  EXPECT_EQ(catalogue.totals().published_paths, 1);
}

}  // namespace
}  // namespace hydrant
