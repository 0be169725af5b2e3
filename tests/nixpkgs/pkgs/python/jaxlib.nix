{
  lib,
  config,
  python,
  buildPythonPackage,
  cudaSupport ? config.cudaSupport,
  cudaPackages,
  absl-py,
  numpy,
  scipy,
}:

let
  inherit (cudaPackages) flags;
  libraries = lib.optionals cudaSupport [
    cudaPackages.cudatoolkit
    cudaPackages.cudnn
    cudaPackages.nccl
  ];
in
buildPythonPackage {
  pname = "jaxlib";
  version = "0.4.1";
  propagatedBuildInputs = [ absl-py numpy scipy ];
  buildInputs = libraries;
  buildPhase =
    if cudaSupport then
      ''
        for target in ${flags.targets}; do echo "bazel: compiling //jaxlib:gpu for $target"; done
      ''
    else
      ''
        echo "bazel: compiling //jaxlib:cpu"
      '';
  installPhase = ''
    echo "${toString libraries}" > $out/${python.sitePackages}/jaxlib/libraries
  '';
  modules.jaxlib =
    if cudaSupport then
      {
        "cuda.version" = cudaPackages.cudaVersion;
        "cuda.is_available" = "gpu";
        "cuda.saxpy" = "kernel ${flags.targets}";
        "cuda.targets" = flags.targets;
      }
    else
      { "cuda.version" = "None"; "cuda.is_available" = "False"; };
  passthru = { inherit cudaSupport cudaPackages; };
  meta = {
    description = "The compiled half of JAX";
    license = lib.licenses.asl20;
  };
}
