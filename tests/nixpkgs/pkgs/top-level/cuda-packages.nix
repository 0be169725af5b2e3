# One set a CUDA release: cudaPackages_X_Y.
{ lib, callPackage }:

builtins.listToAttrs (
  map (cudaVersion: {
    name = "cudaPackages_${lib.underscored cudaVersion}";
    value = callPackage ../cuda/packages.nix { } {
      inherit cudaVersion;
      release = (import ../cuda/versions.nix).${cudaVersion};
    };
  }) (builtins.attrNames (import ../cuda/versions.nix))
)
