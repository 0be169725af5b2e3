"""Runs a command and tells what it used; runs two in turn and tells their ratio. Knows nothing of Nix."""
import dataclasses
import json
import os
import signal
import statistics
import subprocess
import tempfile


class RunFailed(Exception):
    """A measured command could not be run to its end."""


@dataclasses.dataclass
class Usage:
    wall: float  # seconds
    cpu: float  # seconds, user and system, of the process and all its descendants that were waited for
    peak: float  # MiB, the largest of them
    output: str = ""


def end_group(process):
    """Nothing when it ended by itself."""
    if process is not None and process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Meter:
    """`bench`: the path of nix_bench, which starts what is measured (see launch.cc for why)."""

    def __init__(self, bench):
        self.bench = str(bench)

    def run(self, argv, env=None, stdin=None, source=None, text=None, stdout=None):
        """Usage of `argv`. Its input: the file `stdin`, or what the command `source` writes, or `text`; its output goes to
        the file `stdout`, to "discard", or (None) is captured."""
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as given:
            given.write((text or "").encode())
            given.seek(0)
            # Groups of their own: an interrupted run ends what it started, with all descendants.
            feeder = subprocess.Popen(source, env=env, stdout=subprocess.PIPE, start_new_session=True) if source else None
            input_file = feeder.stdout if feeder else open(stdin, "rb") if stdin else given
            output_file = open(os.devnull if stdout == "discard" else stdout, "wb") if stdout else told
            read_end, write_end = os.pipe()
            done = None
            try:
                done = subprocess.Popen([self.bench, "measure", str(write_end), *map(str, argv)], env=env, stdin=input_file,
                                        stdout=output_file, stderr=errors, pass_fds=[write_end], start_new_session=True)
                os.close(write_end)
                if feeder:
                    feeder.stdout.close()
                with os.fdopen(read_end) as result:
                    report = result.read()
                done.wait()
                feeder_status = feeder.wait() if feeder else 0
            finally:
                for process in (done, feeder):
                    end_group(process)
                for opened in (input_file, output_file):
                    opened.close() if opened not in (given, told) else None
            if not report or json.loads(report)["status"] != 0 or (feeder and feeder_status):
                errors.seek(0)
                raise RunFailed(f"{' '.join(map(str, argv))[:200]}: {errors.read().decode(errors='replace')[-1000:].strip()}")
            told.seek(0)
            used = json.loads(report)
            return Usage(used["wall"], used["user"] + used["system"], used["peak_kib"] / 1024, told.read().decode())


@dataclasses.dataclass
class Ratio:
    """Ours over the peer's, pair by pair."""
    median: float
    least: float
    most: float

    def __str__(self):
        return f"{self.median:.2f} ({self.least:.2f}–{self.most:.2f})"


@dataclasses.dataclass
class Pairs:
    ours: list
    peer: list

    def ratio(self, figure):
        ratios = [getattr(a, figure) / max(getattr(b, figure), 1e-6) for a, b in zip(self.ours, self.peer)]
        return Ratio(statistics.median(ratios), min(ratios), max(ratios))


def typical(usages):
    return Usage(*(statistics.median(getattr(u, figure) for u in usages) for figure in ("wall", "cpu", "peak")))


def in_turn(rounds, ours, peer):
    """ours(i) and peer(i) give the Usage of round i; the one that begins changes from round to round. A first run of each,
    not counted, warms caches."""
    ours(-1), peer(-1)
    pairs = Pairs([], [])
    for i in range(rounds):
        for side in ("ours", "peer") if i % 2 == 0 else ("peer", "ours"):
            getattr(pairs, side).append((ours if side == "ours" else peer)(i))
    return pairs
