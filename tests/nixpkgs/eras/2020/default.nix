# A small tree in the shape of nixpkgs of 2020: see ../../README.md.
{
  system ? builtins.currentSystem,
  config ? { },
  overlays ? [ ],
  ...
}:

let
  lib = import ./lib.nix;
  base = final: {
    inherit lib config system overlays;
    callPackage = lib.callPackageWith final;
    newScope = extra: lib.callPackageWith (final // extra);
    stdenv = import ./stdenv.nix { inherit lib config system; };
  };
in
lib.fix (builtins.foldl' lib.extend base ([ (import ./pkgs/top-level/all-packages.nix) ] ++ overlays))
