# Names in sets of packages, told line by line without forcing what stands under them. `sets`: [{path, at}], `path` as declared and
# `at` where the slice has it; [ ] is the top level.
# `mark` is what each line begins with, here @ (driver.nix says why).
#
#   @L {"set": ["python3Packages"], "names": ["a", …]}     some of its names, in order
#   @L {"set": ["rPackages"], "missing": "…"}              why it has none
# The last line is @Z. A set that dies of an error which cannot be caught ends the process.
{ packages, sets, mark }:

let
  inherit (builtins) attrNames concatStringsSep elemAt foldl' genList isAttrs length seq toJSON trace tryEval;

  namesInALine = 500;
  parts = list: genList (i: slice (i * namesInALine) list) ((length list + namesInALine - 1) / namesInALine);
  slice =
    start: list:
    let
      left = length list - start;
    in
    genList (i: elemAt list (start + i)) (if left < namesInALine then left else namesInALine);

  within = foldl' (set: name: if isAttrs set && set ? ${name} then set.${name} else null) packages;
  # Top-level names of further imports of the whole tree (pkgsCross, pkgsi686Linux, …): to look whether they are packages
  # would import it.
  isImport = name: builtins.match "pkgs([A-Z].*|i686.*|x86.*)?" name != null;

  linesOf =
    { path, at }:
    let
      found = tryEval (within at);
      names = attrNames found.value;
      told = if path == [ ] then builtins.filter (name: !isImport name) names else names;
    in
    if !found.success then
      [ { set = path; missing = "${concatStringsSep "." at} does not evaluate"; } ]
    else if found.value == null then
      [ { set = path; missing = "attribute '${concatStringsSep "." at}' missing"; } ]
    else if !isAttrs found.value then
      [ { set = path; missing = "${concatStringsSep "." at} is no set"; } ]
    else
      map (names: { set = path; inherit names; }) (parts told);

  # The package set itself is forced first, uncaught, so that nix words what is wrong with it.
  tell = done: line: seq done (trace "${mark}L ${toJSON line}" null);
in
seq packages (seq (foldl' (done: set: foldl' tell done (linesOf set)) null sets) (trace "${mark}Z" null))
