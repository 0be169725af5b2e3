# Whether a package can be looked at by someone who refuses unfree packages: harmless questions, asked of the same slice with
# unfree refused. Gives a function of a path and of the package as the slice has it: the questions that it answers and that
# fail where unfree is refused; null where that slice does not evaluate. Once `attribute` fails, all others would.
#
# Lines, forced before the result, `at` for their @: @H QUESTION, and where nixpkgs lets a config handle refusals (config.handleEvalIssue, since
# 2017) @U {"message"} for each that is met. Costs one more import of the tree.
{ at, packagesWith, resolveFrom, config, allow }:

let
  inherit (builtins) deepSeq elem filter head intersectAttrs isAttrs seq toJSON trace tryEval;

  refused = packagesWith (
    removeAttrs config [ "allowUnfreePackages" "allowUnfreePredicate" "allowlistedLicenses" "whitelistedLicenses" ]
    // {
      allowUnfree = false;
      handleEvalIssue =
        reason: message:
        if reason == "unfree" then trace "${at}U ${toJSON { inherit message; }}" (throw message) else throw message;
    }
  ) (filter (word: word != "unfree") allow);

  # What tools ask of a package that they do not build.
  fields = {
    available = null;
    broken = null;
    description = null;
    homepage = null;
    insecure = null;
    license = null;
    mainProgram = null;
    name = null;
    outputsToInstall = null;
    platforms = null;
    position = null;
    unfree = null;
    unsupported = null;
  };
  questions = {
    attribute = drv: isAttrs drv && drv.type or null == "derivation";
    name = drv: drv.name or null;
    # An unfree package itself says there that it is not available, which is an answer.
    meta = drv: intersectAttrs fields (drv.meta or { });
    cudaSupport = drv: drv.cudaSupport or drv.passthru.cudaSupport or null;
  };

  answers = question: drv: (tryEval (seq (deepSeq (questions.${question} drv) null) true)).success;
  there = (tryEval (seq refused true)).success;
in
path: drv:
let
  same = (resolveFrom refused path).found;
  fails = question: trace "${at}H ${question}" (!answers question same) && answers question drv;
in
if !there then
  null
else if fails "attribute" then
  [ "attribute" ]
else
  filter fails [ "name" "meta" "cudaSupport" ]
