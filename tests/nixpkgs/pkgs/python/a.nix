{
  lib,
  config,
  buildPythonPackage,
  cudaSupport ? config.cudaSupport,
  cudaPackages,
}:

buildPythonPackage {
  pname = "a";
  version = "1.0";
  buildInputs = lib.optional cudaSupport cudaPackages.cuda_cudart.lib;
  modules.a = lib.optionalAttrs cudaSupport { "targets" = cudaPackages.flags.targets; };
}
