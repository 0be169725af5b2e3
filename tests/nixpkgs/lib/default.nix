# The few functions that the tree needs.
rec {
  licenses = import ./licenses.nix;
  capabilities = import ./capabilities.nix;

  inherit (builtins) elem filter head length map attrNames attrValues concatStringsSep;

  foldl = builtins.foldl';
  concatMap = f: list: builtins.concatLists (map f list);
  optional = condition: value: if condition then [ value ] else [ ];
  optionals = condition: list: if condition then list else [ ];
  optionalString = condition: text: if condition then text else "";
  optionalAttrs = condition: set: if condition then set else { };
  toList = value: if builtins.isList value then value else [ value ];
  last = list: builtins.elemAt list (length list - 1);

  versionAtLeast = a: b: builtins.compareVersions a b >= 0;
  versionOlder = a: b: builtins.compareVersions a b < 0;
  major = version: head (builtins.splitVersion version);
  majorMinor = version: concatStringsSep "." (take 2 (builtins.splitVersion version));
  underscored = builtins.replaceStrings [ "." ] [ "_" ];
  undotted = builtins.replaceStrings [ "." ] [ "" ];
  quoted = list: builtins.toJSON list;

  take = count: list: builtins.genList (builtins.elemAt list) (if count < length list then count else length list);
  unique = foldl (seen: item: if elem item seen then seen else seen ++ [ item ]) [ ];

  # Keeps the first derivation of each store path.
  uniqueByPath =
    list:
    attrValues (
      builtins.listToAttrs (
        map (drv: {
          name = builtins.unsafeDiscardStringContext drv.outPath;
          value = drv;
        }) list
      )
    );

  genAttrs = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) names);

  fix = f: let x = f x; in x;
  extend = base: overlay: final: let prev = base final; in prev // overlay final prev;

  # Calls f (a function or a file) with what it names, taken from scope, and remembers how, so that `override` works.
  callPackageWith =
    scope: f: extra:
    let
      function = if builtins.isFunction f then f else import f;
      wanted = builtins.intersectAttrs (builtins.functionArgs function) scope;
    in
    makeOverridable function (wanted // extra);

  makeOverridable =
    f: arguments:
    let
      result = f arguments;
      override =
        change:
        makeOverridable f (arguments // (if builtins.isFunction change then change arguments else change));
      withOverride =
        value:
        if !builtins.isAttrs value then
          value
        else
          value
          // {
            inherit override;
          }
          // optionalAttrs (value ? overrideAttrs) {
            overrideAttrs = change: withOverride (value.overrideAttrs change);
          };
    in
    withOverride result;
}
