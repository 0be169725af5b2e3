#!/bin/sh
# torch@cuda12.9-x86_64-linux on PATH for what follows.
out=$(nix-store -r /nix/store/0000000000000000000000000000000a-torch-2.1 --option extra-substituters 'http://farm:8580' --option extra-trusted-public-keys 'farm-1:a2V5') || exit 1
PATH=$out/bin:$PATH
export PATH
