#!/usr/bin/env python3
"""Two versions of Nix evaluate alike: the same derivations byte for byte, and errors that we classify alike whatever their words."""
import json
import unittest

from nixes import ROOT, TwoNixes, classify, hydrant

TREE = ROOT / "tests/nixpkgs"
DRIVER = ROOT / "daemon/evaluate/driver.nix"
SLICE = {"system": "x86_64-linux", "cuda": "12.6", "python": "python312"}
# These end the process that evaluates them.
FATAL = {"python3Packages.misspelt", "python3Packages.mistyped", "python3Packages.python"}

# Every kind of output and input that a derivation can have.
KINDS = r"""
let
  drv = a: derivation ({ system = "x86_64-linux"; builder = "/bin/sh"; } // a);
  empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  source = builtins.toFile "source.txt" "quote \" backslash \\ \n";
  flat = drv { name = "flat.tar.gz"; outputHashAlgo = "sha256"; outputHashMode = "flat"; outputHash = empty; };
  tree = drv { name = "tree"; outputHashMode = "recursive"; outputHash = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="; };
  sha1 = drv { name = "sha1"; outputHashAlgo = "sha1"; outputHash = "da39a3ee5e6b4b0d3255bfef95601890afd80709"; };
  sha512 = drv { name = "sha512"; outputHashAlgo = "sha512"; outputHash = builtins.hashString "sha512" ""; };
  many = drv { name = "many+more=1.0?x"; outputs = [ "out" "dev" "lib" ]; inherit flat tree sha1 sha512 source; };
  structured = drv { name = "structured"; __structuredAttrs = true; list = [ 1 2.5 "two" null true { three = "ü"; } ]; inherit many;
                     outputs = [ "out" "doc" ]; requiredSystemFeatures = [ "cuda" "big-parallel" ]; };
  graph = drv { name = "graph"; exportReferencesGraph = [ "closure" many ]; };
  content = drv { name = "content"; __contentAddressed = true; outputHashMode = "recursive"; outputHashAlgo = "sha256"; };
  deferred = drv { name = "deferred"; inherit content; };
in drv {
  name = "top";
  args = [ "-c" "line\nline\ttab\rreturn \"quoted\" back\\slash 'single' \${x}" "äöü 日本語 🚰" "" ];
  none = null; yes = true; no = false; number = 12; float = 1.5; path = many.dev; lib = many.lib;
  passAsFile = [ "lib" ]; allowedReferences = [ ]; inherit structured source graph deferred;
}
"""

# What goes wrong, in the words of whichever Nix -> class.
ERRORS = {
    'throw "no such luck"': "throw",
    'builtins.abort "enough"': "abort",
    "assert 1 == 2; 3": "assertion",
    "{ }.nosuch": "missing_attribute",
    "{ a = { }; }.a.nosuch.deeper": "missing_attribute",
    'builtins.getAttr "x" { }': "missing_attribute",
    "nosuch": "syntax_error",
    "{ a = 1; a = 2; }": "syntax_error",
    "1 +": "syntax_error",
    '"open': "syntax_error",
    "let x = x; in x": "recursion",
    "let f = n: 1 + f (n + 1); in f 0": "stack_overflow",
    '1 + "a"': "type_error",
    '"a" + 1': "type_error",
    "3 4": "type_error",
    "({ b }: b) { }": "type_error",
    "({ }: 1) { b = 1; }": "type_error",
    "(1).a": "type_error",
    "1 / 0": "type_error",
    "builtins.elemAt [ 1 ] 5": "type_error",
    "builtins.head [ ]": "type_error",
    "builtins.tail [ ]": "type_error",
    "builtins.length 1": "type_error",
    "builtins.map 1 2": "type_error",
    "builtins.toString (x: x)": "type_error",
    '"${ { } }"': "type_error",
    "1 < { }": "type_error",
    "!1": "type_error",
    "if 1 then 2 else 3": "type_error",
    "1 // { }": "type_error",
    "[ 1 ] ++ 2": "type_error",
    "with 1; x": "type_error",
    'builtins.match "(" "a"': "type_error",
    'builtins.fromJSON "{"': "type_error",
    "builtins.toJSON (x: x)": "type_error",
    "builtins.listToAttrs [ { } ]": "missing_attribute",
    "builtins.substring 0 1": None,  # a function is a value
    'builtins.toPath "x"': "type_error",
    "import ./nosuch.nix": "missing_file",
    "builtins.readFile ./nosuch": "missing_file",
    "builtins.readDir ./nosuch": "missing_file",
    "<nosuch>": "missing_file",
    "{ a, a }: 1": "syntax_error",
    'builtins.replaceStrings [ "a" ] [ ] "b"': "type_error",
    'builtins.substring (-1) 1 "a"': "type_error",
    'builtins.hashString "md9" "x"': "type_error",
    'builtins.fromTOML "="': "type_error",
    'builtins.toFile "a b" "c"': "type_error",
    'derivation { name = "x"; }': "type_error",
    'derivation { name = "a b"; system = "s"; builder = "b"; }': "type_error",
    'derivation { name = "a"; system = "s"; builder = "b"; outputs = [ "out" "out" ]; }': "type_error",
    'derivation { name = "a"; system = "s"; builder = "b"; outputHash = "xx"; outputHashAlgo = "sha256"; }': "type_error",
    'derivation { name = "a"; system = "s"; builder = "b"; outputHash = "xx"; outputHashAlgo = "foo"; }': "type_error",
    'derivation { name = "x"; system = "s"; builder = x: x; }': "type_error",
    'builtins.fetchurl "http://127.0.0.1:9/nothing"': "fetch_failed",
    'import (derivation { name = "ifd"; system = "x86_64-linux"; builder = "/bin/sh"; })': "ifd_forbidden",
}


