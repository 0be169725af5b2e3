"""This machine's Nix and Debian 13's beside it, each with a store of its own under a temporary folder. Run by `with --beside`."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("HYDRANT_BIN_DIR", ROOT / "build/bin"))


class Nix:
    def __init__(self, name, commands, folder):
        self.name, self.commands, self.folder, self.calls = name, commands, folder / name, 0
        self.store = self.folder / "store"
        self.store.mkdir(parents=True)
        self.version = self.run("nix", "--version").stdout.split()[-1]

    def run(self, *command, config="", check=True, fresh_cache=False, stdin=None):
        """A Nix command on this store, in the sandbox, without substituters. `fresh_cache`: forgets what caches said before."""
        self.calls += fresh_cache
        env = {
            "PATH": f"{self.commands}:{os.environ['PATH']}",
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.folder / f"cache{self.calls}"),
            "NIX_CONF_DIR": str(self.folder / "conf"),
            "NIX_REMOTE": str(self.store),
            "NIX_CONFIG": "experimental-features = nix-command\nsubstituters =\nbuild-users-group =\nsandbox = true\n"
                          f"sandbox-fallback = false\nsandbox-paths = /bin/sh=/bin/busybox\n{config}",
        }
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=env, timeout=120, check=False,
                              input=stdin, cwd=self.folder)
        if check and done.returncode != 0:
            raise AssertionError(f"Nix {self.name}: {' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
        return done

    def real(self, path):
        return pathlib.Path(f"{self.store}{path}")

    def instantiate(self, expression):
        return self.run("nix-instantiate", "-E", expression).stdout.strip()

    def build(self, expression):
        return self.run("nix-store", "--realise", self.instantiate(expression)).stdout.split()[-1]


class TwoNixes(unittest.TestCase):
    """`old` is this machine's Nix, `new` Debian 13's."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hyd-two-"))
        self.addCleanup(self.remove)
        self.old = Nix("old", pathlib.Path(shutil.which("nix")).parent, self.folder)
        self.new = Nix("new", pathlib.Path(os.environ["NEWER_NIX_BIN"]), self.folder)
        self.assertNotEqual(self.old.version, self.new.version)

    def remove(self):
        subprocess.run(["chmod", "-R", "u+w", str(self.folder)], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)


def hydrant(*args, stdin=""):
    """What `hydrant` prints; stdin may be text or bytes."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    return subprocess.run([str(BIN / "hydrant"), *map(str, args)], input=data, capture_output=True, timeout=120, check=False)


def classify(stage, text):
    done = hydrant("inspect", "classify", "--stage", stage, "--output", "json", stdin=text)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return json.loads(done.stdout)
