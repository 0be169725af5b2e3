"""What the rows work on, generated when first asked for in a temporary folder that goes at the end: the same on every run
of one machine, no network, root or not."""
import functools
import hashlib
import itertools
import os
import pathlib
import random
import shutil
import stat
import subprocess
import tempfile
import zlib

TREE_BYTES = 500_000_000
LARGEST_FILE = 64_000_000
LIBRARY_BLOCK = 1_000_000
BASE32 = "0123456789abcdfghijklmnpqrsvwxyz"
# The union over the 136 roots of a real matrix: derivations, fixed-output ones, inputs, sources.
DERIVATIONS, FIXED, EDGES, SOURCES = 1415, 566, 10516, 227


def hash_part(seed):
    digest = hashlib.sha256(str(seed).encode()).digest()
    return "".join(BASE32[b & 31] for b in digest)


def remove_tree(path):
    """Read-only folders of a store too."""
    for folder, _, _ in os.walk(path):
        os.chmod(folder, 0o700)
    shutil.rmtree(path)


def memory_folder(large):
    """A file system in memory, where there is one with room, or None. For what is written, so that no disk is measured; what
    is read lies on the disk's file system, as a store does, and in its cache."""
    try:
        free = os.statvfs("/dev/shm").f_bavail * os.statvfs("/dev/shm").f_frsize
        available = next(int(line.split()[1]) * 1024 for line in open("/proc/meminfo") if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return None
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) and min(free, available / 2) > large + 2 * TREE_BYTES else None


class Store:
    """A Nix store of its own, in which Nix builds in its sandbox with busybox as /bin/sh, whatever nix.conf says."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.root = self.folder / "root"
        for name in ("root", "conf", "cache", "home"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        busybox = shutil.which("busybox") or "/bin/busybox"
        self.env = {
            "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.folder / "cache"), "NIX_CONF_DIR": str(self.folder / "conf"),
            "NIX_REMOTE": str(self.root),
            "NIX_CONFIG": f"sandbox = true\nsandbox-fallback = false\nsandbox-paths = /bin/sh={busybox}\nbuild-users-group =\n"
                          "substituters =\nexperimental-features = nix-command\n"}

    def instantiate(self, expression):
        file = self.folder / "expression.nix"
        file.write_text(expression)
        done = subprocess.run(["nix-instantiate", str(file)], env=self.env, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"nix-instantiate: {done.stderr[-1000:]}")
        return done.stdout.split()

    def copy(self, folder):
        shutil.copytree(self.folder, folder, symlinks=True)
        return Store(folder)


def closure_expression():
    """One top derivation over DERIVATIONS - 1 others, with sizes and attributes as nixpkgs has them."""
    dice = random.Random(1)
    fixed = set(dice.sample(range(DERIVATIONS - 1), FIXED))
    per_fixed, lines = 4, []
    per_other = (EDGES - per_fixed * FIXED) / (DERIVATIONS - FIXED) - 1  # the edge to the one before comes on top
    for i in range(DERIVATIONS):
        wanted = per_fixed if i in fixed else max(1, round(dice.gauss(per_other, 4)))
        inputs = {dice.randrange(max(0, i - 300), i) for _ in range(wanted)} if i else set()
        inputs |= {i - 1} if i else set()  # all are in the closure of the last
        size = min(9500, max(200, int(dice.lognormvariate(6.6, 0.8))))
        kind = "fixed" if i in fixed else "package"
        lines.append(f'  d{i} = {kind} {i} {size} s{dice.randrange(SOURCES)} [ {" ".join(f"d{n}" for n in sorted(inputs))} ];')
    sources = [f'  s{i} = builtins.toFile "setup-hook-{i}.sh" "# {i}\\n";' for i in range(SOURCES)]
    return EXPRESSION.replace("@DEFINITIONS@", "\n".join(sources + lines)) + f"d{DERIVATIONS - 1}\n"


EXPRESSION = r"""
let
  script = size: builtins.substring 0 size (builtins.concatStringsSep "" (builtins.genList (n:
    "runHook preBuild\n\tmake -j\"$NIX_BUILD_CORES\" step=${toString n}\n") (size / 50 + 1)));
  common = n: size: source: inputs: {
    name = "package-${toString n}-1.2.3"; pname = "package-${toString n}"; version = "1.2.3"; system = "x86_64-linux";
    builder = "/bin/sh"; args = [ "-e" source ]; buildInputs = inputs; buildPhase = script size;
    propagatedBuildInputs = ""; nativeBuildInputs = builtins.length inputs; depsBuildBuild = ""; depsBuildTarget = "";
    depsHostHost = ""; depsTargetTarget = ""; configureFlags = ""; cmakeFlags = ""; mesonFlags = ""; patches = "";
    doCheck = false; doInstallCheck = ""; strictDeps = true; outputs = [ "out" ];
  };
  package = n: size: source: inputs:
    derivation (common n size source inputs // (if builtins.bitAnd n 1 == 0 then { outputs = [ "out" "dev" ]; } else { }));
  fixed = n: size: source: inputs: derivation (common n (size / 2) source inputs // {
    urls = [ "https://example.org/package-${toString n}.tar.gz" ]; outputHashMode = "flat"; outputHashAlgo = "sha256";
    outputHash = builtins.hashString "sha256" (toString n); impureEnvVars = [ "http_proxy" "https_proxy" "ftp_proxy" ];
  });
