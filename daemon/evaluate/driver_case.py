"""What the checks of driver.nix and of the recipes share: one run of the driver with the stock Nix that is here, on a store of
its own."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.join(HERE, "../../tests/nixpkgs")
TREE = os.path.realpath(TREE)
DRIVER = os.path.join(HERE, "driver.nix")
SLICE = {"system": "x86_64-linux", "cuda": "12.6", "python": "python312"}


class DriverCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hydrant-driver.")

    @classmethod
    def tearDownClass(cls):
        subprocess.run(["chmod", "-R", "u+w", cls.folder], check=False)
        shutil.rmtree(cls.folder, ignore_errors=True)

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def nix(self, *command, stdin=None):
        return subprocess.run([TREE + "/in-store", self.folder + "/machine", *command], input=stdin,
                              capture_output=True, text=True, cwd=self.folder, check=False)

    def request(self, names, **given):
        request = {"nixpkgs": TREE, "recipe": "2022", "slice": SLICE} | given
        request["names"] = [{"id": n, "path": n.split("."), "env": n.startswith("python")} for n in names]
        return self.file("in.json", json.dumps(request))

    def driver(self, attribute, source, *more):
        return self.nix("nix-instantiate", "--eval", "--strict", "--read-write-mode", "--option",
                        "allow-import-from-derivation", "false", "--argstr", "input", source, "-A", attribute, *more, DRIVER)

    def run_names(self, names, **given):
        """One run: [(mark, rest)], and what nix said when it died ("" when it did not)."""
        result = self.driver("run", self.request(names, **given))
        lines = [line[8:] for line in result.stderr.splitlines() if line.startswith("trace: @")]
        self.slice_line = json.loads(lines.pop(0)[2:]) if lines and lines[0].startswith("S ") else None
        self.assertEqual(result.returncode == 0, lines[-1:] == ["Z"], result.stderr)
        return [(line[0], line[2:]) for line in lines], result.stderr if result.returncode else ""

    def marks(self, names, **given):
        lines, died = self.run_names(names, **given)
        return "".join(mark for mark, _ in lines) + ("!" if died else "")

    def fields(self, name, mark="R", **given):
        lines, _ = self.run_names([name], **given)
        return [json.loads(rest) for kind, rest in lines if kind == mark][0]

    def text(self, name, **given):
        result = self.driver("text", self.request([name], **given), "--argstr", "id", name)
        self.assertEqual(result.returncode, 1, result.stdout)
        return result.stderr


def main():
    if not shutil.which("nix-instantiate"):
        sys.exit(os.path.basename(sys.argv[0]) + ": needs Nix (Debian: nix-bin)")
    unittest.main()
