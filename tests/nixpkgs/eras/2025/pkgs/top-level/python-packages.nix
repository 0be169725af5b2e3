# The names of 2025: torch under the global flag, JAX's plugins by CUDA major. What cannot be says so by its problems.
{ pkgs, version }:

let
  inherit (pkgs) lib config;
  module =
    { pname, brokenConditions ? [ ], ... }@attrs:
    pkgs.stdenv.mkDerivation (
      { name = "python${version}-${pname}"; }
      // removeAttrs attrs [ "pname" "brokenConditions" ]
      // {
        meta = {
          license = {
            shortName = "bsd3";
            free = true;
          };
          inherit brokenConditions;
          broken = builtins.any (condition: condition.holds) brokenConditions;
        };
        passthru = { pythonModule.pythonVersion = version; inherit brokenConditions; } // attrs.passthru or { };
      }
    );
  callPackage = pkgs.newScope (self // { inherit module; });
  condition = problem: message: holds: { inherit problem message holds; };

  plugin =
    major:
    callPackage (
      { module, cudaPackages, jaxlib }:
      module {
        pname = "jax-cuda${major}-plugin-0.7.1";
        buildInputs = [ cudaPackages.cudnn ];
        propagatedBuildInputs = [ jaxlib ];
        passthru = { inherit cudaPackages; };
        brokenConditions = [
          (condition "unsupported-cuda-version" "Incompatible cudaPackages version.\n  - Expected: ${major}\n  - Got: ${cudaPackages.cudaMajorVersion}" (
            cudaPackages.cudaMajorVersion != major
          ))
        ];
      }
    ) { };

  self = {
    numpy = callPackage ({ module, blas, lapack }: module { pname = "numpy-2.3.3"; buildInputs = [ blas lapack ]; }) { };
    torch = callPackage (
      { module, cudaPackages, rocmPackages, magma, numpy, cudaSupport ? config.cudaSupport or false, rocmSupport ? config.rocmSupport or false }:
      module {
        pname = "torch-2.9.0";
        buildInputs =
          lib.optionals cudaSupport [ cudaPackages.cuda_cudart cudaPackages.cudnn cudaPackages.cusparselt cudaPackages.nccl magma ]
          ++ lib.optional rocmSupport rocmPackages.clr;
        propagatedBuildInputs = [ numpy ];
        targets = if cudaSupport then cudaPackages.flags.cudaCapabilities else [ ];
        passthru = { inherit cudaSupport rocmSupport cudaPackages; };
        brokenConditions = [
          (condition "cuda-and-rocm" "CUDA and ROCm are mutually exclusive" (cudaSupport && rocmSupport))
          (condition "magma-mismatch" "Magma cudaPackages does not match cudaPackages" (
            cudaSupport && magma.cudaPackages.cudaMajorMinorVersion != cudaPackages.cudaMajorMinorVersion
          ))
        ];
      }
    ) { };
    torch-bin = callPackage (
      { module, cudaPackages }:
      module {
        pname = "torch-bin-2.9.0";
        brokenConditions = [
          (condition "unsupported-cuda-version" "cudaPackages is too old (${cudaPackages.cudaMajorMinorVersion})." (
            !lib.atLeast cudaPackages.cudaMajorMinorVersion "13.0"
          ))
        ];
      }
    ) { };
    triton = module { pname = "triton-3.5.0"; };
    jaxlib = module { pname = "jaxlib-0.7.1"; };
    jax-cuda12-plugin = plugin "12";
    jax-cuda13-plugin = plugin "13";
    tensorrt-python = callPackage ({ module, cudaPackages }: module { pname = "tensorrt-10.9.0"; buildInputs = [ cudaPackages.tensorrt ]; }) { };
  };
in
self
// lib.optionalAttrs (config.allowAliases or true) {
  torchWithCuda = self.torch.override { cudaSupport = true; };
  torchWithoutCuda = self.torch.override { cudaSupport = false; };
}
