# The derivations that a slice has under the names by which all of it should agree: {cudnn = "/nix/store/….drv"; …}. What it does
# not have or what does not evaluate is not in it. Only of a slice with CUDA: others would evaluate them for nothing.
{ packages, request, attempt, discard }:

let
  sets = packages.cudaPackages or { };
  of = name: set: if builtins.isAttrs set && set ? ${name} then [ set.${name} ] else [ ];
  first = list: if list == [ ] then null else builtins.head list;
  derivation = value: if builtins.isAttrs value && value.type or null == "derivation" then discard value.drvPath else null;

  # From 2022 on the CUDA sets have them, before that the top level.
  candidates = {
    cudatoolkit = of "cudatoolkit" sets ++ of "cudatoolkit" packages;
    cudnn = of "cudnn" sets ++ of "cudnn" packages;
    nccl = of "nccl" sets ++ of "nccl" packages;
    magma = of "magma" packages;
  };
  hasCuda =
    request.slice ? cuda || request.slice.accelerator or null == "cuda" || request.config.cudaSupport or null == true;
  found = builtins.mapAttrs (_: list: attempt (derivation (first list))) candidates;
in
if hasCuda then removeAttrs found (builtins.filter (name: found.${name} == null) (builtins.attrNames found)) else { }
