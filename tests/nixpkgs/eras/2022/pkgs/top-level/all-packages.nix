final: prev:

let
  inherit (final) callPackage stdenv;
  inherit (prev) lib;
  plain = name: stdenv.mkDerivation { inherit name; };
in
lib.genAttrs [ "cudaPackages_11_4" "cudaPackages_11_8" "cudaPackages_12_2" ] (
  name: callPackage ./cuda-packages.nix { } (
    builtins.replaceStrings [ "cudaPackages_" "_" ] [ "" "." ] name
  )
)
// {
  cudaPackages_10_0 = throw "cudaPackages_10_0 has been removed, as it is unmaintained upstream";
  cudaPackages = final.cudaPackages_12_2;
  cudatoolkit = final.cudaPackages.cudatoolkit;
  cudnn = throw "cudnn* is now part of cudaPackages*";
  rocmPackages.clr = plain "clr-5.7.1";

  # These look at their argument only, not at the config.
  openmpi = callPackage (
    { stdenv, cudaPackages, cudaSupport ? false }:
    stdenv.mkDerivation {
      name = "openmpi-4.1.5";
      buildInputs = if cudaSupport then [ cudaPackages.cudatoolkit ] else [ ];
      passthru = { inherit cudaSupport; };
    }
  ) { };
  ucx = callPackage (
    { stdenv, cudaPackages, enableCuda ? false }:
    stdenv.mkDerivation {
      name = "ucx-1.14.1";
      buildInputs = if enableCuda then [ cudaPackages.cudatoolkit ] else [ ];
    }
  ) { };
  mpich = plain "mpich-4.1.2";
  mpi = final.openmpi;

  openblas = plain "openblas-0.3.24";
  mkl = plain "mkl-2023.1.0";
  blas = callPackage ({ stdenv, openblas, blasProvider ? openblas }: stdenv.mkDerivation { name = "blas-3"; buildInputs = [ blasProvider ]; }) { };
  lapack = callPackage ({ stdenv, openblas, lapackProvider ? openblas }: stdenv.mkDerivation { name = "lapack-3"; buildInputs = [ lapackProvider ]; }) { };

  magma = callPackage (
    { stdenv, config, cudaPackages, cudaSupport ? config.cudaSupport or false, rocmPackages, rocmSupport ? config.rocmSupport or false }:
    stdenv.mkDerivation {
      name = "magma-2.7.2";
      buildInputs =
        (if cudaSupport then [ cudaPackages.cudatoolkit ] else [ ]) ++ (if rocmSupport then [ rocmPackages.clr ] else [ ]);
      passthru = { inherit cudaPackages cudaSupport rocmSupport; };
    }
  ) { };

  # A release of its own choice, whatever the slice says: a leak.
  gpu-viewer = stdenv.mkDerivation {
    name = "gpu-viewer-2.0";
    buildInputs = [ final.magma final.cudaPackages_11_4.cudnn ];
  };

  pythonPackagesExtensions = [ ];
  python310Packages = import ./python-packages.nix { pkgs = final; version = "3.10"; };
  python311Packages = import ./python-packages.nix { pkgs = final; version = "3.11"; };
  python312Packages = import ./python-packages.nix { pkgs = final; version = "3.12"; };
  python3Packages = final.python311Packages;
}
