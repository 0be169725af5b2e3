{
  lib,
  stdenv,
  cudaVersion,
  cuda_nvcc,
  cuda_cudart,
  nccl,
}:

stdenv.mkDerivation {
  pname = "nccl-tests";
  version = "2.13.8";
  src = stdenv.fetchurl {
    url = "https://github.com/NVIDIA/nccl-tests/archive/v2.13.8.tar.gz";
    text = "nccl-tests 2.13.8\n";
  };
  nativeBuildInputs = [ cuda_nvcc ];
  buildInputs = [ nccl cuda_cudart.dev ];
  installPhase = ''
    mkdir -p $out/bin
    {
      echo '#!/bin/sh'
      echo '# links ${nccl}/lib/libnccl.so'
      echo 'echo "all_reduce_perf of nccl-tests 2.13.8, CUDA ${cudaVersion}"'
    } > $out/bin/all_reduce_perf
    chmod 755 $out/bin/all_reduce_perf
  '';
  meta = {
    description = "Performance of NCCL's operations";
    license = lib.licenses.bsd3;
    platforms = [ "x86_64-linux" ];
  };
}
