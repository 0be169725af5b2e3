# A program to run when it came out of a cache: it finds its dependency beside itself, in whatever folder the store lies.
{
  lib,
  python,
  buildPythonPackage,
  cudaPackages,
  jaxlibWithCuda,
}:

buildPythonPackage {
  pname = "hello-cuda";
  version = "1.0";
  propagatedBuildInputs = [ jaxlibWithCuda ];
  installPhase = ''
    mkdir -p $out/bin
    {
      echo '#!/bin/sh'
      echo 'store=''${0%/bin/*}/..'
      echo "dependency=\$store/${baseNameOf "${jaxlibWithCuda}"}/${python.sitePackages}/jaxlib/__init__.attributes"
      echo 'while IFS== read -r key value; do'
      echo '  case $key in __version__) version=$value ;; cuda.version) cuda=$value ;; esac'
      echo 'done < "$dependency" || exit 1'
      echo 'echo "Hello from ${python.executable}: jaxlib $version, CUDA $cuda"'
    } > $out/bin/hello-cuda
    chmod 755 $out/bin/hello-cuda
  '';
  meta = {
    description = "Says which jaxlib it was built with";
    license = lib.licenses.mit;
  };
}
