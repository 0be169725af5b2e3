#!/usr/bin/env python3
"""What a matrix would cost: unknown before anything ran, nothing after, and one more value's price, also after a restart."""
import http.server
import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from farm import CHAIN, ROOT, FarmTest, wait_for

MATRIX = """name = "cost"
reason = "a test"
[source]
path = "{tree}"
[nixpkgs]
recipe = "2022"
[axes]
package = ["python3Packages.jax", "python3Packages.pytorchWithCuda", "magma"]
cuda = ["12.2", "12.6"]
python = ["python311"]
system = ["x86_64-linux"]
[[check]]
name = "torch-cuda"
for = "pytorchWithCuda@*"
gpu = true
command = ["python3", "-c", "import torch; assert torch.cuda.is_available(); torch.cuda.saxpy()"]
"""


class PlanTest(FarmTest):
    options = {"workers": 2, "gpu_workers": (1,)}

    def plan(self, *words):
        return self.farm.json("plan", str(self.file), *words)

    def refusal(self, value):
        done = self.farm.hydrant("plan", str(self.file), "--add", value, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_history_tells_what_one_more_value_costs(self):
        self.file = self.farm.dir / "cost.toml"
        self.file.write_text(MATRIX.format(tree=ROOT / "tests/nixpkgs"))
        first = self.plan()
        self.assertEqual(first["variants"], {"pending": 6})
        self.assertEqual(first["estimate"]["unknown"], first["steps"]["build"])
        self.assertEqual([first["estimate"][key] for key in ("core_hours", "gpu_minutes", "bytes", "wall_seconds")], [None] * 4)

        self.farm.hydrant("matrix", "apply", str(self.file))
        self.farm.hydrant("trigger", "cost", "--wait")
        again = self.plan()
        self.assertEqual(again["steps"]["build"], 0)
        self.assertEqual(again["present_in"], {"ours": again["steps"]["present"]})
        self.assertEqual([again["estimate"][key] for key in ("core_hours", "gpu_minutes", "bytes", "unknown", "wall_seconds")], [0] * 5)

        # jax knows nothing of CUDA: one step for both.
        jax = [v for v in self.farm.status("cost")["variants"] if v["package"].endswith("jax")]
        self.assertEqual(jax[0]["shared_with"], [jax[1]["id"]])
        self.assertIn("The same letter in a row", self.farm.hydrant("status", "cost").stdout)
        self.assertIn("The same step serves\n  " + jax[1]["id"], self.farm.hydrant("explain", jax[0]["id"]).stdout)

        values = ("--add", "cuda=12.9", "--add", "python=python312", "--add", "package=cudnn")
        more = self.plan(*values)
        self.assertEqual(more["steps"], again["steps"], "the matrix as it is")
        price = more["addition"]["difference"]
        self.assertEqual(more["addition"]["with"]["variants"], {"cached": 9, "impossible": 6, "pending": 9},
                         "jax of another CUDA and magma of another Python are there already")
        self.assertEqual(price["variants"], {"cached": 3, "impossible": 6, "pending": 9})
        self.assertGreater(price["steps"]["build"], 0)
        self.assertLess(price["estimate"]["unknown"], price["steps"]["build"], "most of it was built for another CUDA or Python")
        for figure in ("core_hours", "gpu_minutes", "bytes", "wall_seconds"):
            self.assertGreater(price["estimate"][figure], 0, figure)
        self.assertLessEqual(price["estimate"]["wall_seconds"], price["estimate"]["wall_seconds_at_most"])
        self.assertEqual(len(price["estimate"]["longest"]), 5)
        causes = {cell["cause"] for cell in more["addition"]["cells"] if cell["state"] == "impossible"}
        self.assertEqual(causes, {"removed"})
        text = self.farm.hydrant("plan", str(self.file), *values).stdout
        for words in ("cost with cuda=12.9 python=python312 package=cudnn", "core-hours", "as it is", "never built here"):
            self.assertIn(words, text)

        # The record keeps it.
        self.farm.kill("hydrantd")
        self.farm.start_hydrantd()
        wait_for("both workers are back", lambda: self.plan()["estimate"]["workers"] == 2)
        later = self.plan(*values)["addition"]["difference"]["estimate"]
        for figure in ("unknown", "unknown_checks", "bytes"):
            self.assertEqual(later[figure], price["estimate"][figure], figure)
        self.assertAlmostEqual(later["core_hours"], price["estimate"]["core_hours"], delta=later["core_hours"] / 2)

        self.assertIn("no axis 'cudda'; the nearest is 'cuda'", self.refusal("cudda=13.1"))
        self.assertIn("cuda '12.6' is in the matrix already (12.2, 12.6)", self.refusal("cuda=12.6"))
        self.assertIn("does not declare the axis 'blas'", self.refusal("blas=mkl"))


class DownloadTest(FarmTest):
    """With a cache upstream that says what the test puts into `held`: hash part -> narinfo."""

    def setUp(self):
        self.held = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(handler):
                text = self.held.get(handler.path[1:].removesuffix(".narinfo"), "").encode()
                handler.send_response(200 if text else 404)
                handler.send_header("Content-Length", str(len(text)))
                handler.end_headers()
                handler.wfile.write(text)

            def log_message(handler, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.options = {"workers": 0, "config": f'[upstream]\nsubstituters = ["http://127.0.0.1:{server.server_port}"]\n'}
        super().setUp()

    def hold(self, path, more):
        self.held[path[11:43]] = f"StorePath: {path}\nURL: nar/x\nCompression: xz\n{more}NarHash: sha256:{'0' * 52}\nNarSize: 9000000\n"

    def test_what_other_caches_hold_is_told_in_bytes_and_what_waits_already_is_counted(self):
        tree = self.farm.tree("chain", CHAIN)
        everything = self.farm.json("plan", str(self.farm.matrix("all", tree, ["top", "left", "right", "more"])))
        self.assertEqual(everything["estimate"]["downloads"], 0)
        outputs = {cell["package"]: cell["outputs"]["out"] for cell in everything["cells"]}
        self.farm.kill("hydrantd")  # it remembers what is absent for a minute
        self.hold(outputs["left"], "FileSize: 5000000\n")
        self.hold(outputs["right"], "")
        self.farm.start_hydrantd()
        file = str(self.farm.matrix("one", tree, ["top"]))
        estimate = self.farm.json("plan", file)["estimate"]
        self.assertEqual([estimate[key] for key in ("downloads", "download_bytes", "unknown_downloads")], [2, 5000000, 1])
        self.assertEqual(estimate["backlog"], {"running": 0, "waiting": 0, "unknown": 0})
        self.assertIn("Download 2 outputs, 4.8 MiB (1 of unknown size)", self.farm.hydrant("plan", file).stdout)

        self.farm.matrix("before", tree, ["more"])
        self.farm.hydrant("trigger", "before")
        wait_for("its steps wait", lambda: set(self.farm.states("before").values()) <= {"pending", "ready"} and
                 self.farm.status("before")["evaluation"]["state"] == "evaluated")
        self.assertEqual(self.farm.json("plan", file)["estimate"]["backlog"], {"running": 0, "waiting": 2, "unknown": 2})


if __name__ == "__main__":
    unittest.main(verbosity=2)
