final: prev:

let
  inherit (final) callPackage stdenv;
  inherit (prev) lib;
  plain = name: stdenv.mkDerivation { inherit name; };
  _cuda = import ../development/cuda-modules/_cuda { inherit lib; };
  setName = version: "cudaPackages_${lib.underscored version}";
  again =
    config: import ../../. { inherit (final) system overlays; config = final.config // config; };
  undotted = builtins.replaceStrings [ "." ] [ "" ];
in
builtins.listToAttrs (
  map (version: {
    name = setName version;
    value = callPackage ./cuda-packages.nix { } version;
  }) (builtins.attrNames _cuda.releases)
)
// {
  inherit _cuda;
  pkgs = final;
  extend = overlay: import ../../. { inherit (final) system config; overlays = final.overlays ++ [ overlay ]; };

  cudaPackages_12 = final.cudaPackages_12_9;
  cudaPackages_13 = final.cudaPackages_13_0;
  cudaPackages_12_5 = throw "CUDA 12.5 has been removed from Nixpkgs, as it is unmaintained upstream and depends on unsupported compilers";
  cudaPackages = final.cudaPackages_12;
  pkgsCuda = again { cudaSupport = true; rocmSupport = false; };
  pkgsForCudaArch = builtins.listToAttrs (
    map (capability: {
      name = "sm_${undotted capability}";
      value = again {
        cudaSupport = true;
        rocmSupport = false;
        cudaCapabilities = [ capability ];
        cudaForwardCompat = false;
      };
    }) (builtins.attrNames _cuda.capabilities)
  );
  rocmPackages.clr = plain "clr-6.4.3";

  openmpi = callPackage (
    { stdenv, config, cudaPackages, cudaSupport ? config.cudaSupport or false }:
    stdenv.mkDerivation {
      name = "openmpi-5.0.8";
      buildInputs = lib.optional cudaSupport cudaPackages.cuda_cudart;
    }
  ) { };
  mpi = final.openmpi;
  mpich = plain "mpich-4.3.1";
  openblas = plain "openblas-0.3.30";
  mkl = plain "mkl-2025.2.0";
  blas = callPackage ({ stdenv, openblas, blasProvider ? openblas }: stdenv.mkDerivation { name = "blas-3"; buildInputs = [ blasProvider ]; }) { };
  lapack = callPackage ({ stdenv, openblas, lapackProvider ? openblas }: stdenv.mkDerivation { name = "lapack-3"; buildInputs = [ lapackProvider ]; }) { };
  magma = callPackage (
    { stdenv, config, cudaPackages, cudaSupport ? config.cudaSupport or false }:
    stdenv.mkDerivation {
      name = "magma-2.9.0";
      buildInputs = lib.optionals cudaSupport [ cudaPackages.cuda_nvcc cudaPackages.nccl ];
      passthru = { inherit cudaPackages cudaSupport; };
    }
  ) { };

  python313Packages = import ./python-packages.nix { pkgs = final; version = "3.13"; };
  python314Packages = import ./python-packages.nix { pkgs = final; version = "3.14"; };
  python3Packages = final.python313Packages;
}
