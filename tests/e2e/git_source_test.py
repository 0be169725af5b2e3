#!/usr/bin/env python3
"""A matrix whose source is a git branch: evaluated at its head, moved by a commit, and clear about what is not there."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from farm import FarmTest

TREE = """{{ ... }}: {{ a = derivation {{ name = "a"; system = builtins.currentSystem; builder = "/bin/sh";
  args = [ "-c" "echo {0} > $out" ]; }}; }}"""


class GitSourceTest(FarmTest):
    options = {"workers": 1}

    def setUp(self):
        super().setUp()
        self.repository = self.farm.dir / "repository"
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

    def apply(self, name, branches):
        path = self.farm.dir / f"{name}.toml"
        path.write_text(f'name = "{name}"\nreason = "a test"\n[source]\ngit = "file://{self.repository}"\nbranches = {branches}\n'
                        f'[nixpkgs]\nrecipe = "{self.recipe}"\n[axes]\npackage = ["a"]\n')
        self.farm.hydrant("matrix", "apply", str(path))
        return path

    def channels(self):
        return {c["name"]: c["revision"] for c in self.farm.json("channel", "list")["channels"]}

    def test_a_commit_moves_the_channel_and_an_old_one_is_evaluated_for_nothing(self):
        first = self.commit("main", "one")
        file = self.apply("git", '["main"]')
        self.assertEqual(self.farm.json("plan", str(file))["revision"], first)
        self.farm.hydrant("trigger", "git", "--wait")
        self.assertEqual(self.channels(), {"git": first})
        second = self.commit("main", "two")
        self.farm.hydrant("trigger", "git", "--wait")
        self.assertEqual(self.channels(), {"git": second})
        self.assertEqual(self.farm.states("git"), {"a": "cached"})

    def test_a_branch_that_is_not_there_fails_the_evaluation_with_the_nearest(self):
        self.commit("stable", "one")
        self.apply("git", '["stabel"]')
        self.assertEqual(self.farm.hydrant("trigger", "git", "--wait", check=False).returncode, 1)
        evaluation = self.farm.status("git")["evaluation"]
        self.assertEqual(evaluation["state"], "failed")
        self.assertIn("'stable'", self.farm.hydrant("evaluation", "list", "git").stdout)

    def test_a_transport_helper_is_refused_before_anything_runs(self):
        path = self.farm.dir / "bad.toml"
        path.write_text('name = "bad"\nreason = "a test"\n[source]\ngit = "ext::touch%20x"\n[axes]\npackage = ["a"]\n')
        refused = self.farm.hydrant("matrix", "apply", str(path), check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("ransport helper", refused.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
