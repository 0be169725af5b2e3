// Random matrices: the expansion is what nested loops would count, its ids are distinct, and no order of keys
// in the text changes them.
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lib/matrix/expansion.h"
#include "lib/matrix/matrix_reader.h"

namespace hydrant {
namespace {

using Lines = std::vector<std::string>;

struct RandomMatrix {
  Lines axes, more;        // lines of [axes] and [axes.more]
  Lines exclude, include;  // lines of one [[exclude]] and one [[include]]
  size_t cells = 1, excluded = 0, included = 0;
};

std::string List(const Lines& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return "[" + list + "]";
}

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(engine_); }
  void Shuffle(Lines* lines) { std::shuffle(lines->begin(), lines->end(), engine_); }

 private:
  std::mt19937 engine_;
};

// `prefix`0 … of a random number; [axes] gets the line.
size_t AddAxis(Dice* dice, const std::string& name, const std::string& prefix, Lines* lines) {
  const size_t count = 1 + dice->Below(4);
  Lines values;
  for (size_t i = 0; i < count; ++i) {
    const std::string word = "\"" + prefix + std::to_string(i) + "\"";
    values.push_back(name == "capabilities" ? "[" + word + "]" : word);
  }
  lines->push_back(name + " = " + List(values));
  return count;
}

// Some of the words, at least one.
size_t AddWords(Dice* dice, const std::string& name, Lines words, Lines* lines) {
  dice->Shuffle(&words);
  words.resize(1 + dice->Below(words.size()));
  lines->push_back(name + " = " + List(words));
  return words.size();
}

// The naive count: cells is the product; the exclude hits one value of cuda for one package, the include adds
// one new cuda for one package.
RandomMatrix MakeMatrix(unsigned seed) {
  Dice dice(seed);
  RandomMatrix result;
  const size_t packages = AddAxis(&dice, "package", "python3Packages.p", &result.axes);
  const size_t cudas = AddAxis(&dice, "cuda", "12.", &result.axes);
  size_t others = 1;
  const auto add = [&](const char* name, const char* prefix, Lines* lines) {
    if (dice.Below(2) == 0) others *= AddAxis(&dice, name, prefix, lines);
  };
  add("python", "python31", &result.axes);
  add("capabilities", "8.", &result.axes);
  const auto choose = [&](const char* name, const Lines& words, Lines* lines) {
    if (dice.Below(2) == 0) others *= AddWords(&dice, name, words, lines);
  };
  choose("flavour", {"\"redist\"", "\"runfile\"", "\"default\""}, &result.axes);
  choose("forward_compat", {"true", "false", "\"default\""}, &result.axes);
  choose("mpi", {"false", "\"mpich\"", "\"openmpi\""}, &result.axes);
  choose("system", {"\"x86_64-linux\"", "\"aarch64-linux\""}, &result.axes);
  choose("accelerator", {"\"cuda\"", "\"cpu\"", "\"tpu\""}, &result.more);
  add("blas", "b-", &result.axes);
  add("alpha", "a b", &result.more);
  add("omega", "o/", &result.more);
  result.cells = packages * cudas * others;
  result.excluded = others;
  result.included = others;
  result.exclude = {"cuda = \"12.0\"", "package = \"p0\"", "reason = \"r\""};
  result.include = {"cuda = \"77.7\"", "package = \"python3Packages.p0\""};
  return result;
}

std::string Toml(const RandomMatrix& matrix) {
  std::string text = "name = \"random\"\n[source]\npath = \"/x\"\n";
  const auto add = [&](const char* table, const Lines& lines) {
    if (lines.empty()) return;
    text += std::string(table) + "\n";
    for (const std::string& line : lines) text += line + "\n";
  };
  add("[axes]", matrix.axes);
  add("[axes.more]", matrix.more);
  add("[[exclude]]", matrix.exclude);
  add("[[include]]", matrix.include);
  return text;
}

Expansion Expand(const RandomMatrix& random) {
  const auto matrix = ReadMatrix({Toml(random), {}}, "m.toml", "/");
  EXPECT_TRUE(matrix.ok()) << matrix.status() << "\n" << Toml(random);
  auto expansion = ExpandMatrix(*matrix, "x86_64-linux");
  EXPECT_TRUE(expansion.ok()) << expansion.status() << "\n" << Toml(random);
  return *std::move(expansion);
}

std::vector<std::string> Ids(const Expansion& expansion) {
  std::vector<std::string> ids;
  for (const Variant& variant : expansion.variants) ids.push_back(variant.id);
  return ids;
}

class RandomMatrices : public testing::TestWithParam<unsigned> {};

TEST_P(RandomMatrices, ExpandAsNestedLoopsWouldAndTheirIdsAreDistinct) {
  const RandomMatrix random = MakeMatrix(GetParam());
  const Expansion expansion = Expand(random);
  const std::vector<std::string> ids = Ids(expansion);
  EXPECT_EQ(ids.size(), random.cells + random.included);
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size());
  const auto excluded =
      std::count_if(expansion.variants.begin(), expansion.variants.end(),
                    [](const Variant& variant) { return variant.cause == Cause::kExcluded; });
  EXPECT_EQ(static_cast<size_t>(excluded), random.excluded);
  std::set<std::string> keys;
  for (const Slice& slice : expansion.slices) keys.insert(slice.key);
  EXPECT_EQ(keys.size(), expansion.slices.size());
}

TEST_P(RandomMatrices, KeepTheirIdsInOrderWhenKeysAreWrittenInAnother) {
  RandomMatrix random = MakeMatrix(GetParam());
  const std::vector<std::string> before = Ids(Expand(random));
  Dice dice(GetParam() + 1);
  for (Lines* lines : {&random.axes, &random.more, &random.exclude, &random.include}) dice.Shuffle(lines);
  EXPECT_EQ(Ids(Expand(random)), before) << Toml(random);
}

TEST_P(RandomMatrices, WithADerivedListExpandAsWithTheListWritten) {
  const RandomMatrix random = MakeMatrix(GetParam());
  auto matrix = ReadMatrix({Toml(random), {}}, "m.toml", "/");
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  const std::vector<std::string> listed = std::exchange(matrix->packages, {});
  matrix->derived = DerivedPackages{"cudaSupport", {"p?", "python3Packages.p?"}};
  std::vector<std::string> found = {"zlib", "python3Packages.other"};
  found.insert(found.begin() + 1, listed.begin(), listed.end());
  found.insert(found.end(), listed.begin(), listed.end());
  const auto expansion = ExpandDerivedMatrix(*matrix, "x86_64-linux", found);
  ASSERT_TRUE(expansion.ok()) << expansion.status();
  EXPECT_EQ(Ids(*expansion), Ids(Expand(random)));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomMatrices, testing::Range(0u, 60u));

}  // namespace
}  // namespace hydrant
