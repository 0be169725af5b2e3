# The few functions that the tree needs. An override of this time does not tell its arguments.
rec {
  fix = f: let x = f x; in x;
  extend = base: overlay: final: let prev = base final; in prev // overlay final prev;
  toList = value: if builtins.isList value then value else [ value ];
  optional = condition: value: if condition then [ value ] else [ ];
  optionals = condition: list: if condition then list else [ ];
  optionalAttrs = condition: set: if condition then set else { };
  underscored = builtins.replaceStrings [ "." ] [ "_" ];
  atLeast = a: b: builtins.compareVersions a b >= 0;
  majorMinor = version: builtins.concatStringsSep "." (first 2 (builtins.splitVersion version));
  first = count: list: builtins.genList (builtins.elemAt list) count;
  genAttrs = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) names);

  callPackageWith =
    scope: f: extra:
    let
      function = if builtins.isFunction f then f else import f;
    in
    makeOverridable function (builtins.intersectAttrs (builtins.functionArgs function) scope // extra);

  makeOverridable =
    f: arguments:
    let
      change = given: makeOverridable f (arguments // (if builtins.isFunction given then given arguments else given));
      result = f arguments;
    in
    if builtins.isAttrs result then result // { override = change; } else result;
}
