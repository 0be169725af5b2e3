# The builder of every package: announces the phases as nixpkgs' setup does and runs what the derivation gives for them.
# Inside the sandbox /bin/sh is a static busybox, whose applets (mkdir, ln, cat, …) need no PATH.
export PATH=/no-path SOURCE_DATE_EPOCH=315532800

phase() {
  if [ -n "${NIX_LOG_FD:-}" ]; then
    echo "@nix { \"action\": \"setPhase\", \"phase\": \"$1\" }" >&"$NIX_LOG_FD"
  fi
}

phase unpackPhase
for source in ${src:-} ${srcs:-}; do
  echo "unpacking source archive $source"
  [ -r "$source" ]
done

phase buildPhase
echo "building $name"
eval "${buildPhase:-}"

phase installPhase
for output in $outputs; do
  eval "path=\$$output"
  mkdir -p "$path"
done
eval "${installPhase:-}"

phase fixupPhase
eval "${fixupPhase:-}"

# What a dependent needs at run time is written down, so that it stays a reference.
if [ -n "${propagatedBuildInputs:-}" ]; then
  mkdir -p "$out/nix-support"
  echo "$propagatedBuildInputs" > "$out/nix-support/propagated-build-inputs"
fi
echo "built $name"
