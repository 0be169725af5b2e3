# Names one architecture for itself, which CUDA 13 no longer compiles for.
{
  lib,
  buildPythonPackage,
  cudaPackages,
  numpy,
}:

buildPythonPackage {
  pname = "ctranslate2";
  version = "3.20.0";
  propagatedBuildInputs = [ numpy ];
  buildInputs = [ cudaPackages.cudatoolkit ];
  buildPhase =
    if lib.versionAtLeast cudaPackages.cudaVersion "13.0" then
      ''
        echo "[ 12%] Building NVCC (Device) object CMakeFiles/ctranslate2.dir/src/cuda/primitives.cu.o"
        echo "nvcc fatal   : Unsupported gpu architecture 'compute_53'"
        exit 1
      ''
    else
      ''
        echo "[ 12%] Building NVCC (Device) object CMakeFiles/ctranslate2.dir/src/cuda/primitives.cu.o"
      '';
  meta = {
    description = "Inference of Transformer models";
    license = lib.licenses.mit;
  };
}
