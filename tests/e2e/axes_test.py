#!/usr/bin/env python3
"""Overlays and settings of nixpkgs as axes: each a slice of its own, remembered by the text of its own files, kept over a restart."""
import os
import sys
import unittest
import urllib.request

sys.path.insert(0, os.path.dirname(__file__))
from farm import ROOT, FarmTest

MATRIX = """name = "sets"
reason = "a test"
[source]
path = "{tree}"
[nixpkgs]
overlays = ["mine.nix"]
[nixpkgs.overlay_sets]
other = ["sets/other.nix"]
wrong = ["sets/wrong.nix"]
[nixpkgs.config_sets]
ada = {{ cudaCapabilities = ["8.9"] }}
hopper = {{ cudaCapabilities = ["9.0"] }}
[axes]
package = ["mine"]
cuda = ["12.9"]
system = ["x86_64-linux"]
[axes.more]
overlays = {overlays}
config = ["default", "ada"]
[[exclude]]
overlays = "other"
config = "ada"
reason = "not of interest"
[gate]
required = ["mine@*-overlays=other-*"]
"""


class AxesTest(FarmTest):
    options = {"workers": 1}

    def write(self, name, text):
        (self.farm.dir / name).parent.mkdir(exist_ok=True)
        (self.farm.dir / name).write_text(text)

    def apply(self, overlays='["default", "other"]'):
        self.write("sets.toml", MATRIX.format(tree=ROOT / "tests/nixpkgs", overlays=overlays))
        self.farm.hydrant("matrix", "apply", str(self.farm.dir / "sets.toml"))

    def evaluate(self):
        self.farm.hydrant("trigger", "sets", "--wait", check=False)
        return {v["id"].removeprefix("mine@cuda12.9-").removesuffix("x86_64-linux"): v for v in self.farm.status("sets")["variants"]}

    def misses(self):
        """Variants that were evaluated since hydrantd started."""
        with urllib.request.urlopen(self.farm.metrics, timeout=30) as response:
            page = response.read().decode()
        return sum(float(line.split()[-1]) for line in page.splitlines()
                   if line.startswith('hydrant_evaluation_cache_total{') and 'result="miss"' in line)

    def test_each_choice_is_a_slice_of_its_own(self):
        self.write("mine.nix", "final: prev: { mine = prev.magma; }\n")
        self.write("sets/other.nix", "final: prev: { mine = prev.nccl-tests; }\n")
        self.write("sets/wrong.nix", "{ mine = 1; }\n")
        self.apply()
        first = self.evaluate()
        self.assertEqual({key: v["state"] for key, v in first.items()},
                         {"": "cached", "config=ada-": "cached", "overlays=other-": "cached", "config=ada-overlays=other-": "impossible"})
        self.assertEqual(first["overlays=other-"]["slice"]["overlays"], "other")
        self.assertEqual(len({v["derivation"] for v in first.values() if "derivation" in v}), 3)
        self.assertIn("-nccl-tests-", first["overlays=other-"]["derivation"])

        plan = self.farm.json("plan", str(self.farm.dir / "sets.toml"), "--add", "config=hopper")
        self.assertEqual(plan["addition"]["difference"]["variants"], {"pending": 2})
        refused = self.farm.hydrant("plan", str(self.farm.dir / "sets.toml"), "--add", "config=hoper", check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("'hoper' is no set of [nixpkgs.config_sets]; the nearest is 'hopper'", refused.stderr)

        self.farm.kill("hydrantd")
        self.farm.start_hydrantd()
        known = self.misses()
        self.assertEqual(self.evaluate(), first)
        self.assertEqual(self.misses(), known, "nothing is evaluated again")
        self.write("sets/other.nix", "final: prev: { mine = prev.nccl-tests // { again = 1; }; }\n")
        self.apply('["default", "other", "wrong"]')
        again = self.evaluate()
        self.assertEqual(self.misses(), known + 3, "the slice of the changed file and the new ones")
        self.assertEqual(again["overlays=wrong-"]["cause"], "type_error")
        self.assertIn("overlay wrong.nix: attempt to call something which is not a function but a set", again["overlays=wrong-"]["message"])
        self.assertEqual(again["overlays=other-"]["derivation"], first["overlays=other-"]["derivation"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
