# Chooses the recipe by looking at the tree's files, without evaluating it: {recipe = "2022"; why = "…";}. Which files stood
# where and when is nixpkgs' history: `_cuda` came with 25.05, `cuda-packages.nix` with 22.05.
{ nixpkgs }:

let
  has = file: builtins.pathExists (nixpkgs + "/${file}");
  first = list: if list == [ ] then null else builtins.head list;
  version = first (builtins.filter has [ "lib/.version" ".version" ]);
  release = if version == null then "" else "nixpkgs ${line (builtins.readFile (nixpkgs + "/${version}"))}: ";
  line = builtins.replaceStrings [ "\n" ] [ "" ];

  signs = [
    { recipe = "2025"; file = "pkgs/development/cuda-modules/_cuda"; }
    { recipe = "2022"; file = "pkgs/development/cuda-modules"; }
    { recipe = "2022"; file = "pkgs/top-level/cuda-packages.nix"; }
    { recipe = "2020"; file = "pkgs/development/compilers/cudatoolkit"; }
  ];
  sign = first (builtins.filter ({ file, ... }: has file) signs);
in
if !has "default.nix" && has "flake.nix" then
  {
    recipe = "flake";
    why = "it has flake.nix and no default.nix";
  }
else if !has "default.nix" then
  throw "file '${toString nixpkgs}/default.nix' is missing: a built-in recipe needs a tree in the shape of nixpkgs; give a recipe of your own"
else if sign == null then
  {
    recipe = "2022";
    why = "${release}no CUDA files of nixpkgs in their places, so it is called as nixpkgs is";
  }
else
  {
    inherit (sign) recipe;
    why = "${release}it has ${sign.file}";
  }
