final: prev:

let
  inherit (final) callPackage lib stdenv;
  toolkits = import ../development/compilers/cudatoolkit { inherit (final) stdenv; };

  # A library of the vendor's for one toolkit.
  library =
    pname: version:
    callPackage (
      { cudatoolkit, stdenv }:
      stdenv.mkDerivation {
        name = "${cudatoolkit.name}-${pname}-${version}";
        buildInputs = [ cudatoolkit ];
        passthru = { inherit version cudatoolkit; };
        meta.license = {
          shortName = "${pname} EULA";
          free = false;
        };
      }
    );
  for = toolkit: { cudatoolkit = final.${toolkit}; };
  free = shortName: {
    inherit shortName;
    free = true;
  };
in
toolkits
// {
  cudatoolkit = final.cudatoolkit_10_2;
  cudatoolkit_10 = final.cudatoolkit_10_2;
  cudatoolkit_7_5 = throw "cudatoolkit_7_5 has been removed from Nixpkgs, as it is unmaintained upstream";

  cudnn = final.cudnn_cudatoolkit_10_2;
  cudnn_cudatoolkit8 = library "cudnn" "7.0.5" (for "cudatoolkit8");
  cudnn6_cudatoolkit8 = library "cudnn" "6.0.21" (for "cudatoolkit8");
  cudnn_cudatoolkit9 = library "cudnn" "7.0.5" (for "cudatoolkit9");
  cudnn_cudatoolkit_10_1 = library "cudnn" "7.6.3" (for "cudatoolkit_10_1");
  cudnn_cudatoolkit_10_2 = library "cudnn" "7.6.5" (for "cudatoolkit_10_2");
  # As in 21.11: named by both versions only.
  cudnn_8_1_cudatoolkit_11_0 = library "cudnn" "8.1.1" (for "cudatoolkit_11_0");
  cudnn_8_3_cudatoolkit_11_0 = library "cudnn" "8.3.2" (for "cudatoolkit_11_0");

  # Not for every release.
  cutensor = final.cutensor_cudatoolkit_10_2;
  cutensor_cudatoolkit_10_1 = library "cutensor" "1.2.2.5" (for "cudatoolkit_10_1");
  cutensor_cudatoolkit_10_2 = library "cutensor" "1.2.2.5" (for "cudatoolkit_10_2");

  # Follows the toolkit of the set.
  nccl = library "nccl" "2.7.8" { };

  magma = callPackage (
    { cudatoolkit, stdenv }:
    stdenv.mkDerivation {
      name = "magma-2.5.3";
      buildInputs = [ cudatoolkit ];
      passthru = { inherit cudatoolkit; };
      meta.license = free "bsd3";
    }
  ) { };

  openblas = stdenv.mkDerivation { name = "openblas-0.3.10"; };
  mkl = stdenv.mkDerivation {
    name = "mkl-2020.2.254";
    meta.license = {
      shortName = "issl";
      free = false;
    };
  };
  blas = callPackage ({ stdenv, openblas, blasProvider ? openblas }: stdenv.mkDerivation { name = "blas-3"; buildInputs = [ blasProvider ]; }) { };
  lapack = callPackage ({ stdenv, openblas, lapackProvider ? openblas }: stdenv.mkDerivation { name = "lapack-3"; buildInputs = [ lapackProvider ]; }) { };
  openmpi = stdenv.mkDerivation { name = "openmpi-4.0.5"; };
  mpich = stdenv.mkDerivation { name = "mpich-3.3.2"; };
  mpi = final.openmpi;

  python37Packages = import ./python-packages.nix { pkgs = final; version = "3.7"; };
  python38Packages = import ./python-packages.nix { pkgs = final; version = "3.8"; };
  python3Packages = final.python38Packages;
}
