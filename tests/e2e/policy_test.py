#!/usr/bin/env python3
"""What is said of variants beside their states, end to end and from a real evaluation: what Hydra would skip, what the
consistency rules find, who may have it; and what is made of that: a refused variant, a path that only readers get."""
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


    def test_a_rule_that_refuses_fails_its_variants_in_the_plan_and_in_the_evaluation(self):
        path = self.farm.dir / "strict.toml"
        path.write_text(MATRIX.replace('"policy"', '"strict"') + '[audit]\nrefuse = ["duplicate_modules"]\n')
        planned = self.variants({"variants": self.farm.json("plan", str(path))["cells"]})
        self.farm.hydrant("matrix", "apply", str(path))
        self.farm.hydrant("trigger", "strict")
        wait_for("the evaluation", lambda: self.farm.status("strict")["evaluation"]["state"] == "evaluated")
        for variants in (planned, self.variants(self.farm.status("strict"))):
            both = variants["jax-both"]
            self.assertEqual((both["state"], both["cause"]), ("failed", "duplicate_modules"))
            self.assertIn("rule duplicate_modules: ", both["message"])
            self.assertEqual({f["rule"]: f["severity"] for f in both["findings"]}["duplicate_modules"], "refuse")
            self.assertNotIn(variants["numpy"]["state"], ("failed", "impossible"))


class TiersTest(FarmTest):
    options = {"workers": 1}

    def answers(self, path):
        """Code and text without a token, and with each kind of token."""
        return [self.farm.get(path, token=token) for token in (None, self.farm.token, self.farm.worker_token)]

    def test_what_is_private_is_there_for_a_token_only(self):
        tree = self.farm.tree("tiers", """{ ... }:
          let made = name: licence: deps: derivation { inherit name deps; system = builtins.currentSystem; builder = "/bin/sh";
                args = [ "-c" "echo making ${name}; echo ${name} $deps > $out" ]; } // { meta.license = licence; };
          in rec {
            open = made "open" { shortName = "mit"; free = true; } [ ];
            closed = made "closed" { shortName = "CUDA EULA"; free = false; } [ open ];
          }""")
        self.farm.matrix("tiers", tree, ["open", "closed"], more='[license]\npublic = ["free"]\nprivate = ["unfree"]\n')
        self.farm.hydrant("trigger", "tiers", "--wait")
        variants = {v["package"]: v for v in self.farm.status("tiers")["variants"]}
        self.assertEqual({n: (v["state"], v["tier"]) for n, v in variants.items()},
                         {"open": ("cached", "public"), "closed": ("cached", "private")})

        # As absent as what was never there, by code and by text.
        for of_package, anonymous in (("open", 200), ("closed", 404)):
            variant = variants[of_package]
            narinfo = f"/{os.path.basename(variant['outputs']['out'])[:32]}.narinfo"
            text = self.answers(narinfo)[1][1].decode()
            archive = "/" + dict(line.split(": ", 1) for line in text.splitlines())["URL"]
            for path in (narinfo, archive, "/log/" + os.path.basename(variant["derivation"])):
                self.assertEqual([code for code, _ in self.answers(path)], [anonymous, 200, 200], path)
        never = self.farm.get("/" + "0" * 32 + ".narinfo")
        self.assertEqual(self.farm.get(narinfo), never)
        self.assertEqual(self.farm.get(narinfo, token="hyd_wrong")[0], 401)

        self.farm.kill("hydrantd")
        self.farm.start_hydrantd()
        self.assertEqual([code for code, _ in self.answers(narinfo)], [404, 200, 200])


if __name__ == "__main__":
    unittest.main(verbosity=2)
