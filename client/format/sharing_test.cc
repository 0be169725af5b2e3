#include "client/format/sharing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "client/format/grid.h"

namespace hydrant::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void Add(Variants& variants, const std::string& package, const std::string& cuda,
         const std::string& derivation) {
  v1::VariantStatus& variant = *variants.Add();
  variant.set_id(package + "@cuda" + cuda);
  variant.set_package(package);
  variant.set_slice_json("{\"cuda\":\"" + cuda + "\"}");
  variant.set_state("cached");
  variant.set_derivation(derivation);
}

TEST(Sharing, VariantsOfOneDerivationNameOneAnother) {
  Variants variants;
  Add(variants, "jax", "12.6", "/jax.drv");
  Add(variants, "jax", "12.9", "/jax.drv");
  Add(variants, "jax-alias", "12.6", "/jax.drv");
  Add(variants, "torch", "12.6", "/torch.drv");
  Add(variants, "bad", "12.6", "");
  Add(variants, "bad", "12.9", "");
  const Sharing sharing(variants);
  EXPECT_THAT(sharing.Others(variants[0]), ElementsAre("jax@cuda12.9", "jax-alias@cuda12.6"));
  EXPECT_THAT(sharing.Others(variants[3]), IsEmpty());
  EXPECT_THAT(sharing.Others(variants[4]), IsEmpty()) << "it has no step";
  EXPECT_THAT(sharing.AcrossPackages(), SizeIs(1));
}

TEST(Sharing, OfTwoThousandThatAreOneTwentyAreNamed) {
  Variants variants;
  for (int i = 0; i < 2000; ++i) Add(variants, "jax", absl::StrCat("1.", i), "/jax.drv");
  const Sharing sharing(variants);
  EXPECT_THAT(sharing.Others(variants[7]), SizeIs(20));
  EXPECT_EQ(sharing.GroupOf(variants[7]).size(), 2000u);
}

TEST(Sharing, TheGridMarksCellsOfARowThatOneStepServes) {
  Variants variants;
  for (const char* cuda : {"12.2", "12.6", "12.9", "13.0"}) {
    Add(variants, "jax", cuda, "/jax.drv");
    Add(variants, "torch", cuda, absl::StrCat("/torch", cuda, ".drv"));
    Add(variants, "magma", cuda, cuda[1] == '2' ? "/magma12.drv" : "");
  }
  Writer writer({.utf8 = false, .width = 80});
  WriteGrid(LayOutGrid(variants), writer);
  const std::string grid = writer.Take();
  EXPECT_THAT(grid, HasSubstr("jax   #a   #a   #a   #a\n"));
  EXPECT_THAT(grid, HasSubstr("torch #    #    #    #\n"));
  EXPECT_THAT(grid, HasSubstr("magma #a   #a   #a   #\n"));
  EXPECT_THAT(grid, HasSubstr("The same letter in a row: one step serves these variants"));
}

}  // namespace
}  // namespace hydrant::client
