#!/usr/bin/env python3
"""What users see of a running farm, end to end: logs over HTTP, checks and their metrics, the folder of matrices, waiting work."""
import os
import re
import signal
import sys
import unittest
import urllib.request

sys.path.insert(0, os.path.dirname(__file__))
from farm import CHAIN, Farm, FarmTest, wait_for


class StoryTest(FarmTest):
    options = {"workers": 1, "gpu_workers": (1,), "waiting_after": "1s"}

    def metric(self, pattern):
        text = urllib.request.urlopen(self.farm.metrics, timeout=10).read().decode()
        return [line for line in text.splitlines() if re.match(pattern, line)]

    def test_the_log_of_a_published_build_is_served_over_http(self):
        tree = self.farm.tree("loud", """{ ... }: { loud = derivation { name = "loud"; system = builtins.currentSystem; builder = "/bin/sh";
          args = [ "-c" "echo heard it; echo x > $out" ]; }; }""")
        self.farm.matrix("loud", tree, ["loud"])
        self.farm.hydrant("trigger", "loud", "--wait")
        derivation = self.farm.status("loud")["variants"][0]["derivation"]
        code, text = self.farm.get("/log/" + os.path.basename(derivation))
        self.assertEqual((code, text), (200, b"heard it\n"))
        self.assertEqual(self.farm.get("/log/" + "0" * 32 + "-no.drv")[0], 404)

    def test_checks_are_counted_by_their_outcome_and_a_failed_one_publishes_nothing(self):
        tree = self.farm.tree("chain", CHAIN)
        # A build's /bin/sh is there in a check, too.
        check = '[[check]]\nname = "{0}"\nfor = "{1}"\ngpu = {2}\ncommand = ["/bin/sh", "-c", "{3}"]\nenvironment = "output"\n'
        self.farm.matrix("chain", tree, ["base", "left"], more=check.format("fine", "base", "true", "exit 0") + check.format("wrong", "left", "false", "exit 1"))
        self.farm.hydrant("trigger", "chain", "--wait")
        variants = {v["package"]: v for v in self.farm.status("chain")["variants"]}
        self.assertEqual(variants["base"]["state"], "cached")
        self.assertEqual([(c["outcome"], c["architecture"], c["simulated"]) for c in variants["base"]["checks"]], [("pass", "8.6", True)])
        self.assertEqual(variants["left"]["state"], "failed")
        self.assertEqual(self.farm.get(f"/{os.path.basename(variants['left']['outputs']['out'])[:32]}.narinfo")[0], 404)
        self.assertEqual(self.metric(r'hydrant_checks_total\{architecture="8.6",outcome="pass"\} 1'), ['hydrant_checks_total{architecture="8.6",outcome="pass"} 1'])
        self.assertEqual(len(self.metric(r'hydrant_checks_total\{architecture="",outcome="fail"\} 1')), 1)

    def test_what_nobody_can_build_waits_with_the_reason_and_settles(self):
        tree = self.farm.tree("odd", """{ ... }: { odd = derivation { name = "odd"; system = builtins.currentSystem; builder = "/bin/sh";
          requiredSystemFeatures = [ "quantum" ]; args = [ "-c" "echo x > $out" ]; }; }""")
        self.farm.matrix("odd", tree, ["odd"])
        self.farm.hydrant("trigger", "odd")
        wait_for("it settles", lambda: self.farm.status("odd")["evaluation"]["state"] == "settled")
        variant = self.farm.status("odd")["variants"][0]
        self.assertEqual(variant["state"], "waiting")
        self.assertIn("quantum", variant["message"])
        self.assertTrue(self.metric(r'hydrant_steps_waiting\{reason="feature quantum"\} 1'))


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.farm = Farm(workers=0)
        self.addCleanup(self.farm.down)
        self.folder = self.farm.dir / "matrices.d"
        self.folder.mkdir()
        config = self.farm.dir / "hydrantd.toml"
        config.write_text(f'matrices = "{self.folder}"\n' + config.read_text())

    def put(self, file, name):
        (self.folder / file).write_text(f'name = "{name}"\nreason = "r"\n[source]\npath = "/nowhere"\n[axes]\npackage = ["a"]\n')

    def names(self):
        return [m["name"] for m in self.farm.json("matrix", "list")["matrices"]]

    def test_the_folder_is_applied_and_what_left_it_can_be_applied_over(self):
        self.put("one.toml", "one")
        self.farm.start_hydrantd()
        wait_for("the folder is applied", lambda: self.names() == ["one"])
        mine = self.farm.dir / "mine.toml"
        mine.write_text((self.folder / "one.toml").read_text())
        refused = self.farm.hydrant("matrix", "apply", str(mine), check=False)
        self.assertIn("folder of matrices", refused.stderr)
        (self.folder / "one.toml").unlink()
        self.put("two.toml", "two")
        self.farm.processes["hydrantd"].send_signal(signal.SIGHUP)
        wait_for("the folder is read again", lambda: self.names() == ["one", "two"])
        wait_for("what left the folder is free", lambda: self.farm.hydrant("matrix", "apply", str(mine), check=False).returncode == 0)

    def test_a_configuration_that_became_wrong_is_said_and_the_old_one_holds(self):
        self.farm.start_hydrantd()
        config = self.farm.dir / "hydrantd.toml"
        config.write_text(config.read_text().replace("lease =", "leese ="))
        self.farm.processes["hydrantd"].send_signal(signal.SIGHUP)
        wait_for("it is said", lambda: "leese" in self.farm.log("hydrantd") and "old configuration holds" in self.farm.log("hydrantd"))
        self.assertEqual(self.farm.get("/readyz")[0], 200)

    def test_two_files_of_one_name_change_nothing_and_are_named(self):
        self.put("one.toml", "same")
        self.put("two.toml", "same")
        self.farm.start_hydrantd()
        wait_for("it is said", lambda: "two.toml" in self.farm.log("hydrantd") and "one.toml" in self.farm.log("hydrantd"))
        self.assertEqual(self.names(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
