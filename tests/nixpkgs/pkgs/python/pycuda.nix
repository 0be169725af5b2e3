# Its own tests fail, whatever the slice.
{
  lib,
  buildPythonPackage,
  cudaPackages,
  numpy,
}:

buildPythonPackage {
  pname = "pycuda";
  version = "2022.2";
  propagatedBuildInputs = [ numpy ];
  buildInputs = [ cudaPackages.cudatoolkit ];
  buildPhase = ''
    echo "creating build/lib.linux-x86_64/pycuda"
    echo "copying pycuda/gpuarray.py -> build/lib.linux-x86_64/pycuda"
    echo "============================= test session starts =============================="
    echo "test/test_gpuarray.py::TestGPUArray::test_minmax FAILED                   [ 98%]"
    echo "E   AssertionError: 0.8127 != 0.8129 within 4 places"
    echo "========================= 1 failed, 61 passed in 2.31s ========================="
    exit 2
  '';
  meta = {
    description = "CUDA for Python";
    license = lib.licenses.mit;
  };
}
