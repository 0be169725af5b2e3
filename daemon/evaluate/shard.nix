# Evaluates several imports of the tree one after the other in one process, each as driver.nix does: its lines, up to its @Z,
# then those of the next.
#
#   nix-instantiate --eval --strict --read-write-mode --argstr inputs FILES.json --argstr mark MARK shard.nix
#
# FILES.json: ["/absolute/input.json", …], each an input of driver.nix.
{ inputs, mark ? "" }:

# What one import made is garbage as soon as the next begins.
builtins.foldl' (
  done: file: builtins.seq done (import ./driver.nix { input = file; inherit mark; }).run
) null (builtins.fromJSON (builtins.readFile inputs))
