# A slice in the way of nixpkgs 22.05 to 24.11: one import, with an overlay that makes one CUDA set the default of all.
#
# cuda            cudaPackages = cudaPackages_X_Y; switches config.cudaSupport on, also as "default"
# accelerator     cuda, cpu or rocm: config.cudaSupport and config.rocmSupport
# capabilities    config.cudaCapabilities, in the order given; refused where the sets know none (before 23.05)
# forward_compat  config.cudaForwardCompat, likewise
# flavour         redist or runfile, where the tree has both: a set with `cudatoolkit-legacy-runfile` gets that as its
#                 cudatoolkit, one that has an attribute `cudaFlavour` follows config.cudaFlavour
# blas, mpi       the provider: an attribute of the tree; LAPACK goes with BLAS. mpi = true or false: torch with or without it
# python          is not a matter of the import: the caller looks packages up in its set
# allow           unfree, broken, insecure
# Packages of the time that do not look at config.cudaSupport (openmpi, ucx, suitesparse) get it as an argument.
# The user's config wins over all of these, and the user's overlays come last.
{
  nixpkgs,
  slice,
  config ? { },
  overlays ? [ ],
  allow ? [ "unfree" ],
  recipe ? "2022",
  ...
}:

let
  axes = import ../slice_axes.nix {
    inherit recipe slice allow config;
    understands = [ "cuda" "accelerator" "python" "capabilities" "forward_compat" "flavour" "blas" "mpi" "system" ];
    values = {
      accelerator = [ "cuda" "cpu" "rocm" ];
      flavour = [ "redist" "runfile" ];
      forward_compat = [ true false "true" "false" ];
    };
  };
  inherit (axes) given when truth underscored;
  setName = "cudaPackages_${underscored slice.cuda}";

  legacy = "cudatoolkit-legacy-runfile";
  flavoured =
    set:
    if given "flavour" && slice.flavour == "runfile" && set ? ${legacy} then
      (set.overrideScope or set.overrideScope') (_: prev: { cudatoolkit = prev.${legacy}; })
    else
      set;

  ignoresTheFlag = {
    openmpi = { cudaSupport = true; };
    ucx = { enableCuda = true; cudaSupport = true; };
    suitesparse = { enableCuda = true; cudaSupport = true; };
  };

  slicing =
    final: prev:
    when (given "cuda") { cudaPackages = flavoured final.${setName}; }
    // when (given "flavour" && !given "cuda" && prev ? cudaPackages) { cudaPackages = flavoured prev.cudaPackages; }
    // when (axes.accelerator == "cuda" && config.cudaSupport or true) (
      builtins.mapAttrs (name: axes.overrideKnown prev.${name}) (builtins.intersectAttrs prev ignoresTheFlag)
    )
    // axes.providers final prev;

  packages = import nixpkgs {
    inherit (slice) system;
    config =
      axes.settings
      // when (given "capabilities") { cudaCapabilities = slice.capabilities; }
      // when (given "forward_compat") { cudaForwardCompat = truth slice.forward_compat; }
      // when (given "flavour") { cudaFlavour = slice.flavour; }
      // config;
    overlays = [ slicing ] ++ overlays;
  };

  # What a slice asks for must be there, or nothing in it means what its id says.
  sets = builtins.filter (name: builtins.match "cudaPackages_[0-9]+_[0-9]+" name != null) (builtins.attrNames packages);
  set = packages.cudaPackages or { };
  bothFlavours = set ? ${legacy} || set ? cudaFlavour;
  missing =
    if given "cuda" && !packages ? ${setName} then
      [ (axes.missingOf setName sets) ]
    else
      # A release that an alias says is gone is gone for the whole slice.
      builtins.seq (if given "cuda" then packages.${setName} else null) builtins.concatMap (
        axis:
        if given axis && !(set ? flags || set ? cudaFlags || set ? backendStdenv) then
          [ "${axis}: the CUDA sets of this tree know no capabilities, packages have their own (nixpkgs before 23.05)" ]
        else
          [ ]
      ) [ "capabilities" "forward_compat" ]
      ++ (
        if given "flavour" && !bothFlavours && !(recipe == "2025" && slice.flavour == "redist") then
          [ "flavour = \"${slice.flavour}\": the CUDA sets of this tree offer no choice of flavour" ]
        else
          [ ]
      )
      ++ (
        if given "accelerator" && slice.accelerator == "rocm" && !packages ? rocmPackages then
          [ "accelerator = \"rocm\": this tree has no rocmPackages" ]
        else
          [ ]
      );
in
axes.checked packages missing