@DEFINITIONS@
in """


class Inputs:
    def __init__(self, bench, large):
        self.bench, self.large = str(bench), large
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hydrant-bench-"))
        self.written = pathlib.Path(tempfile.mkdtemp(prefix="hydrant-bench-", dir=memory_folder(large)))

    def close(self):
        remove_tree(self.folder)
        remove_tree(self.written)

    @functools.cached_property
    def tree(self):
        """About TREE_BYTES of this machine's /usr/lib, its folders evenly chosen: files of all sizes, symlinks."""
        tree, found = self.folder / "tree", []
        for folder, _, names in os.walk("/usr/lib"):
            chance = zlib.crc32(folder.encode(errors="surrogateescape"))
            for name in names:
                path = os.path.join(folder, name)
                info = os.lstat(path)
                if stat.S_ISLNK(info.st_mode) or (stat.S_ISREG(info.st_mode) and info.st_size <= LARGEST_FILE
                                                  and os.access(path, os.R_OK)):
                    found.append((chance, path, info.st_size))
        left = TREE_BYTES
        for _, path, size in sorted(found):
            if left <= 0:
                break
            target = str(tree) + path
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(path, target, follow_symlinks=False)
            left -= size
        tree.mkdir(exist_ok=True)
        if left > 0:  # a bare machine
            with open(tree / "sample", "wb") as sample:
                subprocess.run([self.bench, "sample-stream", str(left)], stdout=sample, check=True)
        return tree

    def library_bytes(self):
        """Blocks of LIBRARY_BLOCK from the shared libraries below /usr/lib, over and over."""
        found = sorted(path for path in pathlib.Path("/usr/lib").glob("**/*.so*")
                       if path.is_file() and not path.is_symlink() and path.stat().st_size >= LIBRARY_BLOCK)
        for path in itertools.cycle(found):
            with open(path, "rb") as library:
                while len(block := library.read(LIBRARY_BLOCK)) == LIBRARY_BLOCK:
                    yield block

    @functools.cached_property
    def package(self):
        """TREE_BYTES in the shape of a CUDA package: nine large libraries, of what this machine's libraries hold, and some
        3,300 headers."""
        folder, dice = self.folder / "package", random.Random(2)
        (folder / "lib").mkdir(parents=True)
        libraries = self.library_bytes()
        for i in range(9):
            code = b"".join(itertools.islice(libraries, TREE_BYTES // 10 // LIBRARY_BLOCK))
            (folder / "lib" / f"lib{i}.so").write_bytes(code)
        left = TREE_BYTES // 10
        for i in range(1_000_000):
            if left <= 0:
                break
            size = min(left, int(dice.lognormvariate(9, 1)))
            header = folder / "include" / f"part{i % 50}" / f"header{i}.h"
            header.parent.mkdir(parents=True, exist_ok=True)
            header.write_bytes(dice.randbytes(size))
            left -= size
        return folder

    @functools.cached_property
    def nar(self):
        path = self.folder / "tree.nar"
        with open(path, "wb") as file:
            subprocess.run(["nix-store", "--dump", str(self.tree)], stdout=file, check=True)
        return path

    @functools.cached_property
    def zst(self):
        path = self.folder / "tree.nar.zst"
        with open(path, "wb") as file:
            subprocess.run([self.bench, "compress", "3", "2"], stdin=open(self.nar, "rb"), stdout=file, check=True)
        return path

    @functools.cached_property
    def hash_parts(self):
        path = self.folder / "hash-parts"
        path.write_text("\n".join(hash_part(i) for i in range(1000)))
        return path

    @functools.cached_property
    def closure(self):
        """(store, top derivation)"""
        store = Store(self.folder / "closure")
        return store, store.instantiate(closure_expression())[0]

    @functools.cached_property
    def trivial(self):
        """(store, 100 derivations without inputs)"""
        store = Store(self.written / "trivial")
        return store, store.instantiate(
            'builtins.genList (n: derivation { name = "trivial-${toString n}"; system = builtins.currentSystem; '
            'builder = "/bin/sh"; args = [ "-c" "echo ${toString n} > $out" ]; }) 100')

    @functools.cached_property
    def sparse(self):
        path = self.written / "sparse"
        with open(path, "wb") as file:
            file.truncate(self.large)
        return path

    @functools.cached_property
    def entries(self):
        """A folder of 100,000 empty files."""
        folder = self.written / "entries"
        folder.mkdir()
        for i in range(100_000):
            (folder / f"entry-{i:06}-of-a-usual-length.txt").touch()
        return folder
