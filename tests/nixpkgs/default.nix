# A small package tree in the shape of nixpkgs: the same call, the same attribute names, the same refusals, but each
# build is a few lines of shell. README.md says what is in it.
{
  system ? builtins.currentSystem,
  config ? { },
  overlays ? [ ],
  ...
}:

let
  lib = import ./lib;

  # As in nixpkgs, config may be a function of the packages (a licence predicate can live in them).
  given = if builtins.isFunction config then config { inherit lib pkgs; } else config;
  settings = import ./lib/config.nix given;

  base = final: {
    inherit lib overlays system;
    config = settings;
    callPackage = lib.callPackageWith final;
    newScope = extra: lib.callPackageWith (final // extra);
    stdenv = import ./pkgs/stdenv {
      inherit lib system;
      config = settings;
    };
  };

  pkgs = lib.fix (
    lib.foldl lib.extend base (
      [
        (import ./pkgs/top-level/all-packages.nix)
        (import ./pkgs/top-level/aliases.nix)
      ]
      ++ overlays
    )
  );
in
pkgs
