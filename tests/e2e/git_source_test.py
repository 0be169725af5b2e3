#!/usr/bin/env python3
"""A matrix whose source is a git branch: evaluated at its head, moved by a commit, and clear about what is not there."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from farm import Farm, FarmTest

TREE = """{{ ... }}: {{ a = derivation {{ name = "a"; system = builtins.currentSystem; builder = "/bin/sh";
  args = [ "-c" "echo {0} > $out" ]; }}; }}"""


class GitSourceTest(FarmTest):
    """One farm for all; a repository and a matrix each."""

    @classmethod
    def setUpClass(cls):
        cls.farm = Farm(workers=1)
        cls.addClassCleanup(cls.farm.down)
        cls.farm.up()

    def setUp(self):
        self.name = self.id().rsplit("_", 1)[1]
        self.repository = self.farm.dir / f"repository-{self.name}"
        self.repository.mkdir()
        self.recipe = self.farm.tree("recipe", "{ }") / "recipe.nix"
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words):
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=self.repository,
                              env=environment, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, branch, word):
        """A commit on `branch`, which begins where the one before ended; its name."""
        self.git("checkout", "--quiet", "-B", branch)
        (self.repository / "default.nix").write_text(TREE.format(word))
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")
        return self.git("rev-parse", "HEAD")

    def apply(self, branches):
        path = self.farm.dir / f"{self.name}.toml"
        path.write_text(f'name = "{self.name}"\nreason = "a test"\n[source]\ngit = "file://{self.repository}"\nbranches = {branches}\n'
                        f'[nixpkgs]\nrecipe = "{self.recipe}"\n[axes]\npackage = ["a"]\n')
        self.farm.hydrant("matrix", "apply", str(path))
        return path

    def channels(self):
        """This matrix's, by what is behind its name."""
        return {c["name"].removeprefix(self.name): c["revision"] for c in self.farm.json("channel", "list")["channels"]
                if c["matrix"] == self.name}

    def test_a_commit_moves_the_channel_and_an_old_one_is_evaluated_for_nothing(self):
        first = self.commit("main", "one")
        file = self.apply('["main"]')
        self.assertEqual(self.farm.json("plan", str(file))["revision"], first)
        self.farm.hydrant("trigger", self.name, "--wait")
        self.assertEqual(self.channels(), {"": first})
        second = self.commit("main", "two")
        self.farm.hydrant("trigger", self.name, "--wait")
        self.assertEqual(self.channels(), {"": second})
        self.assertEqual(self.farm.states(self.name), {"a": "cached"})

    def test_each_branch_has_an_evaluation_and_a_channel_and_a_commit_moves_only_its_own(self):
        old = self.commit("old", "one")
        new = self.commit("new", "two")
        self.apply('["old", "new"]')
        self.farm.hydrant("trigger", self.name, "--wait")
        self.assertEqual(self.channels(), {"-old": old, "-new": new})
        newer = self.commit("new", "three")
        self.farm.hydrant("trigger", self.name, "--wait")
        self.assertEqual(self.channels(), {"-old": old, "-new": newer})
        evaluations = self.farm.json("evaluation", "list", self.name)["evaluations"]
        self.assertEqual([(e["branch"], e["revision"]) for e in evaluations],
                         [("new", newer), ("old", old), ("new", new), ("old", old)])
        self.assertEqual(self.farm.json("status", self.name, "--branch", "old")["evaluation"]["id"], evaluations[1]["id"])
        self.assertEqual(len(self.farm.json("evaluation", "list", self.name, "--branch", "old")["evaluations"]), 2)

    def test_every_verb_that_means_an_evaluation_takes_a_branch(self):
        self.commit("old", "one")
        self.commit("new", "two")
        self.apply('["old", "new"]')
        self.farm.hydrant("trigger", self.name, "--wait")
        (listed,) = [m for m in self.farm.json("matrix", "list")["matrices"] if m["name"] == self.name]
        old, new = (branch["evaluation"]["id"] for branch in listed["branches"])
        self.assertEqual([(b["branch"], b["totals"]) for b in listed["branches"]], [("old", {"cached": 1}), ("new", {"cached": 1})])
        self.assertIn("old", self.farm.hydrant("matrix", "list").stdout)
        def variant(branch):
            return self.farm.json("status", self.name, "--branch", branch)["variants"][0]
        address = f"{self.name}/{variant('old')['id']}"
        for branch in "old", "new":
            of = ["--branch", branch]
            self.assertEqual(self.farm.json("explain", address, *of)["derivation"], variant(branch)["derivation"])
            self.assertEqual(self.farm.json("report", self.name, *of)["evaluation"]["branch"], branch)
            self.assertIn(variant(branch)["outputs"]["out"], self.farm.hydrant("use", address, "--format", "shebang", *of).stdout)
            self.assertIn("attempt", self.farm.json("log", address, *of))
        self.assertNotEqual(self.farm.json("log", address, "--branch", "old")["attempt"], self.farm.json("log", address)["attempt"])
        compared = self.farm.json("report", self.name, "--branch", "new", "--against-branch", "old")
        self.assertEqual((compared["before"]["id"], compared["after"]["id"]), (old, new))
        refused = self.farm.hydrant("retry", "--matrix", self.name, "--branch", "nwe", check=False)
        self.assertEqual((refused.returncode, "nearest is 'new'" in refused.stderr), (2, True), refused.stderr)

    def test_what_was_asked_for_by_revision_is_evaluated_and_moves_no_channel(self):
        old = self.commit("old", "one")
        first = self.commit("new", "two")
        second = self.commit("new", "three")
        file = self.apply('["old", "new"]')
        self.assertEqual(self.farm.json("plan", str(file))["revision"], old)
        self.assertEqual(self.farm.json("plan", str(file), "--branch", "new", "--rev", first)["revision"], first)
        self.farm.hydrant("trigger", self.name, "--wait")
        self.farm.hydrant("trigger", self.name, "--branch", "new", "--rev", first, "--wait")
        evaluation = self.farm.status(self.name)["evaluation"]
        self.assertEqual((evaluation["branch"], evaluation["revision"], evaluation["state"]), ("new", first, "settled"))
        self.assertEqual(self.channels(), {"-old": old, "-new": second})
        for words, way_out in [(["--branch", "nwe"], "nearest is 'new'"), (["--rev", first], "name the one")]:
            refused = self.farm.hydrant("trigger", self.name, *words, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(way_out, refused.stderr)

    def test_a_revision_that_vanished_fails_its_evaluation_and_the_other_branch_goes_on(self):
        new = self.commit("new", "one")
        vanished = self.commit("old", "two")
        self.git("checkout", "--quiet", "new")
        self.git("branch", "--quiet", "-D", "old")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "--quiet", "--prune=now")
        self.apply('["old", "new"]')
        ended = self.farm.hydrant("trigger", self.name, "--wait", "--output", "json", check=False)
        self.assertEqual(ended.returncode, 1)
        old_end, new_end = (e["evaluation"] for e in json.loads(ended.stdout)["evaluations"])
        self.assertEqual((old_end["state"], new_end["state"]), ("failed", "settled"))
        self.assertIn("there is no branch 'old'", old_end["message"])
        self.assertEqual(self.channels(), {"-new": new})
        ended = self.farm.hydrant("trigger", self.name, "--branch", "old", "--rev", vanished, "--wait", check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(vanished, self.farm.json("status", self.name, "--branch", "old")["evaluation"]["message"])

    def test_a_branch_that_is_not_there_fails_the_evaluation_with_the_nearest(self):
        self.commit("stable", "one")
        self.apply('["stabel"]')
        self.assertEqual(self.farm.hydrant("trigger", self.name, "--wait", check=False).returncode, 1)
        evaluation = self.farm.status(self.name)["evaluation"]
        self.assertEqual(evaluation["state"], "failed")
        self.assertIn("'stable'", self.farm.hydrant("evaluation", "list", self.name).stdout)

    def test_a_transport_helper_is_refused_before_anything_runs(self):
        path = self.farm.dir / "bad.toml"
        path.write_text('name = "bad"\nreason = "a test"\n[source]\ngit = "ext::touch%20x"\n[axes]\npackage = ["a"]\n')
        refused = self.farm.hydrant("matrix", "apply", str(path), check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("ransport helper", refused.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
