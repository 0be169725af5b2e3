# A slice in the way of nixpkgs 18.03 to 21.11: one import, with an overlay that takes the toolkit of one release, and of each
# library that is named by toolkit the one for it.
#
# cuda            cudatoolkit = cudatoolkit_X_Y, or its older spellings (cudatoolkit8, cudatoolkit9) where the version is the
#                 one asked for; cudnn, nccl, cutensor = …_cudatoolkit_X_Y, the newest where there are several
#                 (cudnn_8_1_… and cudnn_8_3_…). Switches config.cudaSupport on, also as "default"
# accelerator     cuda or cpu
# flavour         runfile, the only one of the time
# blas, mpi       the provider: an attribute of the tree; LAPACK goes with BLAS
# python          is not a matter of the import: the caller looks packages up in its set
# capabilities, forward_compat: refused. Each package has its own at this time.
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
  inherit (builtins) attrNames compareVersions elemAt filter head isString length match replaceStrings substring;

  axes = import ../slice_axes.nix {
    recipe = "2020";
    inherit slice allow config;
    understands = [ "cuda" "accelerator" "python" "flavour" "blas" "mpi" "system" ];
    values = {
      accelerator = [ "cuda" "cpu" ];
      flavour = [ "runfile" ];
    };
  };
  inherit (axes) given when;

  # "_10_1" of cudatoolkit_10_1, "9" of cudatoolkit9: what its libraries' names end with.
  parts = filter isString (builtins.split "\\." slice.cuda);
  major = head parts;
  spellings =
    if length parts == 1 then
      [ "_${major}" major ]
    else
      [ "_${major}_${elemAt parts 1}" "_${major}" "${major}${elemAt parts 1}" major ];
  exact = suffix: length parts > 1 && suffix == head spellings;
  versionOf = toolkit: toolkit.version or (builtins.parseDrvName toolkit.name).version;
  isOfRelease = toolkit: substring 0 (builtins.stringLength slice.cuda + 1) (versionOf toolkit + ".") == slice.cuda + ".";
  suffixIn =
    packages:
    let
      there = filter (
        suffix:
        packages ? "cudatoolkit${suffix}" && (exact suffix || isOfRelease packages."cudatoolkit${suffix}")
      ) spellings;
    in
    if there == [ ] then null else head there;

  # The few names of a tree that matter here, looked for once among its many.
  namesIn = packages: filter (name: builtins.elem (substring 0 4 name) [ "cuda" "cudn" "nccl" "cute" ]) (attrNames packages);
  toolkits = names: filter (name: match "cudatoolkit_?[0-9_]+" name != null) names;

  # cudnn_8_3_cudatoolkit_11_4 before cudnn_8_1_…; the plain name before all.
  libraryFor =
    names: library: suffix:
    let
      ofToolkit = filter (name: match "${library}[0-9_]*_cudatoolkit${suffix}" name != null) names;
      dotted = replaceStrings [ "_" ] [ "." ];
      newest = builtins.sort (a: b: compareVersions (dotted a) (dotted b) > 0) ofToolkit;
      plain = "${library}_cudatoolkit${suffix}";
    in
    if builtins.elem plain names then
      plain
    else if newest == [ ] then
      null
    else
      head newest;
  isNamedByToolkit =
    names: library: builtins.any (name: match "${library}[0-9_]*_cudatoolkit.*" name != null) names;

  # What an overlay defines may not depend on how packages evaluate, so a choice that fails is an error of its value.
  slicing =
    final: prev:
    let
      suffix = suffixIn prev;
      names = namesIn prev;
      library = of: {
        name = of;
        value =
          let
            name = libraryFor names of suffix;
          in
          if suffix == null || name == null then
            throw "attribute '${of}_cudatoolkit_${axes.underscored slice.cuda}' missing: this tree has no ${of} for CUDA ${slice.cuda}"
          else
            prev.${name};
      };
    in
    when (given "cuda" && prev ? cudatoolkit) (
      {
        cudatoolkit = if suffix == null then prev.cudatoolkit else prev."cudatoolkit${suffix}";
      }
      // builtins.listToAttrs (map library (filter (isNamedByToolkit names) [ "cudnn" "nccl" "cutensor" ]))
    )
    // axes.providers final prev;

  packages = import nixpkgs {
    inherit (slice) system;
    config = axes.settings // config;
    overlays = [ slicing ] ++ overlays;
  };

  missing =
    if given "cuda" && suffixIn packages == null then
      [ (axes.missingOf "cudatoolkit_${axes.underscored slice.cuda}" (toolkits (namesIn packages))) ]
    else
      # A release that an alias says is gone is gone for the whole slice.
      builtins.seq (if given "cuda" then packages.cudatoolkit else null) [ ];
in
axes.checked packages missing
