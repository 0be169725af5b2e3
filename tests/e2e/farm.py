"""A whole farm of real processes in a temporary folder: hydrantd with its own PostgreSQL, workers with isolated stores.

For end-to-end stories and faults. Waits are on observable events, each with a deadline; nothing is left running.
"""
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("HYDRANT_BIN_DIR", ROOT / "build/bin"))
BUSYBOX = shutil.which("busybox") or "/bin/busybox"


def free_ports(count):
    """Distinct ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def wait_for(what, condition, seconds=60, pause=0.05):
    """The first true value of condition(); an AssertionError that names `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(pause)


class Farm:
    def __init__(self, workers=2, slots=2, gpu_workers=(), config="", lease="5s", waiting_after="60s", matrices=""):
        # Short, and reachable for a database server that dropped root.
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="hyd-"))
        self.dir.chmod(0o755)
        self.http_port, self.grpc_port, self.metrics_port = free_ports(3)
        self.http = f"http://127.0.0.1:{self.http_port}"
        self.server = f"127.0.0.1:{self.grpc_port}"
        self.metrics = f"http://127.0.0.1:{self.metrics_port}/metrics"
        self.processes = {}
        self.gpu_workers, self.slots, self.worker_count = set(gpu_workers), slots, workers
        made = self.run("hydrantd", "init", str(self.dir / "daemon"), "--key-name", "test-1").stdout
        words = dict(line.rsplit(" ", 1) for line in made.splitlines() if line.startswith(("public key", "operator token")))
        self.public_key = [v for k, v in words.items() if k.startswith("public key")][0]
        self.token = [v for k, v in words.items() if k.startswith("operator token")][0]
        self.worker_token = self.new_token("workers", "worker")
        (self.dir / "hydrantd.toml").write_text(f"""{matrices}
[database]
embedded = "{self.dir}/pg"
[grpc]
listen = "{self.server}"
[http]
listen = "127.0.0.1:{self.http_port}"
[metrics]
listen = "127.0.0.1:{self.metrics_port}"
[auth]
tokens = "{self.dir}/daemon/tokens"
[nix]
store = "{self.dir}/store/hydrantd"
[cache]
directory = "{self.dir}/cache"
key_file = "{self.dir}/daemon/keys/cache.sec"
[schedule]
lease = "{lease}"
backoff = "200ms"
waiting_after = "{waiting_after}"
{config}""")

    # ---- Programs
    def new_token(self, name, role):
        return self.run("hydrantd", "token", "new", name, "--role", role, "--tokens", str(self.dir / "daemon/tokens")).stdout.strip()

    def run(self, program, *args, check=True, token=None, timeout=120, env=None):
        environment = {**os.environ, "HYDRANT_SERVER": self.server, "HYDRANT_TOKEN": token or getattr(self, "token", ""), **(env or {})}
        done = subprocess.run([str(BIN / program), *args], capture_output=True, text=True, timeout=timeout, env=environment, cwd=ROOT)
        if check and done.returncode != 0:
            raise AssertionError(f"{program} {' '.join(args)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def hydrant(self, *args, **options):
        return self.run("hydrant", *args, **options)

    def json(self, *args):
        return json.loads(self.hydrant(*args, "--output", "json").stdout)

    def start(self, name, *argv):
        with open(self.dir / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen([str(a) for a in argv], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                                    start_new_session=True)

    def start_hydrantd(self, ready=True):
        self.start("hydrantd", BIN / "hydrantd", "--config", self.dir / "hydrantd.toml")
        if ready:
            wait_for("hydrantd is ready", lambda: self.alive("hydrantd") and self.get("/readyz")[0] == 200)

    def start_worker(self, number):
        name = f"worker-{number}"
        gpu = '[[gpu]]\narchitecture = "8.6"\nmemory = "24GB"\ndriver = "550.54.14"\nsimulated = true\n' if number in self.gpu_workers else ""
        (self.dir / f"{name}.toml").write_text(f"""name = "{name}"
server = "{self.server}"
token_file = "{self.dir}/worker.token"
spool = "{self.dir}/{name}"
[nix]
store = "{self.dir}/store/{name}"
sandbox_paths = ["/bin/sh={BUSYBOX}"]
[offer]
slots = {self.slots}
{gpu}""")
        (self.dir / "worker.token").write_text(self.worker_token)
        (self.dir / "worker.token").chmod(0o600)
        self.start(name, BIN / "hydrant-worker", "--config", self.dir / f"{name}.toml")

    def up(self):
        self.start_hydrantd()
        for number in range(1, self.worker_count + 1):
            self.start_worker(number)
        wait_for("all workers are connected", lambda: sum(
            w["state"] == "connected" for w in self.json("worker", "list")["workers"]) >= self.worker_count)
        return self

    def alive(self, name):
        process = self.processes[name]
        if process.poll() is not None:
            raise AssertionError(f"{name} ended with {process.returncode}:\n{self.log(name)[-2000:]}")
        return True

    def log(self, name):
        return (self.dir / f"{name}.log").read_text(errors="replace")

    def kill(self, name):
        """SIGKILL, and reap."""
        self.processes[name].kill()
        self.processes[name].wait()

    def postgres_pid(self):
        """0 while there is none."""
        try:
            return int((self.dir / "pg/data/postmaster.pid").read_text().splitlines()[0])
        except (OSError, ValueError, IndexError):
            return 0

    # ---- HTTP
    def get(self, path, token=None, method="GET", body=None, headers=None):
        request = urllib.request.Request(self.http + path, method=method, data=body, headers=headers or {})
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except (OSError, http.client.HTTPException):
            return 0, b""

    # ---- Matrices
    def tree(self, name, text):
        """A one-file source tree."""
        folder = self.dir / "trees" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "default.nix").write_text(text)
        (folder / "recipe.nix").write_text("{ nixpkgs, slice, ... }: import nixpkgs { inherit slice; }\n")
        return folder

    def matrix(self, name, tree, packages, more="", cuda=("12.9",)):
        path = self.dir / f"{name}.toml"
        path.write_text(f"""name = "{name}"
reason = "a test"
[source]
path = "{tree}"
[nixpkgs]
recipe = "{tree}/recipe.nix"
[axes]
package = {json.dumps(list(packages))}
cuda = {json.dumps(list(cuda))}
{more}""")
        self.hydrant("matrix", "apply", str(path))
        return path

    def status(self, matrix):
        return json.loads(self.hydrant("status", matrix, "--output", "json").stdout)

    def states(self, matrix):
        return {v["package"]: v["state"] for v in self.status(matrix)["variants"]}

    def down(self):
        for name in sorted(self.processes, key=lambda n: n == "hydrantd"):
            process = self.processes[name]
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                if name != "hydrantd":
                    process.send_signal(signal.SIGINT)
        for name, process in self.processes.items():
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if pid := self.postgres_pid():
            try:
                os.kill(pid, signal.SIGQUIT)
            except OSError:
                pass
        if os.environ.get("KEEP"):
            print(f"kept {self.dir}", file=sys.stderr)
            return
        subprocess.run(["chmod", "-R", "u+w", str(self.dir)], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.dir, ignore_errors=True)


class FarmTest(unittest.TestCase):
    """A test with a farm of its own; its logs are shown when it fails."""

    options = {}

    def setUp(self):
        self.farm = Farm(**self.options)
        self.addCleanup(self.farm.down)
        self.farm.up()

    def run(self, result=None):
        before = len(result.failures) + len(result.errors) if result else 0
        super().run(result)
        if result and len(result.failures) + len(result.errors) > before and getattr(self, "farm", None):
            for log in sorted(self.farm.dir.glob("*.log")):
                print(f"---- {log.name}\n{log.read_text(errors='replace')[-3000:]}", file=sys.stderr)


# A package set of steps that take a while, so that something runs when something is killed.
CHAIN = """
{ slice ? { }, ... }:
let
  sh = name: script: deps: derivation { inherit name; system = builtins.currentSystem; builder = "/bin/sh"; args = [ "-c" script ]; inherit deps; };
  slow = name: deps: sh name "sleep ${toString 0.5}; echo ${name} $deps > $out" deps;
in rec {
  base = slow "base" [ ];
  left = slow "left" [ base ];
  right = slow "right" [ base ];
  more = slow "more" [ base ];
  top = slow "top" [ left right ];
  last = slow "last" [ top more ];
  bad = sh "bad" "echo this is bound to fail; exit 3" [ base ];
  above = slow "above" [ bad ];
}
"""
