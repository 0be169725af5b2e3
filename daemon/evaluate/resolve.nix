# Where a name stands in a set of packages, under the names of its era too (attribute_names.nix). Gives a function of the set and of
# the path: {found = value; parent = set; as = path or null;} or {missing = name; parent = set or null; message}. At each step the
# whole rest is tried first, and what is missing under its name is looked for under the others of the era.
#
# `era`: the built-in recipe's name, null with one of the user's own, which has no other names; `cuda`: the slice's release.
{ packages, era, cuda, kind }:

let
  resolveFrom = set: path: resolveIn [ ] false set path;
  resolveIn =
    before: renamed: set: path:
    let
      whole = builtins.concatStringsSep "." path;
      first = builtins.head path;
      rest = builtins.tail path;
      other = otherName set first;
      foundAs = name: if renamed then builtins.concatStringsSep "." (before ++ [ name ]) else null;
    in
    if !builtins.isAttrs set then
      {
        missing = first;
        parent = null;
        message = "attribute '${first}' missing: what should hold it is ${kind set}";
      }
    else if set ? ${whole} then
      {
        found = set.${whole};
        parent = set;
        as = foundAs whole;
      }
    else if rest != [ ] && set ? ${first} then
      resolveIn (before ++ [ first ]) renamed set.${first} rest
    else if other != null && rest == [ ] then
      {
        found = other.value;
        parent = set;
        as = builtins.concatStringsSep "." (before ++ [ other.name ]);
      }
    else if other != null then
      resolveIn (before ++ [ other.name ]) true other.value rest
    else
      {
        missing = first;
        parent = set;
        message = "attribute '${first}' missing";
      };

  names = if era == null then { } else (import ./attribute_names.nix).${era} or { };
  cudaMajor =
    if cuda != "default" then
      cuda
    else
      packages.cudaPackages.cudaMajorVersion or packages.cudaPackages.cudaVersion or "";

  # The first candidate for a missing attribute that is there: {name, value}, else null.
  otherName =
    set: missing:
    let
      split = path: builtins.filter builtins.isString (builtins.split "\\." path);
      within = value: path: if path == [ ] then { inherit value; } else if value ? ${builtins.head path} then within value.${builtins.head path} (builtins.tail path) else null;
      named =
        path:
        let
          name = builtins.replaceStrings [ "{cuda}" ] [ (builtins.head (split cudaMajor)) ] path;
          there = within set (split name);
        in
        if there == null then [ ] else [ { inherit name; inherit (there) value; } ];
      overridden =
        { of, override }:
        if set ? ${of} && builtins.isAttrs set.${of} && takes set.${of} override then
          [
            {
              name = "${of}.override ${builtins.toJSON override}";
              value = set.${of}.override override;
            }
          ]
        else
          [ ];
      candidates = builtins.concatMap (candidate: if builtins.isString candidate then named candidate else overridden candidate) (
        names.${missing} or [ ]
      );
    in
    if candidates == [ ] then null else builtins.head candidates;

  # Whether a package can be overridden so. What does not tell its arguments is asked by its passthru.
  takes =
    package: arguments:
    package ? override
    && (
      if builtins.isAttrs package.override && package.override ? __functionArgs then
        builtins.intersectAttrs package.override.__functionArgs arguments == arguments
      else
        builtins.all (argument: package ? ${argument}) (builtins.attrNames arguments)
    );
in
resolveFrom
