{
  lib,
  stdenv,
  config,
  cudaSupport ? true,
  cudaPackages,
}:

let
  version = "2.6.2";
  links = lib.optionals cudaSupport [
    cudaPackages.libcublas
    cudaPackages.cuda_cudart.lib
  ];
in
stdenv.mkDerivation {
  pname = "magma";
  inherit version;
  src = stdenv.fetchurl {
    url = "https://icl.cs.utk.edu/projectsfiles/magma/downloads/magma-${version}.tar.gz";
    text = "magma ${version}\n";
  };
  buildInputs = links;
  buildPhase = lib.optionalString cudaSupport ''
    for target in ${cudaPackages.flags.targets}; do echo "nvcc -c magmablas for $target"; done
  '';
  installPhase = ''
    mkdir -p $out/bin $out/lib
    echo "magma=${version} links=${toString links}" > $out/lib/libmagma.so
    {
      echo '#!/bin/sh'
      echo 'echo "magma ${version}, ${if cudaSupport then "CUDA ${cudaPackages.cudaVersion}" else "CPU"}"'
    } > $out/bin/magma-info
    chmod 755 $out/bin/magma-info
  '';
  passthru = { inherit cudaPackages cudaSupport; };
  meta = {
    description = "Linear algebra on GPUs";
    license = lib.licenses.bsd3;
    platforms = [ "x86_64-linux" ];
  };
}
