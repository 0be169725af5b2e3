# mkDerivation and the refusals, in the words of 2020. Nothing here is meant to be built.
{ lib, config, system }:

let
  refusal =
    { name, meta, attrs }:
    let
      position = builtins.unsafeGetAttrPos "name" attrs;
      at = if position == null then "«unknown-file»" else "${position.file}:${toString position.line}";
      unfree = builtins.filter (licence: !licence.free) (lib.toList (meta.license or [ ]));
      licences = builtins.concatStringsSep ", " (map (licence: "‘${licence.shortName}’") unfree);
      broken = meta.broken or false;
      supported = builtins.elem system (meta.platforms or [ system ]);

    in
    if unfree != [ ] && !(config.allowUnfree or false) then
      refuse "unfree" "Package ‘${name}’ in ${at} has an unfree license (${licences}), refusing to evaluate."
    else if broken && !(config.allowBroken or false) then
      refuse "broken" "Package ‘${name}’ in ${at} is marked as broken, refusing to evaluate."
    else if !supported && !(config.allowUnsupportedSystem or false) then
      refuse "unsupported" "Package ‘${name}’ in ${at} is not supported on ‘${system}’, refusing to evaluate."
    else
      null;
  # As in nixpkgs since 2017, a config may say what becomes of a refusal.
  refuse = reason: words: { inherit reason words; };
  handle = { reason, words }: (config.handleEvalIssue or (_: message: throw message)) reason words;
in
{
  mkDerivation =
    attrs:
    let
      outputs = attrs.outputs or [ "out" ];
      meta = attrs.meta or { };
      raw = derivation (
        removeAttrs attrs [ "meta" "passthru" ]
        // {
          inherit outputs system;
          builder = "/bin/sh";
          args = [ "-c" "for output in $outputs; do eval \"echo > \\$$output\"; done" ];
        }
      );
      refused = refusal { inherit (attrs) name; inherit meta attrs; };
      guard = value: if refused == null then value else handle refused;
      output =
        outputName:
        attrs.passthru or { }
        // lib.genAttrs outputs output
        // {
          type = "derivation";
          inherit (attrs) name;
          inherit meta outputs outputName system;
          passthru = attrs.passthru or { };
          inherit (raw) drvAttrs;
          outPath = guard raw.${outputName}.outPath;
          drvPath = guard raw.drvPath;
        };
    in
    output (builtins.head outputs);
}
