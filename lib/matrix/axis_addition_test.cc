#include "lib/matrix/axis_addition.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/matrix/expansion.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Matrix Small() {
  Matrix matrix;
  matrix.packages = {"magma"};
  matrix.axes = {
      {"cuda", {{{"12.6"}}, {{"12.9"}}}}, {"capabilities", {{{"default"}}}}, {"accelerator", {{{"cuda"}}}}};
  return matrix;
}

std::string Refused(std::string_view text) {
  Matrix matrix = Small();
  const absl::Status status = AddAxisValue(text, &matrix);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(AddAxisValue, TheValueComesLastAndTheOtherIdsStay) {
  Matrix matrix = Small();
  ASSERT_TRUE(AddAxisValue("cuda=13.1", &matrix).ok());
  ASSERT_TRUE(AddAxisValue("accelerator=rocm", &matrix).ok());
  ASSERT_TRUE(AddAxisValue("package=nccl", &matrix).ok());
  const auto before = ExpandMatrix(Small(), "x86_64-linux"), after = ExpandMatrix(matrix, "x86_64-linux");
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(after->variants.size(), 2 * 3 * 2u);
  for (const Variant& variant : before->variants) {
    EXPECT_TRUE(std::any_of(after->variants.begin(), after->variants.end(), [&](const Variant& other) {
      return other.id == variant.id;
    })) << variant.id;
  }
}

TEST(AddAxisValue, CapabilitiesAreOneOrderedList) {
  Matrix matrix = Small();
  ASSERT_TRUE(AddAxisValue("capabilities=8.9+9.0a", &matrix).ok());
  EXPECT_THAT(matrix.axes[1].values.back().words, ElementsAre("8.9", "9.0a"));
}

TEST(AddAxisValue, AnUnknownAxisIsToldWithTheNearest) {
  EXPECT_THAT(Refused("cudda=13.1"),
              HasSubstr("no axis 'cudda'; the nearest is 'cuda' (known: package, cuda,"));
  EXPECT_THAT(Refused("python=python313"),
              HasSubstr("does not declare the axis 'python' (it has package, cuda,"));
}

TEST(AddAxisValue, AValueThatIsThereOrNoneIsRefused) {
  EXPECT_EQ(Refused("cuda=12.9"),
            "cuda '12.9' is in the matrix already (12.6, 12.9); expected a value that is not");
  EXPECT_THAT(Refused("package=magma"), HasSubstr("'magma' is in the matrix already (magma)"));
  EXPECT_THAT(Refused("cuda"), HasSubstr("expected AXIS=VALUE, such as cuda=13.1"));
  EXPECT_THAT(Refused("=13.1"), HasSubstr("expected AXIS=VALUE"));
  EXPECT_EQ(Refused("cuda="), "cuda: an empty value");
  EXPECT_THAT(Refused("capabilities=8.9+8.9"), HasSubstr("stands twice"));
  EXPECT_THAT(Refused("capabilities=sm_89"), HasSubstr("capabilities: "));
  EXPECT_THAT(Refused("package=a b"), HasSubstr("package: "));
}

TEST(AddAxisValue, ADerivedListTakesNoPackage) {
  Matrix matrix = Small();
  matrix.packages.clear();
  matrix.derived = DerivedPackages{.changed_by = "cudaSupport"};
  EXPECT_THAT(std::string(AddAxisValue("package=magma", &matrix).message()),
              HasSubstr("derives its packages"));
}

}  // namespace
}  // namespace hydrant
