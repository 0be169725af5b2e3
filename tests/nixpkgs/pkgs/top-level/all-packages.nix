final: prev:

let
  inherit (prev) lib; # names may not depend on the end result
  inherit (final) callPackage;
  pythons = import ../python/versions.nix;
  default = "python310";

  interpreter =
    attribute: version:
    callPackage ../python/interpreter.nix { } { inherit attribute version; };
in
import ./cuda-packages.nix { inherit lib callPackage; }
// builtins.mapAttrs interpreter pythons
// builtins.listToAttrs (
  map (name: {
    name = "${name}Packages";
    value = final.${name}.pkgs;
  }) (builtins.attrNames pythons)
)
// {
  pkgs = final;

  python3 = final.${default};
  python3Packages = final.python3.pkgs;

  # The CUDA release that everything uses; an overlay replaces it.
  cudaPackages = final.cudaPackages_12_2;
  inherit (final.cudaPackages) cudatoolkit;

  blas = callPackage ../blas.nix { };
  mkl = callPackage ../mkl.nix { };
  magma = callPackage ../magma.nix { };
  nccl-tests = final.cudaPackages.nccl-tests;
  saxpy = final.cudaPackages.saxpy;

  gpu-burn = callPackage ../gpu-burn.nix { };
  gpu-burn-report = callPackage ../gpu-burn-report.nix { };
  jetson-stats = callPackage ../jetson-stats.nix { };

  evaluationErrors = callPackage ../evaluation-errors.nix { };
}
