#!/usr/bin/env python3
"""What newer Nix writes we read, and what we write is what it would have written: archives, listings, narinfos, keys."""
import json
import os
import unittest

from nixes import TwoNixes, hydrant

# A tree with every kind of entry, whose files refer to another path.
TREE = r"""
let
  sh = name: script: more: derivation ({ inherit name; system = "x86_64-linux"; builder = "/bin/sh"; args = [ "-c" script ]; } // more);
  dep = sh "dep" "echo hello > $out" { };
in sh "tree" ''
  mkdir -p $out/bin $out/empty "$out/odd names/ü"
  echo $dep > $out/bin/run; chmod +x $out/bin/run
  : > $out/nothing; echo 1 > "$out/odd names/ü/a b"; echo 2 > $out/Z; echo 3 > $out/a
  ln -s $dep $out/link; ln -s nowhere $out/dangling
'' { inherit dep; }
"""

CONTENT_ADDRESSED = """derivation { name = "content"; system = "x86_64-linux"; builder = "/bin/sh"; args = [ "-c" "echo content > $out" ];
  __contentAddressed = true; outputHashMode = "recursive"; outputHashAlgo = "sha256"; }"""


class FormatsTest(TwoNixes):
    def setUp(self):
        super().setUp()
        self.path = self.new.build(TREE)

    def dump(self):
        """The archive, by its own `nix-store --dump`."""
        file = self.folder / "theirs.nar"
        self.new.run("sh", "-c", f"nix-store --dump {self.new.real(self.path)} > {file}")
        return file.read_bytes()

    def test_an_archive_of_its_store_is_what_we_dump_and_restores_to_the_same(self):
        ours = hydrant("inspect", "nar", "dump", self.new.real(self.path))
        self.assertEqual((ours.returncode, ours.stderr), (0, b""))
        self.assertEqual(ours.stdout, self.dump())
        restored = self.folder / "restored"
        self.assertEqual(hydrant("inspect", "nar", "restore", restored, stdin=ours.stdout).returncode, 0)
        self.assertEqual(hydrant("inspect", "nar", "dump", restored).stdout, ours.stdout)

    def test_a_listing_of_its_cache_is_ours(self):
        cache = self.folder / "cache"
        self.new.run("nix", "copy", "--to", f"file://{cache}?write-nar-listing=true", self.path)
        ours = hydrant("inspect", "nar", "list", "--output", "json", stdin=self.dump())
        self.assertEqual((ours.returncode, ours.stderr), (0, b""))
        self.assertEqual(json.loads(ours.stdout), json.loads((cache / f"{self.hash_part()}.ls").read_text()))

    def hash_part(self):
        return os.path.basename(self.path)[:32]

    def test_a_narinfo_of_its_cache_is_read_with_all_fields_and_its_signature_holds(self):
        secret, public = self.folder / "secret", self.folder / "public"
        self.new.run("nix-store", "--generate-binary-cache-key", "newer-1", secret, public)
        for codec in "xz", "zstd", "none", "bzip2", "br", "gzip":
            with self.subTest(codec):
                cache = self.folder / f"cache-{codec}"
                self.new.run("nix", "copy", "--to", f"file://{cache}?compression={codec}&secret-key={secret}", self.path)
                file = cache / f"{self.hash_part()}.narinfo"
                text = dict(line.split(": ", 1) for line in file.read_text().splitlines())
                self.assertEqual(set(text), {"StorePath", "URL", "Compression", "FileHash", "FileSize", "NarHash", "NarSize", "References",
                                             "Deriver", "Sig"})
                good = hydrant("inspect", "narinfo", file, "--key", public.read_text().strip())
                self.assertEqual(good.returncode, 0, good.stderr)
                bad = hydrant("inspect", "narinfo", file, "--key", public.read_text().strip()[:-8] + "AAAAAAA=")
                self.assertNotEqual(bad.returncode, 0)

    def test_the_narinfo_of_a_content_addressed_path_says_how_it_is_addressed(self):
        config = "extra-experimental-features = ca-derivations\n"
        path = self.new.run("nix-build", "--no-out-link", "-E", CONTENT_ADDRESSED, config=config).stdout.strip()
        cache = self.folder / "cache-ca"
        self.new.run("nix", "copy", "--to", f"file://{cache}", path, config=config)
        file = cache / f"{os.path.basename(path)[:32]}.narinfo"
        told = json.loads(hydrant("inspect", "narinfo", file, "--output", "json").stdout)
        self.assertTrue(told["ca"].startswith("fixed:r:sha256:"), told)
        self.assertIn(f"CA: {told['ca']}\n", file.read_text())

    def test_the_hash_of_a_path_is_ours(self):
        info = json.loads(self.new.run("nix", "path-info", "--json", self.path).stdout)
        ours = hydrant("inspect", "nar", "hash", self.new.real(self.path)).stdout.decode().strip()
        theirs = self.new.run("nix-store", "-q", "--hash", self.path).stdout.strip()
        self.assertEqual(ours, theirs)
        self.assertIn(self.path, info)


if __name__ == "__main__":
    unittest.main(verbosity=2)
