"""The rows of the table: what is run on our side, what on the peer's, and the target."""
import dataclasses
import json
import os
import subprocess

from inputs import Store, hash_part, remove_tree
from measure import Pairs, Usage, in_turn

MEMORY_TARGET = 64  # MiB


@dataclasses.dataclass
class Row:
    name: str
    what: str
    peer: str = ""
    pairs: Pairs = None
    target: str = ""
    measured: str = ""
    met: bool = None
    note: str = ""


class Bench:
    """Each method named as a group gives that group's rows, measured: None in place of one that is not wanted."""
    GROUPS = ("closure", "nar", "zstd", "memory", "daemon", "micro")

    def __init__(self, meter, inputs, rounds, wanted):
        self.meter, self.inputs, self.rounds, self.wanted = meter, inputs, rounds, wanted

    def ours(self, *argv, **how):
        return self.meter.run([self.meter.bench, *argv], **how)

    def compare(self, name, what, peer_name, ours, peer, most=None, figure="cpu", target="", say=None, rounds=None,
                note=str):
        """`most`: the largest allowed ratio of `figure`; say(ratio) puts it in the target's words; note() is asked last."""
        if not self.wanted(name):
            return None
        pairs = in_turn(rounds or self.rounds, ours, peer)
        ratio = pairs.ratio(figure).median
        measured = say(ratio) if say else f"{ratio:.2f}" if most else ""
        return Row(name, what, peer_name, pairs, target, measured, None if most is None else ratio <= most,
                   note())

    # ---- closure

    def closure(self):
        store, top = self.inputs.closure
        def load(_):
            return self.ours("closure", store.root, top, 1, env=store.env)

        def peer(*argv):
            return lambda _: self.meter.run([*argv, top], env=store.env, stdout="discard")
        show, query = peer("nix", "show-derivation", "-r"), peer("nix-store", "-qR")
        less = lambda ratio: f"{1 / ratio:.1f}x less"

        def counted():
            counts = json.loads(load(0).output)
            return ", ".join(f"{counts[key]} {key}" for key in ("derivations", "edges", "outputs", "fixed_output"))
        yield self.compare("closure-show", "load a closure, one process", "nix show-derivation -r", load, show, 1 / 5,
                           target="CPU: 5x less", say=less, note=counted)
        yield self.compare("closure-query", "load a closure, one process", "nix-store -qR", load, query, 1,
                           target="CPU: at most 1.00")
        repeat = 50

        def repeated(_):
            used = self.ours("closure", store.root, top, repeat, env=store.env)
            return Usage(used.wall / repeat, json.loads(used.output)["cpu_each"], used.peak)
        yield self.compare("closure-repeated", f"load a closure, one of {repeat} in a process", "nix show-derivation -r",
                           repeated, show, 1 / 5, target="CPU: 5x less", say=less)
        hydrant = os.path.join(os.path.dirname(os.path.dirname(self.meter.bench)), "bin/hydrant")
        if os.path.exists(hydrant) and b"closure" in subprocess.run([hydrant, "inspect", "--help"], capture_output=True).stdout:
            yield self.compare("closure-inspect", "hydrant inspect closure", "nix show-derivation -r",
                               lambda _: self.meter.run([hydrant, "inspect", "closure", "--store", store.root, top],
                                                        env=store.env, stdout="discard"), show)

    # ---- nar

    def openssl_speed(self, size):
        """What hashing `size` bytes costs by `openssl speed` on one core."""
        used = self.meter.run(["openssl", "speed", "-mr", "-evp", "sha256", "-bytes", "16384", "-seconds", "1"])
        rate = float(next(line for line in used.output.splitlines() if line.startswith("+F:")).split(":")[-1])
        return Usage(size / rate, size / rate, used.peak)

    def nar(self):
        tree, nar = self.inputs.tree, self.inputs.nar
        size = nar.stat().st_size
        rate = lambda ratio: f"{1 / ratio:.2f} of its rate"
        for name, folder, kind in (("nar-scan", "package", "a CUDA package's shape"), ("nar-scan-small", "tree", "small files")):
            bytes_of = lambda folder=folder: sum(
                os.lstat(os.path.join(f, n)).st_size for f, _, names in os.walk(getattr(self.inputs, folder)) for n in names)
            yield self.compare(name, "dump + SHA-256 + reference scan", "openssl speed sha256",
                               lambda _, folder=folder: self.ours("scan", getattr(self.inputs, folder), self.inputs.hash_parts),
                               lambda _: self.openssl_speed(bytes_of()), 1 / 0.85, target="0.85 of its rate", say=rate,
                               note=lambda kind=kind: f"{bytes_of() / 1e6:.0f} MB, {kind}, 1,000 hash parts")
        yield self.compare("nar-scan-read", "dump + SHA-256 + reference scan", "openssl dgst -sha256 of the same files",
                           lambda _: self.ours("scan", self.inputs.package, self.inputs.hash_parts),
                           lambda _: self.meter.run(["openssl", "dgst", "-sha256", *sorted(
                               path for path in self.inputs.package.glob("**/*") if path.is_file())], stdout="discard"))
        yield self.compare("nar-dump", "dump", "nix-store --dump", lambda _: self.ours("dump", tree, stdout="discard"),
                           lambda _: self.meter.run(["nix-store", "--dump", tree], stdout="discard"), 1 / 0.95,
                           target="0.95 of its rate", say=rate)
        yield self.compare("nar-hash", "dump + SHA-256", "nix-hash --type sha256", lambda _: self.ours("hash", tree),
                           lambda _: self.meter.run(["nix-hash", "--type", "sha256", "--base32", tree]))

        def restored(run):
            target = self.inputs.written / "restored"
            try:
                return run(target)
            finally:
                remove_tree(target)
        yield self.compare(
            "nar-restore", "restore", "nix-store --restore",
            lambda _: restored(lambda target: self.ours("restore", target, stdin=nar)),
            lambda _: restored(lambda target: self.meter.run(["nix-store", "--restore", target], stdin=nar)), rounds=3)
        yield self.compare("nar-verify", "verify structure, SHA-256, references", "openssl speed sha256",
                           lambda _: self.ours("verify", self.inputs.hash_parts, stdin=nar),
                           lambda _: self.openssl_speed(size), rounds=3)

    # ---- zstd

    def zstd(self):
        nar, sizes = self.inputs.nar, {}

        def packed(side, argv):
            def run(_):
                target = self.inputs.written / f"packed-{side}"
                used = self.meter.run(argv, stdin=nar, stdout=target)
                sizes[side] = target.stat().st_size
                return used
            return run

        def compared():
            ours, peer = (sizes[side] / nar.stat().st_size for side in ("ours", "peer"))
            return f"size {ours:.4f} of the NAR, the tool's {peer:.4f}"
        for threads in (1, 2):
            yield self.compare(f"zstd-{threads}", f"compress, level 3, {threads} thread{'s' * (threads > 1)}",
                               f"zstd -3 -T{threads}", packed("ours", [self.meter.bench, "compress", 3, threads]),
                               packed("peer", ["zstd", "-q", "-c", "-3", f"-T{threads}"]), 1.10,
                               figure="wall" if threads > 1 else "cpu", rounds=3,
                               target=f"{'wall' if threads > 1 else 'CPU'}: at most 1.10", note=compared)
        zst = self.inputs.zst
        tool = lambda _: self.meter.run(["zstd", "-q", "-d", "-c"], stdin=zst, stdout="discard")
        for threads in (1, 2):
            yield self.compare(f"zstd-decode-{threads}", f"decode, {threads} thread{'s' * (threads > 1)}", "zstd -d",
                               lambda _: self.ours("decompress", "zstd", threads, stdin=zst, stdout="discard"), tool)

    # ---- memory

    def memory(self):
        size, bench = self.inputs.large, self.meter.bench
        in_nar, stream = [bench, "sample-nar", str(size)], [bench, "sample-stream", str(size)]

        yield self.peak("dump", "dump a sparse file", "dump", self.inputs.sparse, stdout="discard")
        yield self.peak("verify", "verify", "verify", self.inputs.hash_parts, source=in_nar)
        yield self.peak("list", "list", "list", source=in_nar)
        nar, target = self.inputs.written / "entries.nar", self.inputs.written / "restored-large"
        if self.wanted("memory-dump-entries") or self.wanted("memory-list-entries"):
            self.ours("dump", self.inputs.entries, stdout=nar)
            yield self.peak("dump-entries", "dump a folder of 100,000 files", "dump", self.inputs.entries, stdout="discard")
            yield self.peak("list-entries", "list it", "list", stdin=nar)
            nar.unlink()
        yield self.peak("restore", "restore", "restore", target, source=in_nar)
        target.unlink(missing_ok=True)
        for threads in (1, 2):
            yield self.peak(f"compress-{threads}", f"zstd, {threads} thread{'s' * (threads > 1)}", "compress", 3, threads,
                            source=stream, stdout="discard")
        packed = self.inputs.written / "large.zst"
        if self.wanted("memory-decompress-1") or self.wanted("memory-decompress-2"):
            self.ours("compress", 3, 2, source=stream, stdout=packed)
            for threads in (1, 2):
                yield self.peak(f"decompress-{threads}", f"zstd decoded, {threads} thread{'s' * (threads > 1)}", "decompress",
                                "zstd", threads, stdin=packed, stdout="discard")
            packed.unlink()
        yield self.peak("decompress-xz", "xz -6 decoded, 16 MiB", "decompress", "xz", 1, stdout="discard",
                        source=["sh", "-c", f"'{bench}' sample-stream 16777216 | xz -6"])
        if self.wanted("memory-add-nar") or self.wanted("memory-nar-from-path"):
            yield from self.memory_of_daemon(in_nar)

    def memory_of_daemon(self, in_nar):
        store = Store(self.inputs.written / "large-store")
        digest, nar_size, _ = self.ours("verify", self.inputs.hash_parts, source=in_nar).output.split()
        path = f"/nix/store/{hash_part('large')}-large"
        row = self.peak("add-nar", "NAR to a daemon", "add-nar", store.root, path, digest, nar_size, source=in_nar,
                        env=store.env, always=True)
        yield row if self.wanted(row.name) else None
        yield self.peak("nar-from-path", "NAR from a daemon", "nar-from-path", store.root, path, env=store.env)
        remove_tree(store.folder)

    def peak(self, name, what, *argv, always=False, **how):
        if not always and not self.wanted(f"memory-{name}"):
            return None
        used = self.ours(*argv, **how)
        peak = self.own_peak(used)
        return Row(f"memory-{name}", what, "", Pairs([used], []), f"peak under {MEMORY_TARGET} MiB", f"{peak:.0f} MiB",
                   peak < MEMORY_TARGET)

    @staticmethod
    def own_peak(used):
        """MiB. The daemon that a verb talks to is a child of it and not ours: such verbs print their own peak last."""
        last = used.output.splitlines()[-1:] or [""]
        return float(last[0].split()[1]) / 1024 if last[0].startswith("peak_kib ") else used.peak

    # ---- daemon

    def daemon(self):
        template, derivations = self.inputs.trivial

        def in_fresh_store(run):
            store = template.copy(self.inputs.written / "fresh")
            try:
                return run(store)
            finally:
                remove_tree(store.folder)

        def realise(jobs):
            return lambda _: in_fresh_store(lambda store: self.meter.run(
                ["nix-store", "--realise", f"-j{jobs}", *derivations], env=store.env))
        yield self.compare(
            "daemon-each", "100 derivations, BuildDerivation one by one", "nix-store --realise -j1",
            lambda _: in_fresh_store(lambda store: self.ours("build-each", store.root, env=store.env,
                                                             text="\n".join(derivations) + "\n")),
            realise(1), 1.15, figure="wall", target="wall: at most 1.15", rounds=3)
        yield self.compare(
            "daemon-all", "100 derivations, BuildPathsWithResults, 2 jobs", "nix-store --realise -j2",
            lambda _: in_fresh_store(lambda store: self.ours("build-all", store.root, 2, env=store.env,
                                                             text="\n".join(derivations) + "\n")),
            realise(2), 1.15, figure="wall", target="wall: at most 1.15", rounds=3)

    # ---- micro

    def micro(self):
        used = self.ours("micro", "--benchmark_format=json", "--benchmark_min_time=0.1",
                         f"--benchmark_repetitions={max(2, self.rounds)}", "--benchmark_enable_random_interleaving=true",
                         "--benchmark_report_aggregates_only=true")
        figures = {b["run_name"]: b for b in json.loads(used.output)["benchmarks"] if b["aggregate_name"] == "median"}
        for name, figure in sorted(figures.items()):
            rate = (f"{figure['bytes_per_second'] / 1e6:,.0f} MB/s" if "bytes_per_second" in figure
                    else f"{1e9 / figure['cpu_time']:,.0f}/s")
            yield Row(f"micro-{name}", f"{figure['cpu_time']:,.0f} ns of CPU each", measured=rate)
        ratio = figures["NarInfoParseAndVerify"]["cpu_time"] / figures["SodiumVerifyAlone"]["cpu_time"]
        yield Row("micro-narinfo", "parse and verify a narinfo", "libsodium verify alone", measured=f"{ratio:.2f} of its time")
