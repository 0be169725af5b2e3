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
#                                    {"package", "licence", "inputs"}, the nearest unfree one among its inputs; where there is none,
#                                    markedThrough {"package", "mark", "inputs"}, the nearest broken, unsupported or insecure one;
#                                    hygiene [QUESTION …];
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
      isFunction = builtins.isFunction function || function ? __functor;
      more = {
        inherit config allow;
        overlays = map overlayOf (request.overlays or [ ]);
      };
      understood = if builtins.isFunction function then builtins.intersectAttrs (builtins.functionArgs function) more else { };
    in
    if !isFunction then
      throw "the recipe: attempt to call something which is not a function but ${kind function}; expected { nixpkgs, slice, ... }: …"
    else function (
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

  resolve = resolveFrom packages;
  resolveFrom = import ./resolve.nix {
    inherit packages kind;
    era = if builtIn then chosen.recipe else null;
    cuda = request.slice.cuda or "default";
  };

  metaFields = import ./package_facts.nix {
    inherit packages hygieneOf attempt discard;
    recipe = if builtIn then { name = chosen.recipe; inherit (chosen) why; } else null;
    refuses = builtIn && (request.config or { }) == { } && builtins.all (what: what == "unfree") (request.allow or [ ]);
  };

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
