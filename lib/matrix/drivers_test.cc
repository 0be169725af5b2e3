#include "lib/matrix/drivers.h"

#include "gtest/gtest.h"
#include "lib/matrix/host_compilers.h"

namespace hydrant {
namespace {

struct Row {
  CudaVersion cuda;
  const char* driver;
};

TEST(LeastDriver, IsThatOfTheMajor) {
  constexpr Row kRows[] = {{{11, 4}, "450.80.02"}, {{11, 8}, "450.80.02"}, {{12, 0}, "525"},
                           {{12, 9}, "525"},       {{13, 0}, "580"},       {{13, 4}, "580"}};
  for (const Row& row : kRows) EXPECT_EQ(LeastDriver(row.cuda)->Text(), row.driver) << row.cuda.Text();
  EXPECT_EQ(LeastDriver({10, 2}), std::nullopt);
  EXPECT_EQ(LeastDriver({14, 0}), std::nullopt);
}

TEST(PtxDriver, IsThatOfTheToolkit) {
  constexpr Row kRows[] = {{{11, 8}, "520.61.05"}, {{12, 0}, "525.60.13"}, {{12, 1}, "530.30.02"},
                           {{12, 2}, "535.54.03"}, {{12, 3}, "545.23.06"}, {{12, 4}, "550.54.14"},
                           {{12, 5}, "555.42.02"}, {{12, 6}, "560.28.03"}, {{12, 8}, "570.26"},
                           {{12, 9}, "575.51.03"}, {{13, 0}, "580.65.06"}, {{13, 1}, "590"}};
  EXPECT_EQ(std::size(kRows), ToolkitDrivers().size());
  for (const Row& row : kRows) EXPECT_EQ(PtxDriver(row.cuda)->Text(), row.driver) << row.cuda.Text();
}

TEST(PtxDriver, IsSilentBeyondItsTable) {
  EXPECT_EQ(PtxDriver({11, 4}), std::nullopt);
  EXPECT_EQ(PtxDriver({13, 4}), std::nullopt);
  EXPECT_EQ(PtxDriver({12, 7})->Text(), "570.26") << "between two rows the newer one is enough";
}

TEST(DriverVersion, ComparesByItsNumbers) {
  EXPECT_LT(*ParseDriverVersion("525.60.13"), *ParseDriverVersion("525.105.17"));
  EXPECT_LT(*ParseDriverVersion("575.51.03"), *ParseDriverVersion("580"));
  EXPECT_EQ(ParseDriverVersion("580.65.06"), (DriverVersion{580, 65, 6}));
  for (const char* text : {"", ".", "580.", "580.65.06.1", "580,65", "-1", "580a", "99999999999"}) {
    EXPECT_EQ(ParseDriverVersion(text), std::nullopt) << text;
  }
}

TEST(DriverData, NamesASourceInEachRowAndAscends) {
  const ToolkitDriver* before = nullptr;
  for (const ToolkitDriver& row : ToolkitDrivers()) {
    EXPECT_FALSE(row.source.empty()) << row.cuda.Text();
    EXPECT_TRUE(before == nullptr || (before->cuda < row.cuda && before->driver < row.driver));
    EXPECT_GE(row.driver, *LeastDriver(row.cuda)) << row.cuda.Text();
    before = &row;
  }
  for (const DriverMinimum& row : DriverMinima()) EXPECT_FALSE(row.source.empty()) << row.cuda_major;
}

TEST(HostCompilers, AreThoseOfEachNvcc) {
  struct Compilers {
    CudaVersion cuda;
    int gcc, clang;
  };
  constexpr Compilers kRows[] = {{{11, 8}, 11, 14}, {{12, 0}, 12, 14}, {{12, 1}, 12, 15}, {{12, 2}, 12, 16},
                                 {{12, 3}, 12, 16}, {{12, 4}, 13, 17}, {{12, 5}, 13, 17}, {{12, 6}, 13, 18},
                                 {{12, 8}, 14, 19}, {{12, 9}, 14, 19}};
  EXPECT_EQ(std::size(kRows), AllHostCompilers().size());
  for (const Compilers& row : kRows) {
    const auto found = HostCompilersOf(row.cuda);
    ASSERT_TRUE(found.has_value()) << row.cuda.Text();
    EXPECT_EQ(found->gcc, row.gcc) << row.cuda.Text();
    EXPECT_EQ(found->clang, row.clang) << row.cuda.Text();
    EXPECT_FALSE(found->source.empty());
  }
  EXPECT_FALSE(HostCompilersOf({13, 0}).has_value()) << "not known yet";
}

}  // namespace
}  // namespace hydrant
