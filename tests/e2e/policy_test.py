#!/usr/bin/env python3
"""What is said of variants beside their states, end to end and from a real evaluation: what Hydra would skip, what the
consistency rules find, who may have it. Nothing is built."""
import os
import sys
import unittest
import urllib.request

sys.path.insert(0, os.path.dirname(__file__))
from farm import ROOT, FarmTest, wait_for

MATRIX = f"""
name = "policy"
reason = "what is said of variants"
[source]
path = "{ROOT}/tests/nixpkgs"
[nixpkgs]
allow = ["unfree", "broken"]
[axes]
package = ["python3Packages.numpy", "python3Packages.torch", "python3Packages.jax-both", "python3Packages.tensorflow", "magma", "mkl", "nowhere"]
cuda = ["12.2"]
python = ["python312"]
[license]
public = ["free"]
private = ["unfree"]
"""


class PolicyTest(FarmTest):
    options = {"workers": 0}

    def variants(self, document):
        return {v["package"].removeprefix("python3Packages."): v for v in document["variants"]}

    def check(self, variants):
        reasons = {name: v["hydra"] and v["hydra"]["reason"] for name, v in variants.items()}
        self.assertIsNone(variants["nowhere"]["hydra"])
        self.assertIs(variants["numpy"]["hydra"]["skips"], False)
        self.assertRegex(reasons["torch"], "^unfree: .*, through .*[0-9]$")
        self.assertRegex(reasons["magma"], "^unfree: .*, through .*[0-9]$")
        self.assertEqual((reasons["mkl"], reasons["tensorflow"]), ("unfree", "broken"))
        self.assertEqual(variants["numpy"]["licence"], {"names": variants["numpy"]["licence"]["names"], "free": True, "through": None})
        self.assertEqual({n: v["tier"] for n, v in variants.items()},
                         {"numpy": "public", "torch": "private", "jax-both": "private", "tensorflow": variants["tensorflow"]["tier"],
                          "magma": "private", "mkl": "private", "nowhere": None})
        found = {f["rule"]: f for f in variants["jax-both"]["findings"]}
        self.assertEqual(found["duplicate_modules"]["severity"], "warn")
        self.assertIn("jaxlib", found["duplicate_modules"]["message"])
        self.assertIn("jax-both", found["duplicate_modules"]["path"][0])
        self.assertEqual([v["findings"] for n, v in variants.items() if n in ("numpy", "mkl", "nowhere")], [[], [], []])

    def test_a_plan_an_evaluation_and_a_restart_say_the_same(self):
        path = self.farm.dir / "policy.toml"
        path.write_text(MATRIX)
        planned = self.variants({"variants": self.farm.json("plan", str(path))["cells"]})
        self.check(planned)

        self.farm.hydrant("matrix", "apply", str(path))
        self.farm.hydrant("trigger", "policy")
        wait_for("the evaluation", lambda: self.farm.status("policy")["evaluation"]["state"] == "evaluated")
        self.check(self.variants(self.farm.status("policy")))

        grid = self.farm.hydrant("status", "policy").stdout
        self.assertIn("Hydra skips", grid)
        self.assertIn("with findings", grid)
        self.assertIn("private", grid)
        explained = self.farm.hydrant("explain", "jax-both@cuda12.2-py312-x86_64-linux").stdout
        self.assertIn("Hydra would skip it: ", explained)
        self.assertIn("duplicate_modules", explained)
        self.assertIn("### Findings", self.farm.hydrant("report", "1").stdout)
        with urllib.request.urlopen(self.farm.metrics) as metrics:
            self.assertIn('hydrant_findings{matrix="policy",rule="duplicate_modules"} 1', metrics.read().decode())

        self.farm.kill("hydrantd")
        self.farm.start_hydrantd()
        again = self.variants(self.farm.status("policy"))
        for name, variant in again.items():
            for key in ("licence", "hydra", "findings", "tier"):
                self.assertEqual(variant[key], planned[name][key], (name, key))


if __name__ == "__main__":
    unittest.main(verbosity=2)
