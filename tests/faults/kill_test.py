#!/usr/bin/env python3
"""kill -9 of hydrantd, of a worker and of PostgreSQL in the middle of a matrix: the outcome is the same, nothing is built twice
after success, nothing is published without its references or with two hashes."""
import collections
import os
import re
import signal
import sys
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e"))
from farm import CHAIN, ROOT, FarmTest, wait_for

PACKAGES = ["base", "left", "right", "more", "top", "last", "bad", "above"]
EXPECTED = {**{p: "cached" for p in PACKAGES[:6]}, "bad": "failed", "above": "dependency_failed"}


class KillTest(FarmTest):
    options = {"workers": 2, "slots": 1, "lease": "4s"}

    def begin(self):
        tree = self.farm.tree("chain", CHAIN)
        self.farm.matrix("chain", tree, PACKAGES, more='[gate]\nrequired = ["last@*", "left@*"]\n')
        self.hashes = collections.defaultdict(set)
        self.farm.hydrant("trigger", "chain")
        wait_for("something is built", lambda: "cached" in self.look().values())

    def look(self):
        """The states, while noting every published hash."""
        status = self.farm.json("status", "chain")
        for variant in status["variants"]:
            for path in (variant.get("outputs") or {}).values():
                code, text = self.farm.get(f"/{os.path.basename(path)[:32]}.narinfo")
                if code == 200:
                    self.hashes[path].add(re.search(rb"NarHash: (\S+)", text).group(1))
        return {v["package"]: v["state"] for v in status["variants"]}

    def try_look(self):
        try:
            return self.look()
        except AssertionError:
            return None

    def settle(self):
        wait_for("the evaluation settles", lambda: self.farm.json("status", "chain")["evaluation"]["state"] == "settled", 90)
        self.assertEqual(self.look(), EXPECTED)
        for path, hashes in self.hashes.items():
            self.assertEqual(len(hashes), 1, path)
        self.closure_is_published()
        self.nothing_is_built_twice()
        self.farm.hydrant("trigger", "chain", "--wait")  # the gate passed, and passes again
        self.assertEqual(self.attempts(), self.after)

    def closure_is_published(self):
        todo = {os.path.basename(p)[:32] for p in self.hashes}
        seen = set()
        while todo:
            part = todo.pop()
            seen.add(part)
            code, text = self.farm.get(f"/{part}.narinfo")
            self.assertEqual(code, 200, part)
            references = re.search(rb"References: (.*)", text).group(1).decode().split()
            todo |= {r[:32] for r in references} - seen

    def attempts(self):
        """Successful attempts by step, from the log of each."""
        count = collections.Counter()
        for variant in self.farm.json("status", "chain")["variants"]:
            explained = self.farm.json("explain", variant["id"])
            for attempt in explained["attempts"]:
                if attempt["outcome"] == "succeeded":
                    count[explained["derivation"]] += 1
        return count

    def nothing_is_built_twice(self):
        self.after = self.attempts()
        for derivation, count in self.after.items():  # none: its attempt was lost after its last upload
            self.assertEqual(count, 1, derivation)

    def test_hydrantd_is_killed(self):
        self.begin()
        self.farm.kill("hydrantd")
        self.farm.start_hydrantd()
        self.settle()

    def test_a_worker_is_killed_and_its_step_goes_elsewhere(self):
        self.begin()
        wait_for("the worker holds something", lambda: any(
            w["name"] == "worker-1" and w["busy_slots"] for w in self.farm.json("worker", "list")["workers"]))
        self.farm.kill("worker-1")
        self.settle()

    def test_a_worker_is_killed_and_comes_back(self):
        self.begin()
        self.farm.kill("worker-2")
        self.farm.start_worker(2)
        self.settle()

    def test_postgres_is_killed(self):
        self.begin()
        pid = self.farm.postgres_pid()
        os.kill(pid, signal.SIGKILL)
        wait_for("PostgreSQL runs again", lambda: self.farm.postgres_pid() not in (0, pid) and self.try_look() is not None)
        self.settle()

    def test_hydrantd_and_postgres_are_killed(self):
        self.begin()
        os.kill(self.farm.postgres_pid(), signal.SIGKILL)
        self.farm.kill("hydrantd")
        self.farm.start_hydrantd()
        self.settle()


class DemoKillTest(FarmTest):
    """The demo's matrix with everything killed once while it runs."""

    options = {"workers": 3, "gpu_workers": (3,), "lease": "4s"}

    def cached(self):
        try:
            return self.farm.json("status", "demo")["totals"].get("cached", 0)
        except AssertionError:
            return 0

    def metric(self, name, **labels):
        text = urllib.request.urlopen(self.farm.metrics, timeout=10).read().decode()
        total = 0
        for line in text.splitlines():
            if line.startswith(name + "{") and all(f'{k}="{v}"' in line for k, v in labels.items()):
                total += float(line.rsplit(" ", 1)[1])
        return total

    def test_the_outcome_is_that_of_an_undisturbed_run(self):
        self.farm.hydrant("matrix", "apply", str(ROOT / "deploy/examples/demo.toml"))
        self.farm.hydrant("trigger", "demo")
        wait_for("some are cached", lambda: self.cached() >= 5)
        self.farm.kill("hydrantd")
        self.farm.start_hydrantd()
        wait_for("more are cached", lambda: self.cached() >= 15, 120)
        self.farm.kill("worker-2")
        self.farm.start_worker(2)
        wait_for("still more are cached", lambda: self.cached() >= 25, 120)
        os.kill(self.farm.postgres_pid(), signal.SIGKILL)

        def settled():
            try:
                return self.farm.json("status", "demo")["evaluation"]["state"] == "settled"
            except AssertionError:
                return False

        wait_for("it settles", settled, 180)
        status = self.farm.json("status", "demo")
        self.assertEqual(status["totals"], {"cached": 60, "failed": 2, "dependency_failed": 1, "impossible": 10})
        # Each step and each check that succeeded did so once. (Or by an attempt that was lost after its last upload.)
        checks = {c["attempt"] for v in status["variants"] for c in v["checks"] if c["outcome"] == "pass"}
        self.assertLessEqual(self.metric("hydrant_attempts_total", outcome="succeeded"),
                             self.metric("hydrant_steps", state="succeeded") + len(checks))
        for variant in {v["derivation"]: v["id"] for v in status["variants"] if v["state"] == "cached"}.values():
            attempts = self.farm.json("explain", "demo/" + variant)["attempts"]
            self.assertLessEqual(sum(a["outcome"] == "succeeded" for a in attempts), 1, variant)
        self.farm.hydrant("trigger", "demo", "--wait", timeout=300)


if __name__ == "__main__":
    unittest.main(verbosity=2)
