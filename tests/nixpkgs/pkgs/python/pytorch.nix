{
  lib,
  config,
  stdenv,
  python,
  buildPythonPackage,
  cudaSupport ? config.cudaSupport,
  cudaPackages,
  magma,
  numpy,
  typing-extensions,
}:

assert (cudaSupport -> ((magma).cudaPackages == cudaPackages));

let
  inherit (cudaPackages) flags;
  libraries = lib.optionals cudaSupport [
    cudaPackages.cudatoolkit
    cudaPackages.cudnn
    cudaPackages.nccl
    magma
  ];

  pytorch = buildPythonPackage {
    pname = "torch";
    version = "1.13.1";
    src = stdenv.fetchurl {
      url = "https://github.com/pytorch/pytorch/archive/v1.13.1.tar.gz";
      text = "pytorch 1.13.1\n";
    };
    propagatedBuildInputs = [ numpy typing-extensions ];
    buildInputs = libraries;
    buildPhase = lib.optionalString cudaSupport ''
      for target in ${flags.targets}; do echo "[1/1] Building CUDA object Aten.cu.o for $target"; done
    '';
    installPhase = ''
      echo "${toString libraries}" > $out/${python.sitePackages}/torch/libraries
    '';
    modules.torch =
      if cudaSupport then
        {
          "version.cuda" = cudaPackages.cudaVersion;
          "cuda.is_available" = "gpu";
          "cuda.get_arch_list" = flags.targets;
          "cuda.saxpy" = "kernel ${flags.targets}";
        }
      else
        {
          "version.cuda" = "None";
          "cuda.is_available" = "False";
        };
    passthru = {
      inherit cudaSupport cudaPackages gpuCheck;
      tests = lib.optionalAttrs cudaSupport { cudaAvailable.gpuCheck = gpuCheck; };
    };
    meta = {
      description = "Tensors and neural networks";
      license = lib.licenses.bsd3;
    };
  };

  gpuCheck = stdenv.mkDerivation {
    name = "${pytorch.name}-tester-cuda-available-gpu-check";
    requiredSystemFeatures = [ "cuda" ];
    # What the feature promises.
    CUDA_VISIBLE_DEVICES = "0";
    interpreter = python.withPackages (_: [ pytorch ]);
    buildPhase = ''$interpreter/bin/python3 -c "import torch; assert torch.cuda.is_available()"'';
    installPhase = "mkdir -p $out";
    meta = {
      description = "Whether torch sees a GPU";
      license = lib.licenses.bsd3;
    };
  };
in
pytorch
