# Does not build, on any CUDA.
{ lib, stdenv, cudaPackages }:

stdenv.mkDerivation {
  pname = "gpu-burn";
  version = "2021-04-29";
  src = ./saxpy.cu;
  nativeBuildInputs = [ cudaPackages.cuda_nvcc ];
  buildPhase = ''
    echo "nvcc -I. -arch=compute_50 compare.cu -o compare.ptx"
    echo "g++ -O3 -c gpu_burn-drv.cpp"
    echo "gpu_burn-drv.cpp:53:10: fatal error: cublas_v2.h: No such file or directory"
    echo "   53 | #include \"cublas_v2.h\""
    echo "compilation terminated."
    echo "make: *** [Makefile:20: gpu_burn-drv.o] Error 1"
    exit 2
  '';
  meta = {
    description = "Stress test of GPUs";
    license = lib.licenses.bsd3;
  };
}
