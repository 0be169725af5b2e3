# Evaluates the packages of one slice, each for itself, and tells what became of them line by line on standard error.
# Knows nothing of matrices: the slice, the recipe and the names come in one JSON file.
#
#   nix-instantiate --eval --strict --read-write-mode --argstr input IN.json --argstr mark MARK -A run   driver.nix
#   nix-instantiate --eval --strict --read-write-mode --argstr input IN.json --argstr id ID -A text driver.nix
#
# Input: {
#   "nixpkgs": "/absolute/tree",
#   "recipe": "auto" | "2020" | "2022" | "2025" | "/absolute/recipe.nix",     the user's own when it starts with a slash
#   "slice": {"cuda": "12.9", "python": "python312", "system": "x86_64-linux", …},
#   "config": {…}, "overlays": ["/absolute/overlay.nix"], "allow": ["unfree"],   may be absent; a recipe of the user's gets
#                                                 those that it has among its named arguments
#   "names": [{"id": "jax@…", "path": ["python3Packages", "jax"], "env": true, "python": "python313"}, …],
#   "bare": true,                                 no more than derivations is asked; may be absent, as those below
#   "named": true,                                the slice's own cudatoolkit, cudnn, … are told
#   "probe": ["hygiene"],                         which names cannot be looked at with unfree refused; built-in recipes only
#   "sets": [[], ["python3Packages"], …]          for `list`
# }
# `python` is a name's own Python set, for slices that differ in nothing else and so share one import; absent: the slice's.
# `path` is the declared name split at its dots: an attribute whose own name has dots is found as well. `env` asks for the
# Python environment that holds just this package.
#
# Lines (nix puts "trace: " before each). MARK, here left out, stands behind the @ of each: a word that the tree cannot know, so
# that it cannot trace lines of its own; it is no part of the input, which the tree may read. With a built-in recipe, first of all:
#   @S {"recipe", "why"}         which one it is, and what in the tree made `auto` choose it
# With "named":
#   @P                           begins to look at them: a process that dies before the next line dies of one of these alone
#   @Q {"cudnn": "/nix/store/….drv", …}   those that the slice has and that evaluate (slice_packages.nix)
# then, in this order for each name, in the order of the names:
#   @B ID                        begins
#   @R {"id", "drvPath", "name", "system", "outputs": {"out": "/nix/store/…"}, "features": […], "foundAs"}   a derivation;
#                                foundAs, where not null: the path at which it stands in this tree (attribute_names.nix)
#   @M {"id", "attribute", "message", "available": […]}  no such attribute; `available`: names that resemble it
#   @N {"id", "type", "message"}                         not a derivation
#   @T ID                        an error that tryEval caught: throw, assertion, any refusal of nixpkgs. `text` tells its words
# The package set itself comes before the first name, since what is wrong with it is wrong for all of them:
#   @X                           it is such an error; no name begins. `text` of any name tells its words
# and a process that dies of it does so before any @B.
# and after @R:
#   @E {"id", "drvPath", "outputs"}  or  @F {"id", "message"}    the environment asked for; @F: there is none, and why
#   @H QUESTION, @U {"message"}      with "probe": what @A's hygiene is about, and the refusal that the last question met (hygiene.nix)
#   @A {"id", "meta": {…}}           what else is known, only the fields that evaluate: licences [{"name", "free"}], broken, unfree,
#                                    insecure, unsupported, timeout, maxSilent, position, description; hydraPlatform: whether
#                                    meta.hydraPlatforms, where there is one, has its system; of its passthru
#                                    cudaSupport, rocmSupport, cudaVersion, cudaCapabilities, pythonVersion; unfreeThrough
#                                    {"package", "licence", "inputs"}, the nearest unfree one among its inputs; hygiene [QUESTION …];
#                                    with a built-in recipe recipe {"name", "why"}, as in @S
# The last line is @Z. Each name has exactly one of @R @M @N @T, but for the one at which the process dies of an error that
# cannot be caught: that is the last @B without any (its outcome is the error on standard error), or, after @R, the
# environment (no @E yet) or the meta (no @A yet) of a name that is good. Names after it have to be asked again.
#
# `text` forces one name and nothing else, uncaught, so that nix itself words the error. `textOf` is the same as a function
# of the id, for many in one `nix repl`: one import serves them all. There `tell` prints the lines of one name from its @B
# on, `tellSlice` those of @P and @Q, and `ready` forces the package set, uncaught. `list` tells the names in the sets asked
# for (package_names.nix); `jobs` is what nix-eval-jobs evaluates (eval_jobs.nix).
{
  input,
  mark ? "",
  id ? null,
}:

