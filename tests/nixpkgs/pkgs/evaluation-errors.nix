# One attribute for each way in which an evaluation ends badly, most of which builtins.tryEval does not catch.
{ lib, stdenv }:

let
  ok = name: stdenv.mkDerivation { inherit name; meta.license = lib.licenses.mit; };
  package = version: stdenv.mkDerivation { pname = "error"; inherit version; };
in
{
  throws = throw "no such luck";
  aborts = abort "enough";
  asserts = assert 1 == 2; ok "asserts";
  missingAttribute = { }.nosuch;
  type = package (1 + "a");
  call = 3 4;
  argument = ({ b }: package b) { };
  unexpected = ({ }: ok "unexpected") { b = 1; };
  recursion = let x = x; in x;
  deep = let f = n: 1 + f (n + 1); in package (toString (f 0));
  path = import ./no-such-file.nix;
  syntax = import ./not-nix.txt;
  json = builtins.fromJSON "{";
  fetch = builtins.fetchurl "http://127.0.0.1:9/nothing";
  ifd = import (derivation {
    name = "ifd.nix";
    inherit (stdenv) system;
    builder = "/bin/sh";
    args = [ "-c" "echo 'null' > $out" ];
  });
  notADerivation = { a = 1; };
  text = "text";
  # The package is good, only a field of its meta is not.
  badMeta = stdenv.mkDerivation {
    name = "bad-meta";
    meta = {
      license = lib.licenses.mit;
      timeout = throw "no timeout";
      maxSilent = { }.nosuch;
    };
  };
  "odd.name" = ok "odd";
  nested.good = ok "good";
  good = ok "good";
}
