// The grid's words about Hydra, cell by cell.
#include "client/format/policy.h"

#include <gtest/gtest.h>

namespace hydrant::client {
namespace {

// "unfree: X" skips for that reason, "no" does not, "" is not known, "-" is no cell.
std::string WordOf(const std::vector<std::string>& cells) {
  std::vector<v1::VariantStatus> variants(cells.size());
  std::vector<const v1::VariantStatus*> row;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] != "" && cells[i] != "-") {
      variants[i].mutable_hydra()->set_skips(cells[i] != "no");
      variants[i].mutable_hydra()->set_reason(cells[i] == "no" ? "" : cells[i]);
    }
    row.push_back(cells[i] == "-" ? nullptr : &variants[i]);
  }
  return HydraWord(row);
}

TEST(PolicyTest, ARowHasTheWordOfItsCells) {
  EXPECT_EQ(WordOf({}), "");
  EXPECT_EQ(WordOf({"", "-"}), "");
  EXPECT_EQ(WordOf({"no", "no"}), "no");
  EXPECT_EQ(WordOf({"unfree: CUDA EULA", "unfree: CUDA EULA, through cudatoolkit-12.9.1", "", "-"}), "unfree");
  EXPECT_EQ(WordOf({"unfree: CUDA EULA", "no", "no"}), "unfree 1/3");
  EXPECT_EQ(WordOf({"unsupported system", "broken", "unsupported system"}), "unsupported 2/3");
  EXPECT_EQ(WordOf({"unfree, through mkl-2024"}), "unfree");
}

TEST(PolicyTest, ReasonsOfOneLibraryInManyReleasesAreOne) {
  Variants variants;
  for (const char* reason : {"unfree: CUDA EULA, through cudatoolkit-12.6.3", "broken",
                             "unfree: CUDA EULA, through cudatoolkit-12.9.1", "unfree, through mkl-2024"}) {
    v1::VariantStatus& variant = *variants.Add();
    variant.set_package("torch");
    variant.mutable_hydra()->set_skips(true);
    variant.mutable_hydra()->set_reason(reason);
  }
  EXPECT_EQ(MarkdownHydraSection(variants),
            "\n### Hydra would skip\n\n"
            "- unfree: CUDA EULA, through cudatoolkit 12.6.3, 12.9.1: 2 variants of torch\n"
            "- broken: 1 variant of torch\n- unfree, through mkl-2024: 1 variant of torch\n");
}

TEST(PolicyTest, AMarkSaysWhatAStateDoesNot) {
  v1::VariantStatus variant;
  EXPECT_EQ(PolicyMarks(variant), "");
  variant.set_tier("public");
  EXPECT_EQ(PolicyMarks(variant), "");
  variant.set_tier("private");
  variant.add_findings();
  EXPECT_EQ(PolicyMarks(variant), "!*");
}

TEST(PolicyTest, OneRuleAndMessageAreOneGroupAndAVariantIsInItOnce) {
  Variants variants;
  for (const char* id : {"a@x", "b@x"}) {
    v1::VariantStatus& variant = *variants.Add();
    variant.set_id(id);
    for (int i = 0; i < 2; ++i) variant.add_findings()->set_rule("two_cuda_releases");
  }
  variants[1].add_findings()->set_rule("python");
  const std::vector<FindingGroup> groups = GroupFindings(variants);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].variants.size(), 2u);
  EXPECT_EQ(groups[1].variants.size(), 1u);
}

}  // namespace
}  // namespace hydrant::client
