# Several imports of the tree as nix-eval-jobs takes them: {i0 = {v0 = {derivation, environment, facts}; v1 …}; i1 …}, import by
# import and in it name by name, in the order in which they are asked. Only the derivations force the tree.
#
#   nix-eval-jobs --meta --argstr inputs FILES.json eval_jobs.nix
#
# FILES.json: ["/absolute/input.json", …], each an input of driver.nix. `environment` is there where it is asked for. `facts` is the
# derivation once more, with what driver.nix knows of it as its meta: what is wrong with that costs no derivation.
{ inputs }:

let
  numbered =
    prefix: values:
    builtins.listToAttrs (
      builtins.genList (number: {
        name = prefix + toString number;
        value = { recurseForDerivations = true; } // builtins.elemAt values number;
      }) (builtins.length values)
    );
in
numbered "i" (
  map (file: numbered "v" (import ./driver.nix { input = file; }).jobs) (builtins.fromJSON (builtins.readFile inputs))
)
