# How the built-in recipes read a slice: one set of helpers for a recipe's text. An axis that the recipe does not
# understand, or a value that an axis does not have, is an error that names it, never ignored; "default" asks for nothing.
{
  recipe, # its name, for the words
  understands, # axes
  values ? { }, # axis = [ word … ], where the words are few
  slice,
  allow,
  config,
}:

let
  inherit (builtins) attrNames concatMap concatStringsSep elem filter replaceStrings toJSON;

  refusal =
    axis:
    let
      word = slice.${axis};
    in
    if !elem axis understands then
      [
        "axis '${axis}' = ${toJSON word} is none that the built-in recipe ${recipe} understands (${concatStringsSep ", " understands}); a recipe of your own gets it as slice.${axis}"
      ]
    else if values ? ${axis} && !elem word values.${axis} then
      [ "${axis} = ${toJSON word}: the built-in recipe ${recipe} knows ${concatStringsSep ", " (map toJSON values.${axis})}" ]
    else
      [ ];
  asked = filter given (attrNames slice);
  given = axis: slice ? ${axis} && slice.${axis} != "default" && slice.${axis} != [ "default" ];
in
rec {
  inherit given;
  when = condition: set: if condition then set else { };
  underscored = replaceStrings [ "." ] [ "_" ];
  # Words of a matrix file: true and "true" are the same.
  truth = value: value == true || value == "true";

  # A cuda axis means CUDA support, unless the accelerator says otherwise.
  accelerator = if given "accelerator" then slice.accelerator else if slice ? cuda then "cuda" else null;

  settings =
    {
      inHydra = true; # the first line of a refusal is then its whole message
      allowUnfree = elem "unfree" allow;
      allowBroken = elem "broken" allow;
    }
    // when (elem "insecure" allow) { allowInsecurePredicate = _: true; }
    // when (accelerator != null) { cudaSupport = accelerator == "cuda"; }
    // when (given "accelerator" && elem "rocm" (values.accelerator or [ ])) { rocmSupport = accelerator == "rocm"; };

  # Overrides those of the named arguments that the package takes (Nix tells a function's arguments; a package without
  # them stays as it is).
  overrideKnown =
    package: arguments:
    let
      taken = builtins.intersectAttrs (argumentsOf package) arguments;
    in
    if taken == { } then package else package.override taken;
  argumentsOf =
    package:
    if !(package ? override) then
      { }
    else if builtins.isFunction package.override then
      builtins.functionArgs package.override
    else
      package.override.__functionArgs or { };

  # Providers of BLAS, LAPACK and MPI, or whether torch is built with MPI (mpi = true, false). Where the tree has no such
  # switch, `providersMissing` says so.
  providers =
    final: prev:
    when (given "blas") (
      { blas = prev.blas.override { blasProvider = final.${slice.blas}; }; }
      // when (prev ? lapack) { lapack = prev.lapack.override { lapackProvider = final.${slice.blas}; }; }
    )
    // when (given "mpi" && !switchesMpi) { mpi = final.${slice.mpi}; }
    // when (given "mpi" && switchesMpi && prev ? pythonPackagesExtensions) {
      pythonPackagesExtensions = prev.pythonPackagesExtensions ++ [
        (_: set: builtins.mapAttrs (name: overrideKnown set.${name}) (builtins.intersectAttrs set { torch.MPISupport = truth slice.mpi; }))
      ];
    };
  switchesMpi = elem slice.mpi [ true false "true" "false" ];
  providersMissing =
    packages:
    concatMap
      (
        axis:
        if !given axis then
          [ ]
        else if axis == "mpi" && switchesMpi then
          (
            if packages ? pythonPackagesExtensions then
              [ ]
            else
              [ "mpi = ${toJSON slice.mpi}: Python sets of this tree cannot be extended (nixpkgs before 22.11); name a provider, such as \"openmpi\"" ]
          )
        else if !packages ? ${slice.${axis}} then
          [ "attribute '${slice.${axis}}' missing: ${axis} names what this tree does not have" ]
        else if axis == "blas" && !(packages ? blas && packages.blas ? override) then
          [ "blas = \"${slice.blas}\": this tree has no blas whose provider can be chosen" ]
        else
          [ ]
      )
      [ "blas" "mpi" ];

  # `packages` if nothing was asked that cannot be had. `missing`: what else is wrong, in words.
  checked =
    packages: missing:
    let
      axes = concatMap refusal asked;
      wrong = if axes != [ ] then axes else missing ++ providersMissing packages;
    in
    if wrong == [ ] then packages else throw (concatStringsSep "; " wrong);

  # "attribute 'cudaPackages_12_7' missing: this tree has …"
  missingOf = name: available: "attribute '${name}' missing: this tree has ${
    if available == [ ] then "none like it" else concatStringsSep ", " available
  }";
}
