#include "lib/matrix/notes.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Axis AxisOf(const char* name, std::vector<std::string> words) {
  Axis axis{name, {}};
  for (std::string& word : words) axis.values.push_back({{std::move(word)}});
  return axis;
}

std::vector<std::string> Notes(std::vector<Axis> axes, std::vector<std::string> packages = {"a"}) {
  Matrix matrix;
  matrix.packages = std::move(packages);
  matrix.axes = std::move(axes);
  return NotesOf(matrix, *ExpandMatrix(matrix, "x86_64-linux"));
}

TEST(NotesOf, TellALicenceThatIsNearlyOneOfCudas) {
  Matrix matrix;
  matrix.packages = {"a"};
  matrix.licence_declared = true;
  matrix.licence_public = {"unfree", "bsd3", "cuda eula"};
  matrix.licence_private = {"CUDA EUAL", "cuDNN EULA", "gpl2"};
  EXPECT_THAT(NotesOf(matrix, *ExpandMatrix(matrix, "x86_64-linux")),
              ElementsAre("[license] private 'CUDA EUAL' is no licence of CUDA's packages; the nearest is 'CUDA EULA'"));
}

TEST(NotesOf, TellACapabilityThatIsInTheDefaultListAnyway) {
  const auto notes = Notes({AxisOf("cuda", {"12.8", "12.9"}), AxisOf("capabilities", {"12.0", "12.1"})});
  EXPECT_THAT(
      notes,
      ElementsAre(HasSubstr("12.0 is already in the default list of 12.8 (7.5 8.0 8.6 8.9 9.0 10.0 12.0)"),
                  HasSubstr("12.0 is already in the default list of 12.9"),
                  HasSubstr("12.1 is already in the default list of 12.9")));
}

TEST(NotesOf, TellAListThatIsTheDefaultList) {
  const Axis whole{"capabilities", {{{"7.5", "8.0", "8.6", "8.9", "9.0"}}}};
  EXPECT_THAT(Notes({AxisOf("cuda", {"12.6"}), whole}),
              ElementsAre(HasSubstr("are the default list of CUDA 12.6")));
}

TEST(NotesOf, AreSilentAboutWhatIsNotDefault) {
  EXPECT_THAT(Notes({AxisOf("cuda", {"12.9"}), AxisOf("capabilities", {"6.1", "default", "12.0f"})}),
              IsEmpty());
}

TEST(NotesOf, TellACudaThatNobodyKnowsOnce) {
  EXPECT_THAT(Notes({AxisOf("cuda", {"14.1"}), AxisOf("capabilities", {"8.9", "9.0"})}),
              ElementsAre(AllOf(HasSubstr("CUDA 14.1 is not a release that the rules know (11.4 … 13.4)"),
                                Not(HasSubstr("the nearest is")))));
  EXPECT_THAT(Notes({AxisOf("cuda", {"12.9.1"})}), ElementsAre(HasSubstr("the nearest is 12.9")));
  EXPECT_THAT(Notes({AxisOf("cuda", {"12.7"})}), ElementsAre(HasSubstr("the nearest is 12.8")));
  EXPECT_THAT(Notes({AxisOf("cuda", {"13"})}), ElementsAre(HasSubstr("the nearest is 13.0")));
}

TEST(NotesOf, TellNamesThatLookMistyped) {
  EXPECT_THAT(Notes({AxisOf("python", {"3.13"})}), ElementsAre(HasSubstr("the nearest is python313")));
  EXPECT_THAT(Notes({AxisOf("system", {"x86-64-linux"})}),
              ElementsAre(HasSubstr("the nearest is x86_64-linux")));
  EXPECT_THAT(Notes({AxisOf("python", {"py312", "python3.11"})}),
              ElementsAre(HasSubstr("the nearest is python312"), HasSubstr("the nearest is python311")));
  EXPECT_THAT(Notes({AxisOf("python", {"python313", "pypy310", "python313FreeThreading"}), AxisOf("system", {"aarch64-linux"})}),
              IsEmpty());
}

TEST(NotesOf, TellAnAxisOfOnesOwnThatLooksMistyped) {
  EXPECT_THAT(Notes({AxisOf("pyhton", {"python312"})}), ElementsAre(HasSubstr("the nearest of nixpkgs' is python")));
  EXPECT_THAT(Notes({AxisOf("compiler", {"gcc13"}), AxisOf("accelerator", {"cuda"})}), IsEmpty());
}

TEST(NotesOf, TellARequirementThatNothingCanMeet) {
  Matrix matrix;
  matrix.packages = {"a", "b"};
  matrix.axes = {AxisOf("cuda", {"12.9"})};
  matrix.exclude = {{.axes = {{"package", {"a"}}}, .reason = "too large"}};
  matrix.gate.required = {"a@*", "b@*"};
  EXPECT_THAT(NotesOf(matrix, *ExpandMatrix(matrix, "x86_64-linux")),
              ElementsAre(HasSubstr("[gate] required 'a@*' matches only what is impossible (a@cuda12.9-")));
}

TEST(NotesOf, TellThatOneArchitectureIsNotForwardCompatible) {
  EXPECT_THAT(Notes({AxisOf("cuda", {"12.9"}), AxisOf("capabilities", {"9.0a"})}),
              ElementsAre(HasSubstr("declare forward_compat = false")));
  EXPECT_THAT(Notes({AxisOf("cuda", {"12.9"}), AxisOf("capabilities", {"9.0a"}),
                     AxisOf("forward_compat", {"false"})}),
              IsEmpty());
}

TEST(NotesOf, TellRulesOfSomeTrees) {
  EXPECT_THAT(Notes({AxisOf("cuda", {"12.9"})}, {"catboost"}),
              ElementsAre(HasSubstr("catboost needs CUDA 11")));
}

TEST(NotesOf, TellASetThatNixpkgsRemoved) {
  Matrix matrix;
  matrix.packages = {"a"};
  matrix.nixpkgs.recipe = "2025";
  matrix.axes = {AxisOf("cuda", {"12.5", "12.6"})};
  EXPECT_THAT(NotesOf(matrix, *ExpandMatrix(matrix, "x86_64-linux")),
              ElementsAre(HasSubstr("CUDA 12.5 was removed")));
}

TEST(NotesOf, AreBounded) {
  std::vector<std::string> releases;
  for (int i = 0; i < 1000; ++i) releases.push_back("20." + std::to_string(i));
  const auto notes = Notes({AxisOf("cuda", releases)});
  EXPECT_THAT(notes, SizeIs(kMaxNotes));
  EXPECT_EQ(notes.back(), "and 961 notes more");
}

}  // namespace
}  // namespace hydrant
