{
  lib,
  config,
  python,
  buildPythonPackage,
  cudaPackages,
  numpy,
}:

buildPythonPackage {
  pname = "cupy";
  version = "11.3.0";
  propagatedBuildInputs = [ numpy ];
  buildInputs = [ cudaPackages.cudatoolkit cudaPackages.cutensor cudaPackages.nccl ];
  installPhase = ''
    echo "${cudaPackages.cutensor} ${cudaPackages.nccl}" > $out/${python.sitePackages}/cupy/libraries
  '';
  modules.cupy = {
    "cuda.runtime" = cudaPackages.cudaVersion;
    "is_available" = "gpu";
    "saxpy" = "kernel ${cudaPackages.flags.targets}";
  };
  meta = {
    description = "numpy's interface on GPUs";
    license = lib.licenses.mit;
  };
}
