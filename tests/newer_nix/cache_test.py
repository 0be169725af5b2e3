#!/usr/bin/env python3
"""A farm's cache between two versions of Nix: each reads what the other or the farm itself has put there, signatures required."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from farm import Farm
from nixes import TwoNixes, hydrant

ZSTD = b"\x28\xb5\x2f\xfd"
# 40 MB that do not compress: several of the frames that a worker writes.
FARM_TREE = """{ ... }: let
  sh = name: script: more: derivation ({ inherit name; system = builtins.currentSystem; builder = "/bin/sh"; args = [ "-c" script ]; } // more);
  base = sh "base" "echo base > $out" { };
in { big = sh "big" "mkdir $out; head -c 40000000 /dev/urandom > $out/noise; echo $base > $out/base" { inherit base; }; }
"""
CLOSURE = r"""
let sh = name: script: more: derivation ({ inherit name; system = "x86_64-linux"; builder = "/bin/sh"; args = [ "-c" script ]; } // more);
in sh "top-WHO" "mkdir $out; echo WHO $dep > $out/word; ln -s $dep $out/dep" { dep = sh "dep-WHO" "echo hello from WHO > $out" { }; }
"""


class CacheTest(TwoNixes):
    farm = None

    @classmethod
    def setUpClass(cls):
        cls.farm = Farm(workers=1)
        cls.addClassCleanup(cls.farm.down)
        cls.farm.up()

    def setUp(self):
        super().setUp()
        self.netrc = self.folder / "netrc"
        self.netrc.write_text(f"machine 127.0.0.1 login any password {self.farm.token}\n")

    def trusting(self, key=None):
        return f"require-sigs = true\ntrusted-public-keys = {key or self.farm.public_key}\n"

    def push(self, nix, path, query="compression=zstd", check=True, token=True):
        config = f"netrc-file = {self.netrc}\n" if token else ""
        return nix.run("nix", "copy", "--to", f"{self.farm.http}?{query}", path, config=config, fresh_cache=True, check=check)

    def copy(self, nix, path, key=None, check=True):
        return nix.run("nix", "copy", "--from", self.farm.http, path, config=self.trusting(key), fresh_cache=True, check=check)

    def substitute(self, nix, path):
        return nix.run("nix-store", "--realise", path, config=f"{self.trusting()}substituters = {self.farm.http}\n", fresh_cache=True)

    def narinfo(self, path):
        code, text = self.farm.get(f"/{os.path.basename(path)[:32]}.narinfo")
        self.assertEqual(code, 200)
        return dict(line.split(": ", 1) for line in text.decode().splitlines())

    def pairs(self):
        return (self.new, self.old), (self.old, self.new)

    def test_each_reads_what_the_other_pushed(self):
        for writer, reader in self.pairs():
            for codec in "zstd", "xz", "none", "bzip2":
                with self.subTest(codec, writer=writer.version, reader=reader.version):
                    path = writer.build(CLOSURE.replace("WHO", f"{writer.name}-{codec}"))
                    self.push(writer, path, f"compression={codec}")
                    self.copy(reader, path)
                    reader.run("nix", "store", "verify", "--recursive", "--no-trust", path)
                    self.assertEqual((reader.real(path) / "word").read_bytes(), (writer.real(path) / "word").read_bytes())

    def test_each_fills_an_empty_store_by_a_substituter(self):
        for writer, reader in self.pairs():
            with self.subTest(writer=writer.version, reader=reader.version):
                path = writer.build(CLOSURE.replace("WHO", f"substituted-{writer.name}"))
                self.push(writer, path)
                self.substitute(reader, path)
                self.assertEqual((reader.real(path) / "word").read_bytes(), (writer.real(path) / "word").read_bytes())

    def test_newer_nix_takes_nothing_under_another_key(self):
        path = self.old.build(CLOSURE.replace("WHO", "signed"))
        self.push(self.old, path)
        other = self.farm.public_key.split(":")[0] + ":" + "A" * 43 + "="
        refused = self.copy(self.new, path, key=other, check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("signature", refused.stderr)
        self.assertFalse(self.new.real(path).exists())

    def test_newer_nix_pushes_nothing_without_a_token(self):
        path = self.new.build(CLOSURE.replace("WHO", "unknown"))
        refused = self.push(self.new, path, check=False, token=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertEqual(self.farm.get(f"/{os.path.basename(path)[:32]}.narinfo")[0], 404)

    def test_newer_nix_reads_the_frames_that_a_worker_wrote(self):
        self.farm.matrix("big", self.farm.tree("big", FARM_TREE), ["big"])
        self.farm.hydrant("trigger", "big", "--wait")
        path = self.farm.status("big")["variants"][0]["outputs"]["out"]
        info = self.narinfo(path)
        self.assertEqual(info["Compression"], "zstd")
        self.assertGreater(self.farm.get("/" + info["URL"])[1].count(ZSTD), 1)
        self.copy(self.new, path)
        self.new.run("nix", "store", "verify", "--recursive", "--no-trust", path)
        self.assertEqual((self.new.real(path) / "noise").stat().st_size, 40000000)

    def test_newer_nix_tells_of_a_path_what_our_narinfo_says(self):
        path = self.old.build(CLOSURE.replace("WHO", "told"))
        self.push(self.old, path)
        told = json.loads(self.new.run("nix", "path-info", "--json", "--store", self.farm.http, path, fresh_cache=True).stdout)[path]
        info = self.narinfo(path)
        self.assertEqual(told["signatures"], [info["Sig"]])
        self.assertEqual((told["narSize"], told["downloadSize"]), (int(info["NarSize"]), int(info["FileSize"])))
        self.assertEqual([os.path.basename(r) for r in told["references"]], info["References"].split())
        self.assertEqual(os.path.basename(told["deriver"]), info["Deriver"])
        file = self.folder / "narinfo"
        file.write_bytes(self.farm.get(f"/{os.path.basename(path)[:32]}.narinfo")[1])
        self.assertEqual(hydrant("inspect", "narinfo", file, "--key", self.farm.public_key).returncode, 0)

    def test_what_both_push_is_one_path(self):
        expression = CLOSURE.replace("WHO", "both")
        path = self.old.build(expression)
        self.assertEqual(self.new.build(expression), path)
        self.push(self.old, path)
        before = self.narinfo(path)
        self.push(self.new, path)
        self.assertEqual(self.narinfo(path), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