class EvaluationTest(TwoNixes):
    def driver(self, nix, names):
        """[(mark, rest)] of one run of the evaluator's driver, as the evaluator calls it."""
        request = {"nixpkgs": str(TREE), "recipe": "2022", "slice": SLICE,
                   "names": [{"id": n, "path": n.split("."), "env": n.startswith("python")} for n in names]}
        file = self.folder / "in.json"
        file.write_text(json.dumps(request))
        done = nix.run("nix-instantiate", "--eval", "--strict", "--read-write-mode", "--option", "allow-import-from-derivation", "false",
                       "--argstr", "input", file, "-A", "run", DRIVER)
        return [(line[8], line[10:]) for line in done.stderr.splitlines() if line.startswith("trace: @")]

    def derivations(self, nix):
        return {path.name: path.read_bytes() for path in nix.real("/nix/store").glob("*.drv")}

    def closure(self, nix, lines):
        """The derivations told in these lines with all that they need: what else is in the store are leftovers of names that
        threw, and how many of those there are hangs on the order in which a Nix forces a set."""
        told = [json.loads(rest)["drvPath"] for mark, rest in lines if mark in "RE"]
        needed = nix.run("nix-store", "--query", "--requisites", *told).stdout.split()
        return {path: nix.real(path).read_bytes() for path in needed if path.endswith(".drv")}

    def all_names(self):
        tree = f'(import {TREE} {{ config.allowUnfree = true; }})'
        names = self.old.run("nix-instantiate", "--eval", "--strict", "--json", "-E", f"""with builtins;
          attrNames {tree} ++ map (n: "python3Packages." + n) (attrNames {tree}.python312Packages)
            ++ map (n: "cudaPackages." + n) (attrNames {tree}.cudaPackages)""")
        return [name for name in json.loads(names.stdout) if name not in FATAL]

    def test_the_whole_tree_gives_the_same_lines_and_the_same_derivations(self):
        names = self.all_names()
        self.assertGreater(len(names), 60)
        old, new = self.driver(self.old, names), self.driver(self.new, names)
        self.assertEqual([mark for mark, _ in new], [mark for mark, _ in old])
        self.assertEqual([line for line in new if line[0] in "REA"], [line for line in old if line[0] in "REA"])
        self.assertGreater(sum(mark == "R" for mark, _ in new), 50)
        derivations = self.closure(self.new, new)
        self.assertGreater(len(derivations), 100)
        self.assertEqual(derivations, self.closure(self.old, old))

    def test_every_kind_of_derivation_is_the_same_and_comes_back_byte_for_byte(self):
        config = "extra-experimental-features = ca-derivations\n"
        tops = [nix.run("nix-instantiate", "-E", KINDS, config=config).stdout for nix in (self.old, self.new)]
        self.assertEqual(*tops)
        derivations = self.derivations(self.new)
        self.assertEqual(len(derivations), 10)
        self.assertEqual(derivations, self.derivations(self.old))
        files = [self.new.real(f"/nix/store/{name}") for name in derivations]
        done = hydrant("inspect", "derivation", "--roundtrip", *files)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_every_error_has_its_class_in_the_words_of_both(self):
        for expression, expected in ERRORS.items():
            for nix in self.old, self.new:
                with self.subTest(expression, nix=nix.version):
                    done = nix.run("nix-instantiate", "--eval", "--strict", "--read-write-mode",
                                   "--option", "allow-import-from-derivation", "false", "--option", "download-attempts", "1", "-E", expression, check=False)
                    if expected is None:
                        self.assertEqual(done.returncode, 0, done.stderr)
                        continue
                    self.assertNotEqual(done.returncode, 0, done.stdout)
                    self.assertEqual(classify("evaluation", done.stderr)["class"], expected, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
