# What is known of a package beside its derivation: a function of its path and of the package, the `meta` of driver.nix's @A. Only
# what evaluates is in it. `hygieneOf`: that of hygiene.nix; `recipe`: {name, why} of a built-in one, or null.
# `refuses`: nixpkgs itself lets no broken, unsupported or insecure input through, so that none is looked for.
{ packages, hygieneOf, recipe, refuses, attempt, discard }:

let
  licences =
    meta:
    let
      given = meta.license or [ ];
      one =
        licence:
        if builtins.isString licence then
          {
            name = licence;
            free = licence != "unfree" && licence != "unfree-redistributable";
          }
        else if !builtins.isAttrs licence then
          {
            name = "unknown";
            free = false;
          }
        else
          {
            name = licence.shortName or licence.spdxId or licence.fullName or "unknown";
            free = licence.free or true;
          };
    in
    map one (if builtins.isList given then given else [ given ]);

  metaFields =
    path: drv:
    let
      meta = drv.meta or { };
      of = types: value: if builtins.elem (builtins.typeOf value) types then value else null;
      fields = {
        licences = attempt (licences meta);
        broken = attempt (of [ "bool" ] (meta.broken or null));
        unfree = attempt (of [ "bool" ] (meta.unfree or null));
        insecure = attempt (of [ "bool" ] (insecureOf meta));
        unsupported = attempt (of [ "bool" ] (meta.unsupported or null));
        hydraPlatform = attempt (hydraPlatform drv);
        timeout = attempt (of [ "int" ] (meta.timeout or null));
        maxSilent = attempt (of [ "int" ] (meta.maxSilent or null));
        position = attempt (of [ "string" ] (meta.position or null));
        description = attempt (of [ "string" ] (meta.description or null));
        cudaSupport = attempt (of [ "bool" ] (drv.cudaSupport or drv.passthru.cudaSupport or null));
        rocmSupport = attempt (of [ "bool" ] (drv.rocmSupport or drv.passthru.rocmSupport or null));
        cudaVersion = attempt (
          of [ "string" ] (sets.cudaMajorMinorVersion or sets.cudaVersion or drv.cudaVersion or (majorMinor drv.cudatoolkit.version or null))
        );
        cudaCapabilities = attempt (
          texts (drv.cudaCapabilities or sets.flags.cudaCapabilities or sets.cudaFlags.cudaCapabilities or null)
        );
        pythonVersion = attempt (of [ "string" ] (drv.pythonModule.pythonVersion or null));
        inherit unfreeThrough;
        markedThrough = if unfreeThrough == null && !refuses then attempt (nearest markOf "mark" drv) else null;
        hygiene = attempt (hygieneOf path drv);
        recipe = if recipe == null then null else attempt recipe;
      };
      unfreeThrough = attempt (nearest unfreeOf "licence" drv);
      sets = drv.cudaPackages or drv.passthru.cudaPackages or { };
      majorMinor = version: if builtins.isString version then builtins.head (builtins.match "([0-9]+\\.[0-9]+).*|.*" version) else null;
      texts = value: if builtins.isList value && builtins.all builtins.isString value then value else null;
    in
    removeAttrs fields (builtins.filter (field: fields.${field} == null) (builtins.attrNames fields));

  # Whether Hydra builds it for its system; null: its meta does not tell. A member is a system or, in newer trees, a pattern
  # for lib.meta.platformMatch.
  hydraPlatform =
    drv:
    let
      platforms = drv.meta.hydraPlatforms;
      patterns = builtins.filter builtins.isAttrs platforms;
      knowsPatterns = packages ? lib.meta.platformMatch && packages ? stdenv.hostPlatform;
    in
    if !(drv ? meta.hydraPlatforms) || !builtins.isList platforms then
      null
    else if builtins.elem drv.system platforms then
      true
    else if patterns == [ ] then
      false
    else if knowsPatterns then
      builtins.any (packages.lib.meta.platformMatch packages.stdenv.hostPlatform) patterns
    else
      null;

  # Older trees have only the list.
  insecureOf = meta: meta.insecure or (if meta ? knownVulnerabilities then meta.knownVulnerabilities != [ ] else null);

  # The nearest one among the inputs of a derivation of which `wordsOf` tells anything, level by level, and through which inputs it
  # comes: {package, inputs = [name …], ${field} = the first word}, or null. Bounded: what lies farther than `depth` or beyond `most`
  # is not looked at.
  depth = 6;
  most = 300;
  nearest =
    wordsOf: field: drv:
    let
      search =
        left: seen: level:
        let
          all = builtins.listToAttrs (map (input: { name = input.path; value = input; }) level);
          new = builtins.attrValues (removeAttrs all (builtins.attrNames seen));
          hit = builtins.head hits;
          hits = builtins.filter (input: wordsOf input.drv != [ ]) new;
          count = builtins.length (builtins.attrNames seen) + builtins.length new;
        in
        if hits != [ ] then
          {
            package = hit.drv.name;
            inputs = hit.through;
            ${field} = builtins.head (wordsOf hit.drv);
          }
        else if new == [ ] || left == 0 || count > most then
          null
        else
          search (left - 1) (seen // all) (builtins.concatMap (input: inputsOf (input.through ++ [ input.drv.name ]) input.drv) new);
    in
    search (depth - 1) { } (inputsOf [ ] drv);
  inputsOf =
    through: drv:
    builtins.concatMap (
      drv:
      if builtins.isAttrs drv && drv.type or null == "derivation" then
        [ { path = discard drv.outPath; inherit drv through; } ]
      else
        [ ]
    ) (builtins.concatMap (field: listOf (drv.drvAttrs.${field} or [ ])) [ "buildInputs" "propagatedBuildInputs" "nativeBuildInputs" "propagatedNativeBuildInputs" ]);
  listOf = value: if builtins.isList value then value else [ ];
  unfreeOf =
    drv:
    let
      unfree = attempt (map (licence: licence.name) (builtins.filter (licence: !licence.free) (licences (drv.meta or { }))));
    in
    if unfree == null then [ ] else unfree;
  # In the order in which nixpkgs asks.
  markOf =
    drv:
    let
      meta = drv.meta or { };
      isSet = value: attempt value == true;
    in
    (if isSet (meta.broken or null) then [ "broken" ] else [ ])
    ++ (if isSet (meta.unsupported or null) then [ "unsupported" ] else [ ])
    ++ (if isSet (insecureOf meta) then [ "insecure" ] else [ ]);

in
metaFields
