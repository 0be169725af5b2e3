#include "daemon/audit/derivation_names.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

TEST(DerivationNamesTest, WhichReleaseANameTells) {
  const struct {
    const char* name;
    const char* release;  // "": none
  } kRows[] = {
      {"cudatoolkit-12.9.1", "12.9"},
      {"cudatoolkit-9.2.148.1", "9.2"},
      {"cudatoolkit-10.1.243-unsplit", "10.1"},
      {"cudatoolkit-9.2-cudnn-7.2.1", "9.2"},
      {"cuda-merged-12.9", "12.9"},
      {"cuda_cudart-12.9.79", "12.9"},
      {"cuda_nvcc-11.8.89", "11.8"},
      {"cuda_nvrtc-12.0.140", "12.0"},
      {"cuda_crt-13.0.88", "13.0"},
      {"cuda12.9-cudnn-9.7.1", "12.9"},
      {"cuda12.9-cuda_cudart-12.9.79", "12.9"},
      // Numbers of their own.
      {"cudnn-8.9.7", ""},
      {"nccl-2.21.5-1", ""},
      {"libcublas-12.9.1.4", ""},
      {"cuda_compat-580.65.06", ""},
      {"magma-2.7.1", ""},
      // No release in them.
      {"cudatoolkit", ""},
      {"cudatoolkit-12", ""},
      {"cuda12-thing-1.0", ""},
      {"cuda12.9", ""},
      {"cuda_cudart", ""},
      {"python3.12-jax-cuda12-plugin-0.4.1", ""},
      {"barracuda12.9-1.0", ""},
      {"cudatoolkit-99999999999999999999.1", ""},
      {"", ""},
  };
  for (const auto& row : kRows) {
    const std::optional<CudaVersion> found = CudaReleaseOf(row.name);
    EXPECT_EQ(found ? found->Text() : "", row.release) << row.name;
  }
}

TEST(DerivationNamesTest, WhichFlavourADownloadIsOf) {
  const struct {
    const char* file;
    const char* flavour;
  } kRows[] = {
      {"cuda_cudart-linux-x86_64-12.9.79-archive.tar.xz", "redist"},
      {"libcublas-linux-x86_64-11.11.3.6-archive.tar.xz", "redist"},
      {"cuda_nvcc-linux-sbsa-12.9.86-archive.tar.xz", "redist"},
      {"cuda_11.8.0_520.61.05_linux.run", "runfile"},
      {"cuda_9.2.148_396.37_linux", "runfile"},
      {"cuda_8.0.61_375.26_linux-run", "runfile"},
      {"cudnn-linux-x86_64-9.7.1.26_cuda12-archive.tar.xz", ""},
      {"libcutensor-linux-x86_64-2.0.2-archive.tar.xz", ""},
      {"libcusparse_lt-linux-x86_64-0.6.3-archive.tar.xz", ""},
      {"cuda_compat-linux-aarch64-12.2.34-archive.tar.xz", ""},
      {"cuda_samples-12.9.tar.gz", ""},
      {"gcc-linux-x86_64-archive.tar.xz", ""},
  };
  for (const auto& row : kRows) {
    const std::optional<CudaFlavour> found = CudaFlavourOf(row.file);
    EXPECT_EQ(found ? CudaFlavourName(*found) : "", row.flavour) << row.file;
  }
}

TEST(DerivationNamesTest, WhatIsOneOfTheNamedLibraries) {
  const struct {
    const char* name;
    const char* library;
  } kRows[] = {
      {"cudnn-8.9.7.29", "cudnn"},
      {"cuda12.9-cudnn-9.7.1", "cudnn"},
      {"cudatoolkit-9.2-cudnn-7.2.1", "cudnn"},
      {"cudatoolkit-9.1-nccl-2.1.4", "nccl"},
      {"nccl-2.21.5-1", "nccl"},
      {"nccl-2.3.7-1-cuda-9.2.148.1", "nccl"},
      {"magma-2.7.1", "magma"},
      {"cudatoolkit-9.2.148.1", "cudatoolkit"},
      {"cuda-merged-12.9", "cudatoolkit"},
      {"cudatoolkit-11.2.2-merged", ""},
      {"cudatoolkit-10.1.243-unsplit", ""},
      {"nccl-tests-2.13", ""},
      {"python3.12-nvidia-cudnn-9.1", ""},
      {"cudnn", ""},
      {"cudnn-frontend-1.0", ""},
  };
  for (const auto& row : kRows) EXPECT_EQ(NamedLibraryOf(row.name), row.library) << row.name;
}

TEST(DerivationNamesTest, WhichModuleANameHolds) {
  const struct {
    const char* name;
    const char* interpreter;  // "": none
    const char* module;
  } kRows[] = {
      {"python3.12-jaxlib-0.4.1", "python3.12", "jaxlib"},
      {"python2.7-bootstrapped-pip-9.0.1", "python2.7", "bootstrapped-pip"},
      {"pypy3.9-numpy-1.2", "pypy3.9", "numpy"},
      {"python3.12-Opt_Einsum-3.3.0", "python3.12", "opt-einsum"},
      {"python3.12-zope.interface-5.0", "python3.12", "zope-interface"},
      {"python3.12-a__b-1", "python3.12", "a-b"},
      {"python3.6-pytorch-0.3.1", "python3.6", "torch"},
      {"python3.9-tensorflow-gpu-2.10.0", "python3.9", "tensorflow"},
      {"python3.12-nameless", "python3.12", "nameless"},
      {"python3-3.12.4-env", "", ""},
      {"python3-3.12.4", "", ""},
      {"numpy-1.26.4", "", ""},
      {"python3.12", "", ""},
      {"python3.12-", "", ""},
  };
  for (const auto& row : kRows) {
    const std::optional<PythonModule> found = PythonModuleOf(row.name);
    EXPECT_EQ(found ? found->interpreter : "", row.interpreter) << row.name;
    EXPECT_EQ(found ? found->module : "", row.module) << row.name;
  }
  EXPECT_TRUE(IsPythonEnvironment("python3-3.12.4-env"));
  EXPECT_FALSE(IsPythonEnvironment("texlive-env"));
  EXPECT_FALSE(IsPythonEnvironment("python3.12-env-1.0"));
}

}  // namespace
}  // namespace hydrant
