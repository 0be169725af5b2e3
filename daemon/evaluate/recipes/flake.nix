# A slice of a tree that is a flake and has no default.nix. Nothing is fetched: an input is a folder of the tree itself
# (url = "path:./vendor/nixpkgs"), and one that is not is an error once something needs it.
#
# With `overlays.default` and an input `nixpkgs`: that nixpkgs by the recipe of its era, all axes included, with the flake's
# overlay before the user's. Otherwise `legacyPackages.<system>` as the flake made it: no axis but system and python can reach
# it, so any other is refused, and so are config and overlays.
{
  nixpkgs,
  slice,
  config ? { },
  overlays ? [ ],
  allow ? [ "unfree" ],
  ...
}:

let
  inherit (builtins) functionArgs mapAttrs match pathExists;

  flakeIn =
    folder:
    let
      flake = import (folder + "/flake.nix");
      declared = flake.inputs or { };
      # Inputs that only the arguments name come from a registry.
      named = mapAttrs (name: _: { url = "flake:${name}"; }) (removeAttrs (functionArgs flake.outputs) [ "self" ]);
      inputs = mapAttrs (input folder) (named // declared);
      outputs = flake.outputs (inputs // { self = self; });
      self = outputs // { inherit inputs outputs; outPath = folder; };
    in
    self;

  input =
    folder: name: { url ? "", flake ? true, ... }:
    let
      below = match "(path:)?\\./(.*)" url;
      there = folder + "/${builtins.elemAt below 1}";
    in
    if below == null then
      throw "input '${name}' (${if url == "" then "without url" else url}) of ${toString folder}/flake.nix is no folder of the tree, and evaluation has no network: vendor it as path:./…, or give a recipe of your own"
    else if !pathExists there then
      throw "file '${toString there}' is missing: input '${name}' of ${toString folder}/flake.nix"
    else if flake && pathExists (there + "/flake.nix") then
      flakeIn there
    else
      { outPath = there; };

  self = flakeIn nixpkgs;
  ofInput = (import ./auto.nix { nixpkgs = self.inputs.nixpkgs.outPath; }).recipe;
  axes = import ../slice_axes.nix {
    recipe = "flake";
    understands = [ "system" "python" ];
    inherit slice allow config;
  };
in
if self ? overlays.default && self.inputs ? nixpkgs then
  import (./. + "/${ofInput}.nix") {
    inherit slice config allow;
    nixpkgs = self.inputs.nixpkgs.outPath;
    overlays = [ self.overlays.default ] ++ overlays;
  }
else if self ? legacyPackages.${slice.system} then
  axes.checked self.legacyPackages.${slice.system} (
    if config == { } && overlays == [ ] then [ ] else [ "config and overlays cannot reach a flake's legacyPackages" ]
  )
else
  throw "${toString nixpkgs}/flake.nix has neither overlays.default beside an input nixpkgs nor legacyPackages.${slice.system}; give a recipe of your own"