let
  at = "@${mark}";
  request = builtins.fromJSON (builtins.readFile input);
  builtIn = builtins.substring 0 1 request.recipe != "/";
  tree = /. + request.nixpkgs;
  chosen =
    if request.recipe == "auto" then
      import ./recipes/auto.nix { nixpkgs = tree; }
    else
      { inherit (request) recipe; why = "asked for by name"; };
  recipe = if builtIn then ./recipes + "/${chosen.recipe}.nix" else /. + request.recipe;

  packages = packagesWith (request.config or { }) (request.allow or [ "unfree" ]);
  packagesWith =
    config: allow:
    let
      function = import recipe;
      more = {
        inherit config allow;
        overlays = map overlayOf (request.overlays or [ ]);
      };
      understood = if builtins.isFunction function then builtins.intersectAttrs (builtins.functionArgs function) more else { };
    in
    function (
      {
        nixpkgs = tree;
        inherit (request) slice;
      }
      // (if builtIn then more else understood)
    );

  # The overlay of a file; one that is none says so by the file's name, as Nix words it.
  overlayOf =
    file: final: prev:
    let
      overlay = import (/. + file);
      half = call overlay final;
      call =
        function: argument:
        if builtins.isFunction function || function ? __functor then
          function argument
        else
          throw "overlay ${baseNameOf file}: attempt to call something which is not a function but ${kind function}; expected final: prev: { … }";
      changes = call half prev;
    in
    if builtins.isAttrs changes then
      changes
    else
      throw "overlay ${baseNameOf file}: value is ${kind changes} while a set was expected; expected final: prev: { … }";

  hygieneOf =
    if builtIn && builtins.elem "hygiene" (request.probe or [ ]) then
      import ./hygiene.nix {
        inherit at packagesWith resolveFrom;
        config = request.config or { };
        allow = request.allow or [ "unfree" ];
      }
    else
      _: _: null;

  # In a built-in recipe python3Packages is the slice's Python set.
  pathOf =
    {
      path,
      python ? request.slice.python or "default",
      ...
    }:
    if builtIn && python != "default" && builtins.head path == "python3Packages" then
      [ "${python}Packages" ] ++ builtins.tail path
    else
      path;

  # {found = value; parent = set; as = path or null;} or {missing = name; parent = set or null;}. At each step the whole rest is
  # tried first, and what is missing under its name is looked for under the others of the era.
  resolve = resolveFrom packages;
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

  names = if builtIn then (import ./attribute_names.nix).${chosen.recipe} or { } else { };
  cudaMajor =
    if (request.slice.cuda or "default") != "default" then
      request.slice.cuda
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

  kind = value: (if builtins.isAttrs value then "a " else if builtins.isInt value then "an " else "a ") + builtins.typeOf value;
  discard = builtins.unsafeDiscardStringContext;
  say = line: value: builtins.trace line value;
  sayJson = letter: value: builtins.trace "${at}${letter} ${builtins.toJSON value}";

  outputsOf =
    drv:
    builtins.listToAttrs (
      map (name: {
        inherit name;
        value = discard drv.${name}.outPath;
      }) (if drv ? outputs then drv.outputs else [ "out" ])
    );
  withOut = drv: if drv ? out then drv else drv // { out = drv; };

  derivationFields = id: foundAs: drv: {
    inherit id foundAs;
    drvPath = discard drv.drvPath;
    name = drv.name or "";
    system = drv.system or "";
    outputs = outputsOf (withOut drv);
    features = listOfText (drv.requiredSystemFeatures or drv.drvAttrs.requiredSystemFeatures or [ ]);
  };

  listOfText = value: if builtins.isList value then builtins.filter builtins.isString value else [ ];

  # Evaluates `value` as deep as it goes; null when that throws.
  attempt =
    value:
    let
      result = builtins.tryEval (builtins.deepSeq value value);
    in
    if result.success then result.value else null;

  licences =
    meta:
    let
      given = meta.license or [ ];
      one =
        licence:
        if builtins.isString licence then
          {
            name = licence;
            free = licence != "unfree";
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
        insecure = attempt (of [ "bool" ] (meta.insecure or null));
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
        unfreeThrough = attempt (nearestUnfree drv);
        hygiene = attempt (hygieneOf path drv);
        recipe = if builtIn then attempt { name = chosen.recipe; inherit (chosen) why; } else null;
      };
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

  # The nearest unfree one among the inputs of a derivation, level by level, and through which inputs it comes: {package, licence,
  # inputs = [name …]}, or null. Bounded: what lies farther than `unfreeDepth` or beyond `unfreeCount` is not looked at.
  unfreeDepth = 6;
  unfreeCount = 300;
  nearestUnfree = drv: search (unfreeDepth - 1) { } (inputsOf [ ] drv);
  search =
    depth: seen: level:
    let
      all = builtins.listToAttrs (map (input: { name = input.path; value = input; }) level);
      new = builtins.attrValues (removeAttrs all (builtins.attrNames seen));
      hit = builtins.filter (input: unfreeOf input.drv != [ ]) new;
      count = builtins.length (builtins.attrNames seen) + builtins.length new;
    in
    if hit != [ ] then
      {
        package = (builtins.head hit).drv.name;
        licence = builtins.head (unfreeOf (builtins.head hit).drv);
        inputs = (builtins.head hit).through;
      }
    else if new == [ ] || depth == 0 || count > unfreeCount then
      null
    else
      search (depth - 1) (seen // all) (builtins.concatMap (input: inputsOf (input.through ++ [ input.drv.name ]) input.drv) new);
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

  # The environment with just this package: a derivation, or null.
  environmentOf =
    parent: drv:
    let
      interpreter = if builtins.isAttrs (drv.pythonModule or null) then drv.pythonModule else parent.python or null;
    in
    if builtins.isAttrs interpreter && interpreter ? withPackages then interpreter.withPackages (_: [ drv ]) else null;
  noEnvironment = "no interpreter with withPackages belongs to this package";

  environment =
    parent: drv:
    let
      environment = environmentOf parent drv;
    in
    if environment == null then
      { message = noEnvironment; }
    else
      {
        drvPath = discard environment.drvPath;
        outputs = outputsOf (withOut environment);
      };

  similar =
    name: set:
    let
      normal = text: builtins.replaceStrings [ "_" "-" "." ] [ "" "" "" ] text;
      prefix = builtins.substring 0 4 (normal name);
    in
    builtins.filter (other: builtins.substring 0 4 (normal other) == prefix) (builtins.attrNames set);

  first = count: list: builtins.genList (builtins.elemAt list) (if builtins.length list < count then builtins.length list else count);

  afterDerivation =
    name: resolved: next:
    let
      environmentResult = attempt (environment resolved.parent resolved.found);
      told =
        if environmentResult == null then
          sayJson "F" { inherit (name) id; message = "the environment does not evaluate"; }
        else if environmentResult ? message then
          sayJson "F" { inherit (name) id; inherit (environmentResult) message; }
        else
          sayJson "E" ({ inherit (name) id; } // environmentResult);
      tellMeta = sayJson "A" {
        inherit (name) id;
        meta = if request.bare or false then { } else metaFields (pathOf name) resolved.found;
      };
    in
    if name.env or false then told (tellMeta next) else tellMeta next;

  outcome =
    name: next:
    let
      resolved = resolve (pathOf name);
      looked = builtins.tryEval (builtins.seq (resolved ? found) resolved);
      value = builtins.tryEval (builtins.seq resolved.found resolved.found);
      isDerivation = builtins.isAttrs value.value && value.value.type or null == "derivation";
      derived = builtins.tryEval (
        let
          fields = derivationFields name.id (resolved.as or null) value.value;
        in
        builtins.deepSeq fields fields
      );
    in
    if !looked.success then
      say "${at}T ${name.id}" next
    else if resolved ? missing then
      sayJson "M" {
        inherit (name) id;
        attribute = resolved.missing;
        inherit (resolved) message;
        available = if resolved.parent == null then [ ] else first 12 (similar resolved.missing resolved.parent);
      } next
    else if !value.success then
      say "${at}T ${name.id}" next
    else if !isDerivation then
      sayJson "N" {
        inherit (name) id;
        type = builtins.typeOf value.value;
        message = "expression does not evaluate to a derivation but to ${kind value.value}";
      } next
    else if !derived.success then
      say "${at}T ${name.id}" next
    else
      sayJson "R" derived.value (afterDerivation name resolved next);

  imported = builtins.tryEval (builtins.seq packages true);

  # One name after the other, in constant stack: foldl' forces each step before the next.
  told =
    let
      each =
        if imported.success then
          tellNamed (builtins.foldl' (
            done: name: builtins.seq done (say "${at}B ${name.id}" (outcome name null))
          ) null request.names)
        else
          say "${at}X" null;
      choice = builtins.tryEval (builtins.deepSeq chosen chosen);
    in
    if builtIn && choice.success then sayJson "S" { inherit (choice.value) recipe why; } each else each;

  # Lines are told as they are forced, so @P before anything of @Q is looked at.
  tellNamed =
    next:
    if request.named or false then
      say "${at}P" (sayJson "Q" (import ./slice_packages.nix { inherit packages request attempt discard; }) next)
    else
      next;

  named =
    id:
    let
      asked = builtins.filter (name: name.id == id) request.names;
    in
    if asked == [ ] then throw "no name with the id ${id}" else builtins.head asked;

  # A name as eval_jobs.nix has it. nix-eval-jobs forces each meta, and a bad one must cost no derivation.
  jobsOf =
    name:
    let
      resolved = resolve (pathOf name);
      there = if resolved.parent == null then [ ] else first 12 (similar resolved.missing resolved.parent);
      drv =
        if resolved ? missing then
          throw (resolved.message + (if there == [ ] then "" else "; there are ${builtins.concatStringsSep ", " there}"))
        else if builtins.isAttrs resolved.found && resolved.found.type or null == "derivation" then
          resolved.found
        else
          throw "expression does not evaluate to a derivation but to ${kind resolved.found}";
      environment = environmentOf resolved.parent drv;
      foundAs = if (resolved.as or null) == null then { } else { foundAs = resolved.as; };
    in
    {
      derivation = drv // { meta = { }; };
      facts = drv // { meta = metaFields (pathOf name) drv // foundAs; };
    }
    // (
      if name.env or false then
        { environment = if environment == null then throw noEnvironment else environment // { meta = { }; }; }
      else
        { }
    );

  # Forces all that @R does: what tryEval caught there, nix words here.
  textOf =
    id:
    let
      fields = derivationFields id null (resolve (pathOf (named id))).found;
    in
    builtins.deepSeq fields fields.drvPath;
in
{
  run = builtins.seq told (say "${at}Z" null);
  text = textOf id;
  inherit textOf;
  jobs = map jobsOf request.names;
  tell = id: builtins.seq (say "${at}B ${id}" (outcome (named id) null)) "told";
  tellSlice = tellNamed "told";
  ready = builtins.seq packages "ready";
  list = import ./package_names.nix {
    inherit packages;
    mark = at;
    sets = map (path: { inherit path; at = if path == [ ] then [ ] else pathOf { inherit path; }; }) (request.sets or [ ]);
  };
}
