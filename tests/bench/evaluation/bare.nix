# The same variants without a driver: what nix-instantiate alone needs when imports are shared.
{ imports }:
builtins.listToAttrs (
  builtins.genList (i: {
    name = "i${toString i}";
    value = { recurseForDerivations = true; } // import ./default.nix { slice.cuda = "12.${toString i}"; };
  }) imports
)
