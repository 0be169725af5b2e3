# The names after September 2022: torch, torchWithCuda, openai-triton.
{ pkgs, version }:

let
  inherit (pkgs) lib config;
  module =
    { pname, disabled ? false, ... }@attrs:
    if disabled then
      throw "${pname} not supported for interpreter python${version}"
    else
      pkgs.stdenv.mkDerivation (
        {
          name = "python${version}-${pname}";
          meta.license = {
            shortName = "bsd3";
            free = true;
          };
        }
        // removeAttrs attrs [ "pname" "disabled" ]
        // { passthru = { pythonModule.pythonVersion = version; } // attrs.passthru or { }; }
      );

  # A set may be extended from outside.
  set = lib.fix (builtins.foldl' lib.extend base pkgs.pythonPackagesExtensions);
  base = self: let callPackage = pkgs.newScope (self // { inherit module; }); in {
    numpy = callPackage ({ module, blas, lapack }: module { pname = "numpy-1.26.4"; buildInputs = [ blas lapack ]; }) { };
    torch = callPackage (
      { module, cudaPackages, magma, mpi, numpy, cudaSupport ? config.cudaSupport or false, MPISupport ? false }:
      assert cudaSupport -> magma.cudaPackages.cudaVersion == cudaPackages.cudaVersion;
      module {
        pname = "torch-2.2.1";
        buildInputs =
          lib.optionals cudaSupport [ cudaPackages.cudatoolkit cudaPackages.cudnn cudaPackages.nccl magma ]
          ++ lib.optional MPISupport mpi;
        propagatedBuildInputs = [ numpy ];
        passthru = { inherit cudaSupport cudaPackages; };
      }
    ) { };
    torchWithCuda = self.torch.override { cudaSupport = true; };
    torchWithoutCuda = self.torch.override { cudaSupport = false; };
    # What people try: magma keeps the set's release.
    torch-cuda11 = self.torchWithCuda.override { cudaPackages = pkgs.cudaPackages_11_8; };
    openai-triton = module { pname = "triton-2.1.0"; };
    jaxlib = callPackage (
      { module, cudaPackages, cudaSupport ? config.cudaSupport or false }:
      module {
        pname = "jaxlib-0.4.24";
        buildInputs = lib.optionals cudaSupport [ cudaPackages.cudatoolkit cudaPackages.cudnn ];
        passthru = { inherit cudaSupport cudaPackages; };
      }
    ) { };
    # Its passthru forces the toolkit: a harmless question needs the licence.
    cupy = callPackage (
      { module, cudaPackages, numpy }:
      module {
        pname = "cupy-13.0.0";
        buildInputs = [ cudaPackages.cudatoolkit cudaPackages.cutensor cudaPackages.nccl ];
        propagatedBuildInputs = [ numpy ];
        passthru.cudaRoot = "${cudaPackages.cudatoolkit}";
      }
    ) { };
    # Asked whether it has CUDA, it forces the toolkit.
    gpu-told = callPackage (
      { module, cudaPackages }:
      module {
        pname = "gpu-told-1.0";
        passthru.cudaSupport = cudaPackages.cudatoolkit.outPath != "";
      }
    ) { };
    tensorflow = module {
      pname = "tensorflow-gpu-2.13.0";
      disabled = version == "3.12";
    };
  };
in
set
// lib.optionalAttrs (config.allowAliases or true) {
  pytorch = set.torch;
  pytorchWithCuda = set.torchWithCuda;
  pytorch-bin = throw "pytorch-bin has been renamed to torch-bin";
}
