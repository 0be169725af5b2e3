#!/usr/bin/env python3
"""Bad input and broken surroundings: each gets a clear error, and nothing is lost or published."""
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from farm import BIN, CHAIN, ROOT, Farm, FarmTest, wait_for

MATRIX = 'name = "x"\nreason = "r"\n[source]\npath = "."\n[axes]\npackage = ["a"]\n'


class MatrixFileTest(unittest.TestCase):
    """Offline: `hydrant matrix check`."""

    def refused(self, text, *words):
        path = pathlib.Path(self.enterContext_tmp()) / "m.toml"
        path.write_text(text)
        done = subprocess.run([BIN / "hydrant", "matrix", "check", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def enterContext_tmp(self):
        import tempfile
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def test_an_unknown_key_names_the_nearest(self):
        self.refused(MATRIX + 'cudda = ["12.9"]\n', "m.toml:7", "cudda", "cuda")

    def test_a_wrong_type_names_both(self):
        self.refused(MATRIX.replace('["a"]', "7"), "m.toml:6", "package")

    def test_an_empty_axis(self):
        self.refused(MATRIX + "cuda = []\n", "m.toml:7", "cuda")

    def test_a_duplicate_name(self):
        self.refused(MATRIX.replace('["a"]', '["a", "a"]'), "a")

    def test_no_matrix_there(self):
        done = subprocess.run([BIN / "hydrant", "matrix", "check", "/nowhere/m.toml"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nowhere/m.toml", done.stderr)


class ConfigTest(unittest.TestCase):
    def setUp(self):
        self.farm = Farm()
        self.addCleanup(self.farm.down)

    def start(self, old, new):
        path = self.farm.dir / "hydrantd.toml"
        path.write_text(path.read_text().replace(old, new))
        return self.farm.run("hydrantd", "--config", str(path), check=False, timeout=60)

    def test_an_unknown_key(self):
        done = self.start("key_file", "key_fil")
        self.assertEqual(done.returncode, 2)
        self.assertIn("key_file", done.stderr)
        self.assertRegex(done.stderr, r"hydrantd.toml:\d+")

    def test_an_evaluator_that_is_not_there_names_the_setting(self):
        done = self.start("[nix]\n", '[nix]\nevaluator = "/nowhere/nix-eval-jobs"\n')
        self.assertEqual(done.returncode, 1)
        self.assertIn('[nix] evaluator = "/nowhere/nix-eval-jobs": there is no such program', done.stderr)

    def test_an_address_that_is_none_names_the_setting(self):
        done = self.start("[nix]\n", '[nix]\nallowed_uris = ["https://"]\n')
        self.assertEqual(done.returncode, 2)
        self.assertIn("[nix] allowed_uris: 'https://' names no host", done.stderr)

    def test_no_key_names_init(self):
        done = self.start("keys/cache.sec", "keys/absent.sec")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("hydrantd init", done.stderr)

    def test_a_port_in_use(self):
        self.farm.start_hydrantd()
        other = Farm()
        self.addCleanup(other.down)
        path = other.dir / "hydrantd.toml"
        path.write_text(path.read_text().replace(f"127.0.0.1:{other.http_port}", f"127.0.0.1:{self.farm.http_port}"))
        done = other.run("hydrantd", "--config", str(path), check=False, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(self.farm.http_port), done.stderr)

    def test_postgres_down_at_start_is_said_and_waited_for(self):
        path = self.farm.dir / "hydrantd.toml"
        path.write_text(path.read_text().replace(f'embedded = "{self.farm.dir}/pg"', 'url = "host=127.0.0.1 port=1 user=x dbname=x"'))
        self.farm.start_hydrantd(ready=False)
        wait_for("readyz says so", lambda: self.farm.get("/readyz")[0] == 503)
        self.assertEqual(self.farm.get("/healthz")[0], 200)
        self.assertEqual(self.farm.hydrant("status", check=False).returncode, 3)
        self.assertIn("database", self.farm.log("hydrantd"))


# Every way in which a variant of a tree can go wrong, beside good ones.
HOSTILE = """
{ slice ? { }, ... }:
let ok = name: derivation { inherit name; system = builtins.currentSystem; builder = "/bin/sh"; args = [ "-c" "echo ${name} > $out" ]; };
in {
  good = ok "good"; last = ok "last"; round = import ./a.nix; torn = import ./torn.nix; loops = let x = x; in x;
  deep = let f = n: 1 + f (n + 1); in f 0; throws = throw "no such luck"; types = 1 + "a"; disk = builtins.readFile /etc/passwd;
  net = import (builtins.fetchurl "http://127.0.0.1:9/x.nix");
}
"""
CAUSES = {"good": None, "last": None, "round": "stack_overflow", "torn": "syntax_error", "loops": "recursion", "deep": "stack_overflow",
          "throws": "throw", "types": "type_error", "disk": "rule", "net": "rule", "nosuch": "missing_attribute"}


def hostile(farm):
    tree = farm.tree("hostile", HOSTILE)
    (tree / "a.nix").write_text("(import ./b.nix) + 1")
    (tree / "b.nix").write_text("(import ./a.nix) + 1")
    (tree / "torn.nix").write_text("{\n  a = ;\n}")
    farm.matrix("hostile", tree, list(CAUSES))
    farm.hydrant("trigger", "hostile", "--wait", check=False)
    return farm.status("hostile")["variants"]


class EvalJobsFarmTest(FarmTest):
    """The same with `[nix] evaluator` set, by a stand-in for nix-eval-jobs."""

    options = {"workers": 1}

    def setUp(self):
        self.farm = Farm(**self.options)
        self.addCleanup(self.farm.down)
        path = self.farm.dir / "hydrantd.toml"
        path.write_text(path.read_text().replace("[nix]\n", f'[nix]\nevaluator = "{ROOT}/tests/fakes/nix_eval_jobs"\n'))
        self.farm.up()

    def test_a_hostile_tree_has_the_same_outcomes(self):
        self.assertEqual({v["package"]: v.get("cause") or None for v in hostile(self.farm)}, CAUSES)


class FarmInputTest(FarmTest):
    options = {"workers": 1}

    def test_a_hostile_tree_has_one_typed_outcome_each_and_the_rest_goes_on(self):
        variants = hostile(self.farm)
        self.assertEqual({v["package"]: v.get("cause") or None for v in variants}, CAUSES)
        self.assertEqual({v["state"] for v in variants if not CAUSES[v["package"]]}, {"cached"})
        by_package = {v["package"]: v for v in variants}
        self.assertIn("torn.nix:2:7", by_package["torn"]["message"])
        self.assertIn("[nix] allowed_uris", by_package["net"]["message"])

    def test_a_matrix_that_asks_for_more_addresses_than_the_farm_permits_is_refused(self):
        tree = self.farm.tree("chain", CHAIN)
        path = self.farm.matrix("chain", tree, ["base"])
        path.write_text(path.read_text().replace("[axes]", 'allowed_uris = ["https://example.org/"]\n[axes]'))
        done = self.farm.hydrant("matrix", "apply", str(path), check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("asks for https://example.org/; this farm permits none ([nix] allowed_uris of hydrantd)", done.stderr)

    def test_an_unreachable_source_fails_the_evaluation_with_its_path(self):
        tree = self.farm.tree("gone", CHAIN)
        self.farm.matrix("gone", tree, ["base"])
        subprocess.run(["rm", "-rf", tree])
        done = self.farm.hydrant("trigger", "gone", "--wait", check=False)
        self.assertEqual(done.returncode, 1)
        status = self.farm.json("status", "gone")
        self.assertEqual(status["evaluation"]["state"], "failed")
        self.assertIn(str(tree), status["variants"][0]["message"])

    def test_a_worker_with_a_wrong_token_is_refused_and_says_so(self):
        before = self.farm.worker_token
        self.farm.worker_token = "hydrant_wrong"
        self.farm.start_worker(9)
        wait_for("the worker says it", lambda: "nauthenticated" in self.farm.log("worker-9") or "UNAUTHENTICATED" in self.farm.log("worker-9")
                 or "token" in self.farm.log("worker-9"))
        self.farm.worker_token = before
        self.assertNotIn("worker-9", [w["name"] for w in self.farm.json("worker", "list")["workers"]])

    def test_uploads_that_are_not_what_they_claim(self):
        body = b"this is no archive" * 100
        name = nix32(hashlib.sha256(body).digest())
        self.assertEqual(self.farm.get(f"/nar/{name}.nar", method="PUT", body=body)[0], 401)
        self.assertEqual(self.farm.get(f"/nar/{name}.nar", token="wrong", method="PUT", body=body)[0], 401)
        self.assertEqual(self.farm.get(f"/nar/{name}.nar", token=self.farm.worker_token, method="PUT", body=body)[0], 403)
        self.assertEqual(self.farm.get(f"/nar/{name}.nar", token=self.farm.token, method="PUT", body=body)[0], 422)
        self.assertEqual(self.farm.get(f"/nar/{'0' * 52}.nar", token=self.farm.token, method="PUT", body=body)[0], 422)
        self.assertEqual(list((self.farm.dir / "cache/nar").rglob("*.nar*")), [])
        old = {"Hydrant-Attempt": "1", "Hydrant-Token": "1"}
        code, text = self.farm.get(f"/nar/{name}.nar", token=self.farm.worker_token, method="PUT", body=body, headers=old)
        self.assertIn(code, (403, 409), text)

    def test_postgres_down_for_a_while_loses_nothing(self):
        tree = self.farm.tree("chain", CHAIN)
        self.farm.matrix("chain", tree, ["base", "left"])
        self.farm.hydrant("trigger", "chain", "--wait")
        path = self.farm.status("chain")["variants"][0]["outputs"]["out"]
        import signal
        pid = self.farm.postgres_pid()
        os.kill(pid, signal.SIGSTOP)  # hangs rather than dies
        try:
            code, _ = self.farm.get(f"/{os.path.basename(path)[:32]}.narinfo")
            self.assertEqual(code, 200)  # readers are served from memory
            done = self.farm.hydrant("trigger", "chain", check=False, timeout=60)
        finally:
            for line in subprocess.run(["pgrep", "-g", str(os.getpgid(pid))], capture_output=True, text=True).stdout.split():
                os.kill(int(line), signal.SIGCONT)
        self.assertIn(done.returncode, (0, 3))
        wait_for("it works again", lambda: self.farm.hydrant("trigger", "chain", "--wait", check=False).returncode == 0)

    def test_names_that_are_nearly_right(self):
        tree = self.farm.tree("chain", CHAIN)
        self.farm.matrix("chain", tree, ["base"])
        done = self.farm.hydrant("trigger", "chian", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("chain", done.stderr)
        self.farm.hydrant("trigger", "chain", "--wait")
        done = self.farm.hydrant("explain", "bass@cuda12.9-x86_64-linux", check=False)
        self.assertIn("base@cuda12.9", done.stderr)

    def test_a_reader_may_not_apply_or_trigger(self):
        reader = self.farm.new_token("someone", "reader")
        done = self.farm.hydrant("trigger", "chain", token=reader, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("submitter", done.stderr)

    def test_no_server(self):
        done = self.farm.hydrant("--server", "127.0.0.1:1", "status", check=False, timeout=30)
        self.assertEqual(done.returncode, 3)
        self.assertIn("127.0.0.1:1", done.stderr)


def nix32(digest):
    alphabet = "0123456789abcdfghijklmnpqrsvwxyz"
    number = int.from_bytes(digest, "little")
    return "".join(alphabet[(number >> (5 * i)) & 31] for i in reversed(range((len(digest) * 8 - 1) // 5 + 1)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
