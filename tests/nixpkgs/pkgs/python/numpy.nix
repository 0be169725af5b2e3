{ lib, buildPythonPackage, python, pythonAtLeast, blas }:

buildPythonPackage {
  pname = "numpy";
  version = if pythonAtLeast "3.12" then "1.26.4" else "1.23.5";
  buildInputs = [ blas ];
  installPhase = ''
    echo "${blas}/lib/libblas.so" > $out/${python.sitePackages}/numpy/libraries
  '';
  modules.numpy = {
    "linalg.__name__" = "numpy.linalg";
    "show_config" = blas.provider;
  };
  meta = {
    description = "Arrays";
    license = lib.licenses.bsd3;
  };
}
