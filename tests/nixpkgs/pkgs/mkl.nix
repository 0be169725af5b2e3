{ lib, stdenv }:

stdenv.mkDerivation {
  pname = "mkl";
  version = "2022.2.0";
  src = stdenv.fetchurl {
    url = "https://registrationcenter-download.intel.com/mkl-2022.2.0.tgz";
    text = "mkl 2022.2.0\n";
  };
  meta = {
    description = "Intel's math kernels";
    license = lib.licenses.unfree;
    platforms = [ "x86_64-linux" ];
  };
}
