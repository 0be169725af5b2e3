#!/usr/bin/env python3
"""A real Prometheus scrapes a farm with our configuration and rules; promtool accepts what hydrantd serves."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(__file__))
from farm import CHAIN, ROOT, FarmTest, free_ports, wait_for

# interface.md, "Metrics": those that exist by now.
NAMES = ["hydrant_variants", "hydrant_steps", "hydrant_attempts_total", "hydrant_attempt_duration_seconds", "hydrant_lease_grant_seconds",
         "hydrant_lease_expirations_total", "hydrant_workers", "hydrant_worker_slots", "hydrant_gpus", "hydrant_evaluation_duration_seconds", "hydrant_evaluation_cache_total",
         "hydrant_evaluation_age_seconds", "hydrant_channel_lag_seconds", "hydrant_cache_bytes", "hydrant_cache_requests_total",
         "hydrant_upload_bytes_total", "hydrant_db_query_seconds"]


class PrometheusTest(FarmTest):
    options = {"workers": 2, "gpu_workers": (2,)}

    def setUp(self):
        super().setUp()
        tree = self.farm.tree("chain", CHAIN)
        self.farm.matrix("chain", tree, ["base", "left"])
        self.farm.hydrant("trigger", "chain", "--wait")

    def test_promtool_accepts_the_metrics_and_every_name_is_there(self):
        text = urllib.request.urlopen(self.farm.metrics, timeout=10).read()
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
        # The exposer's own series are not ours to name.
        ours = [line for line in checked.stderr.decode().splitlines() if line.startswith("hydrant_")]
        self.assertEqual(ours, [])
        for name in NAMES:
            self.assertRegex(text.decode(), re.compile(f"^{name}", re.M))

    def test_prometheus_scrapes_and_evaluates_the_rules(self):
        port, = free_ports(1)
        folder = self.farm.dir / "prometheus"
        folder.mkdir()
        shutil.copy(ROOT / "deploy/prometheus/rules.yml", folder)
        config = (ROOT / "deploy/prometheus/prometheus.yml").read_text()
        config = config.replace("127.0.0.1:9581", f"127.0.0.1:{self.farm.metrics_port}").replace("15s", "1s")
        (folder / "prometheus.yml").write_text(config)
        self.farm.start("prometheus", shutil.which("prometheus"), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                        f"--web.listen-address=127.0.0.1:{port}")

        def ask(path):
            try:
                return json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=5))["data"]
            except OSError:
                return None

        def query(expression):
            data = ask("query?query=" + urllib.parse.quote(expression))
            return data and data["result"]

        wait_for("the farm is up in Prometheus", lambda: (query('up{job="hydrant"} == 1') or None))
        found = wait_for("the variants are scraped", lambda: query('hydrant_variants{matrix="chain",state="cached"} == 2') or None)
        self.assertEqual(len(found), 1)
        self.assertEqual(query('sum(hydrant_attempts_total{outcome="succeeded"})')[0]["value"][1], "2")
        self.assertTrue(query('hydrant_gpus{simulated="true",architecture="8.6"}'))
        rules = wait_for("the rules are evaluated", lambda: [
            r for g in (ask("rules") or {"groups": []})["groups"] for r in g["rules"]] or None)
        wait_for("all rules are healthy", lambda: all(
            r["health"] == "ok" for g in ask("rules")["groups"] for r in g["rules"]))
        self.assertGreaterEqual(len(rules), 7)


if __name__ == "__main__":
    unittest.main(verbosity=2)
