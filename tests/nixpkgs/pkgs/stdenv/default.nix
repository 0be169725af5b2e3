# mkDerivation, fetchurl and writeText: all that makes derivations here.
{ lib, config, system }:

let
  refusal = import ./check-meta.nix { inherit lib config system; };

  mkDerivation =
    attrs:
    let
      name = attrs.name or "${attrs.pname}-${attrs.version}";
      outputs = attrs.outputs or [ "out" ];
      meta = {
        platforms = [ "x86_64-linux" "aarch64-linux" ];
        broken = false;
        inherit name;
        outputsToInstall = [ "out" ];
      } // attrs.meta or { };

      raw = derivation (
        removeAttrs attrs [ "meta" "passthru" ]
        // {
          inherit name outputs system;
          builder = "/bin/sh";
          args = [ "-e" ./builder.sh ];
        }
      );

      # Only what leads to a build is guarded: name, meta and passthru stay readable for a refused package.
      refused = refusal { inherit name meta attrs; };
      guard = value: if refused == null then value else throw refused;
      output =
        outputName:
        common
        // {
          inherit outputName;
          outPath = guard raw.${outputName}.outPath;
          drvPath = guard raw.drvPath;
        };
      common =
        attrs.passthru or { }
        // builtins.intersectAttrs { pname = null; version = null; requiredSystemFeatures = null; } attrs
        // lib.genAttrs outputs output
        // {
          type = "derivation";
          inherit name meta outputs system;
          passthru = attrs.passthru or { };
          all = map output outputs;
          drvAttrs = raw.drvAttrs;
          overrideAttrs = change: mkDerivation (attrs // change attrs);
        };
    in
    output (builtins.head outputs);

  # A download: fixed-output, so its bytes are known. The text stands in for what the URL would give.
  fetchurl =
    { url, text }:
    derivation {
      name = baseNameOf url;
      inherit system url;
      builder = "/bin/sh";
      args = [ "-e" "-c" "echo \"fetching $url\"; printf '%s' \"$text\" > $out" ];
      inherit text;
      outputHashAlgo = "sha256";
      outputHashMode = "flat";
      outputHash = builtins.hashString "sha256" text;
      preferLocalBuild = true;
    };

  # A download that the vendor gives only to those who accepted its licence.
  requireFile =
    { name, url }:
    derivation {
      inherit name system url;
      builder = "/bin/sh";
      args = [
        "-e"
        "-c"
        "echo \"unfree $name requires manual nix-prefetch-url file:///path/to/$name\"; echo \"Accept the licence at $url first.\"; exit 1"
      ];
      outputHashAlgo = "sha256";
      outputHashMode = "flat";
      outputHash = builtins.hashString "sha256" name;
    };
in
{
  inherit mkDerivation fetchurl requireFile system;
  isLinux = true;
}
