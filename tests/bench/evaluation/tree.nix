# A tree that costs what nixpkgs 19.09 costs on the machine where it was measured: to parse, to import, to ask for a package.
# `scale` is found by `run` so that one import takes the time that it is told to take.
{ slice, ... }:
let
  text = import ./text.nix;
  scale = builtins.fromJSON (builtins.readFile ./scale.json);
  each = count: make: builtins.genList make count;
  # What lives as long as the import does.
  packages = builtins.listToAttrs (
    each scale.import (i: {
      name = "n${toString i}";
      value = {
        pname = "n${toString i}-${slice.cuda}";
        hash = builtins.hashString "sha256" "${slice.cuda}-${toString i}";
        inputs = [ i (i + 1) (i + 2) ];
      };
    })
  );
  imported = builtins.deepSeq packages packages;
  package =
    name:
    let
      work = builtins.foldl' (sum: i: sum + builtins.stringLength imported."n${toString i}".hash) 0 (each scale.variant (i: i));
    in
    derivation {
      name = "${name}-cuda${slice.cuda}";
      system = "x86_64-linux";
      builder = "/bin/sh";
      args = [ (toString work) (toString (text.size or 0)) ];
    };
in
builtins.seq imported (builtins.listToAttrs (each 10 (i: {
  name = "p${toString i}";
  value = package "p${toString i}";
})))
