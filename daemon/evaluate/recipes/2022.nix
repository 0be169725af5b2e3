# A slice in the way of nixpkgs 21.11 to 24.11: one import, with an overlay that makes one CUDA set the default of all.
#
# cuda            cudaPackages = cudaPackages_X_Y; switches config.cudaSupport on, also as "default"
# capabilities    config.cudaCapabilities, in the order given
# forward_compat  config.cudaForwardCompat
# flavour         config.cudaFlavour
# blas, mpi       the provider: an attribute of the tree
# python          is not a matter of the import: the caller looks packages up in its set
# allow           unfree, broken, insecure
# The user's config wins over all of these, and the user's overlays come last.
{
  nixpkgs,
  slice,
  config ? { },
  overlays ? [ ],
  allow ? [ "unfree" ],
  ...
}:

let
  given = axis: slice ? ${axis} && slice.${axis} != "default" && slice.${axis} != [ "default" ];
  when = condition: set: if condition then set else { };
  setName = version: "cudaPackages_${builtins.replaceStrings [ "." ] [ "_" ] version}";

  # Words of a matrix file: true and "true" are the same.
  truth = value: value == true || value == "true";

  slicing =
    final: prev:
    when (given "cuda") { cudaPackages = final.${setName slice.cuda}; }
    // when (given "blas") { blas = prev.blas.override { blasProvider = final.${slice.blas}; }; }
    // when (given "mpi") { mpi = final.${slice.mpi}; };

  settings =
    {
      inHydra = true; # the first line of a refusal is then its whole message
      allowUnfree = builtins.elem "unfree" allow;
      allowBroken = builtins.elem "broken" allow;
    }
    // when (builtins.elem "insecure" allow) { allowInsecurePredicate = _: true; }
    // when (slice ? cuda) { cudaSupport = true; }
    // when (given "capabilities") { cudaCapabilities = slice.capabilities; }
    // when (given "forward_compat") { cudaForwardCompat = truth slice.forward_compat; }
    // when (given "flavour") { cudaFlavour = slice.flavour; }
    // config;

  packages = import nixpkgs {
    inherit (slice) system;
    config = settings;
    overlays = [ slicing ] ++ overlays;
  };

  # What a slice names must be there, or nothing in it means what its id says.
  missing = builtins.filter (name: !packages ? ${name}) (
    (if given "cuda" then [ (setName slice.cuda) ] else [ ])
    ++ builtins.concatMap (axis: if given axis then [ slice.${axis} ] else [ ]) [ "blas" "mpi" ]
  );
  cudaSets = builtins.filter (name: builtins.match "cudaPackages_[0-9]+_[0-9]+" name != null) (
    builtins.attrNames packages
  );
in
if missing == [ ] then
  packages
else
  throw "attribute '${builtins.head missing}' missing: this tree has ${builtins.concatStringsSep ", " cudaSets}"
