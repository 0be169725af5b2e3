#!/usr/bin/env python3
"""A matrix that lists no packages: what cudaSupport changes of tests/nixpkgs, evaluated by the real Nix, built, and kept."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from farm import ROOT, FarmTest


class DerivedListTest(FarmTest):
    options = {"workers": 1}

    def apply(self, name, words):
        path = self.farm.dir / f"{name}.toml"
        path.write_text(f'name = "{name}"\nreason = "a test"\n[source]\npath = "{ROOT}/tests/nixpkgs"\n[axes]\n'
                        f'package = {{ changed_by = "cudaSupport", filter = {words} }}\ncuda = ["12.6", "12.9"]\npython = ["python312"]\n')
        applied = self.farm.hydrant("matrix", "apply", str(path)).stdout
        self.assertIn("each evaluation derives its packages", applied)
        return path

    def test_the_list_is_derived_built_and_the_same_after_a_restart(self):
        file = self.apply("derived", '["a", "b", "magma"]')
        shown = self.farm.hydrant("matrix", "show", str(file), check=False)
        self.assertEqual(shown.returncode, 2)
        self.assertIn("needs an evaluation", shown.stderr)
        plan = self.farm.json("plan", str(file))
        self.assertEqual(plan["variants"], {"pending": 4})
        self.farm.hydrant("trigger", "derived", "--wait")
        first = self.farm.status("derived")
        cells = [(v["package"], v["slice"]["cuda"], v["state"]) for v in first["variants"]]
        self.assertEqual(cells, [(f"python3Packages.{name}", cuda, "cached") for name in "ab" for cuda in ("12.6", "12.9")])
        self.assertIn("cudaSupport changes 2 of 3 packages that the filter keeps", first["notes"])

        self.farm.kill("hydrantd")
        self.farm.start_hydrantd()
        self.assertEqual(self.farm.status("derived"), first)
        self.farm.hydrant("trigger", "derived", "--wait")
        again = self.farm.status("derived")
        self.assertEqual((again["variants"], again["notes"]), (first["variants"], first["notes"]))
        self.assertEqual(self.farm.json("plan", str(file))["variants"], {"cached": 4})

        self.apply("empty", '["magma", "saxp*"]')
        self.assertEqual(self.farm.hydrant("trigger", "empty", "--wait", check=False).returncode, 1)
        evaluation = self.farm.status("empty")["evaluation"]
        self.assertEqual(evaluation["state"], "failed")
        self.assertIn("cudaSupport changes no package that the filter (magma saxp*) leaves", evaluation["message"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
