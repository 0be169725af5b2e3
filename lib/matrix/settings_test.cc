#include "lib/matrix/settings.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "lib/matrix/expansion.h"
#include "lib/matrix/matrix_reader.h"

namespace hydrant {
namespace {

TEST(KindOfSetting, APermissionChangesNoDerivation) {
  for (const char* name : {"allowUnfree", "allowUnfreePredicate", "allowUnfreePackages", "allowBroken",
                           "allowUnsupportedSystem", "permittedInsecurePackages", "allowAliases", "inHydra",
                           "checkMeta", "problems.handlers", "unfree", "broken", "insecure"}) {
    EXPECT_EQ(KindOfSetting(name), SettingKind::kPermission) << name;
  }
}

TEST(KindOfSetting, WhateverElseIsIdentity) {
  for (const char* name : {"cudaSupport", "cudaCapabilities", "cudaForwardCompat", "rocmSupport",
                           "contentAddressedByDefault", "replaceStdenv", "mpi", "anything"}) {
    EXPECT_EQ(KindOfSetting(name), SettingKind::kIdentity) << name;
  }
}

Expansion Expanded(const std::string& nixpkgs, const std::string& axes) {
  const auto matrix = ReadMatrix({"name = \"x\"\n[source]\npath = \"/t\"\n[nixpkgs]\n" + nixpkgs +
                                      "\n[axes]\npackage = [\"a\"]\n" + axes,
                                  {}},
                                 "m.toml", "/");
  EXPECT_TRUE(matrix.ok()) << matrix.status();
  return matrix.ok() ? *ExpandMatrix(*matrix, "x86_64-linux") : Expansion();
}

TEST(Permissions, AreInNoIdAndInNoSlice) {
  std::set<std::string> ids, slices;
  for (const char* nixpkgs : {"", "allow = []", "allow = [\"unfree\", \"broken\", \"insecure\"]",
                              "config = { permittedInsecurePackages = [\"x-1\"], allowAliases = false }"}) {
    const Expansion expansion = Expanded(nixpkgs, "cuda = [\"12.9\"]");
    ids.insert(expansion.variants.at(0).id);
    slices.insert(SliceJson(expansion.slices.at(0)));
  }
  EXPECT_EQ(ids, std::set<std::string>{"a@cuda12.9-x86_64-linux"});
  EXPECT_EQ(slices.size(), 1u);
}

TEST(IdentityAxes, AreInEachIdAndInEachSlice) {
  std::set<std::string> ids, slices;
  const char* const kAxes[] = {"cuda = \"12.9\"",
                               "python = \"python313\"",
                               "capabilities = [[\"8.9\"]]",
                               "forward_compat = false",
                               "system = \"aarch64-linux\"",
                               "flavour = \"runfile\"",
                               "blas = \"mkl\"",
                               "mpi = true",
                               "[axes.more]\naccelerator = [\"tpu\"]"};
  for (const char* axis : kAxes) {
    const Expansion expansion = Expanded("", axis);
    ids.insert(expansion.variants.at(0).id);
    slices.insert(SliceJson(expansion.slices.at(0)));
  }
  EXPECT_EQ(ids.size(), std::size(kAxes));
  EXPECT_EQ(slices.size(), std::size(kAxes));
}

}  // namespace
}  // namespace hydrant
