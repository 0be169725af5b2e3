# Whether a package may be evaluated: null, or the text of the refusal, worded as nixpkgs did in 2022.
{ lib, config, system }:

{ name, meta, attrs }:

let
  licences = lib.toList (meta.license or [ ]);
  unfree = builtins.filter (licence: !(licence.free or true)) licences;
  quotedNames = lib.concatStringsSep ", " (map (licence: "‘${licence.shortName}’") licences);
  known = meta.knownVulnerabilities or [ ];
  permitted =
    builtins.elem name config.permittedInsecurePackages
    || (config ? allowInsecurePredicate && config.allowInsecurePredicate package);

  # What a predicate sees.
  package = attrs // { inherit name meta; };

  position =
    let
      at =
        if attrs ? meta && attrs.meta ? description then
          builtins.unsafeGetAttrPos "description" attrs.meta
        else
          builtins.unsafeGetAttrPos (if attrs ? pname then "pname" else "name") attrs;
    in
    if at == null then "«unknown-file»" else "${at.file}:${toString at.line}";

  refuse =
    reason: way:
    "Package ‘${name}’ in ${position} ${reason}, refusing to evaluate."
    + lib.optionalString (!config.inHydra) "\n\nTo allow it, set in your nixpkgs config:\n  ${way}\n";
in
if unfree != [ ] && !config.allowUnfree && !config.allowUnfreePredicate package then
  refuse "has an unfree license (${quotedNames})" "{ allowUnfree = true; }"
else if meta.broken && !config.allowBroken then
  refuse "is marked as broken" "{ allowBroken = true; }"
else if !builtins.elem system meta.platforms && !config.allowUnsupportedSystem then
  refuse "is not supported on ‘${system}’" "{ allowUnsupportedSystem = true; }"
else if known != [ ] && !permitted then
  "Package ‘${name}’ in ${position} is marked as insecure, refusing to evaluate.\n\n\nKnown issues:\n"
  + lib.concatStringsSep "\n" (map (issue: " - ${issue}") known)
  + lib.optionalString (!config.inHydra) "\n\nTo allow it, list ${name} in permittedInsecurePackages.\n"
else
  null
