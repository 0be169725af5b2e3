#!/usr/bin/env python3
"""Each way in which a build fails has its class in the words of both versions of Nix."""
import unittest

from nixes import TwoNixes, classify

DRV = 'derivation ({{ name = "probe"; system = "x86_64-linux"; builder = "/bin/sh"; args = [ "-c" "{script}" ]; }} // {{ {more} }})'
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def probe(script, more=""):
    return DRV.format(script=script, more=more)


# Situation -> (expression, options of the realisation, class).
FAILURES = {
    "it says no": (probe("echo this is why >&2; exit 3"), (), "builder_failed"),
    "it is killed": (probe("ulimit -t 1; while :; do :; done"), (), "killed"),
    "it takes too long": (probe("while :; do :; done"), ("--option", "timeout", "1"), "timeout"),
    "it is silent too long": (probe("while :; do :; done"), ("--option", "max-silent-time", "1"), "timeout"),
    "it talks too much": (probe("while :; do echo more and more and more; done"), ("--option", "max-build-log-size", "10000"), "log_limit"),
    "it is not what was promised": (probe("echo x > $out", f'outputHashAlgo = "sha256"; outputHash = "{EMPTY}";'), (), "hash_mismatch"),
    "it makes nothing": (probe(":"), (), "output_missing"),
    "nobody has the feature": (probe("echo x > $out", 'requiredSystemFeatures = [ "quantum" ];'), (), "missing_features"),
    "nobody has the system": (probe("echo x > $out", 'system = "riscv64-linux";'), (), "missing_features"),
    # Both builds are in one text: the one that failed by itself counts.
    "what it needs fails": (probe("echo x > $out", f'needs = {probe("exit 1")};'), (), "builder_failed"),
}


class FailuresTest(TwoNixes):
    def test_every_failure_has_its_class_in_the_words_of_both(self):
        for situation, (expression, options, expected) in FAILURES.items():
            for nix in self.old, self.new:
                with self.subTest(situation, nix=nix.version):
                    drv = nix.instantiate(expression)
                    done = nix.run("nix-store", "--realise", drv, *options, check=False)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertEqual(classify("attempt", done.stderr)["class"], expected, done.stderr)

    def test_what_differs_the_second_time_is_not_deterministic(self):
        for nix in self.old, self.new:
            with self.subTest(nix=nix.version):
                drv = nix.instantiate(probe("read word < /proc/sys/kernel/random/uuid; echo $word > $out"))
                nix.run("nix-store", "--realise", drv)
                again = nix.run("nix-store", "--realise", "--check", drv, check=False)
                self.assertEqual(classify("attempt", again.stderr)["class"], "not_deterministic", again.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
