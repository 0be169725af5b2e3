#!/usr/bin/env python3
"""What `hydrant report --against` says of two evaluations, end to end, also once the Nix store lost the older derivations."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from farm import FarmTest

# torch above magma above cudnn; hello alone.
TREE = """
{{ slice ? {{ }}, ... }}:
let
  make = name: deps: derivation {{ inherit name; system = builtins.currentSystem; builder = "/bin/sh";
    args = [ "-c" "echo ${{name}} $deps > $out" ]; inherit deps; }};
in rec {{
  cudnn = make "cudnn-{cudnn}" [ ];
  magma = make "magma-2.7.2" [ cudnn ];
  torch = make "torch-2.1.0" [ magma ];
  jax = make "jax-0.4.1" [ cudnn ];
  hello = make "hello-2.12" [ ];
}}
"""


class DifferenceTest(FarmTest):
    options = {"workers": 1, "slots": 4}

    def evaluate(self, cudnn, packages):
        tree = self.farm.tree("set", TREE.format(cudnn=cudnn))
        self.farm.matrix("set", tree, packages)
        self.farm.hydrant("trigger", "set", "--wait")
        return self.farm.status("set")["evaluation"]["id"]

    def test_a_new_cudnn_is_told_as_the_cause_of_what_changed(self):
        before = self.evaluate("8.9.7", ["torch", "jax", "hello"])
        after = self.evaluate("9.1.0", ["torch", "jax", "hello", "magma"])
        report = self.farm.json("report", str(after), "--against", str(before))
        self.assertEqual(report["totals"], {"changed": 2, "gone": 0, "new": 1, "unchanged": 1})
        self.assertEqual([(c["text"], c["kind"], c["variants"]) for c in report["causes"]], [("cudnn 8.9.7 → 9.1.0", "version", 2)])
        chains = {c["id"].split("@")[0]: c["chain"] for c in report["changes"]}
        self.assertEqual(chains["torch"], ["torch-2.1.0", "magma-2.7.2", "cudnn-9.1.0"])
        markdown = self.farm.hydrant("report", str(after), "--against", str(before)).stdout
        self.assertIn("### cudnn 8.9.7 → 9.1.0: 2 variants", markdown)
        self.assertIn("3 variants built", self.farm.hydrant("report", str(before)).stdout)

        # A restart without the derivations in the store: the record alone.
        self.farm.kill("hydrantd")
        for drv in pathlib.Path(self.farm.dir / "store/hydrantd/nix/store").glob("*.drv"):
            drv.unlink()
        self.farm.start_hydrantd()
        again = self.farm.json("report", str(after), "--against", str(before))
        self.assertEqual((again["causes"], again["totals"]), (report["causes"], report["totals"]))

        missing = self.farm.hydrant("report", str(after), "--against", "99", check=False)
        self.assertEqual(missing.returncode, 2, missing.stderr)
        self.assertIn("99", missing.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
