# The names of 2020: pytorch, Theano, tensorflow as `…WithCuda`; and one package that has the flag without the attribute.
{ pkgs, version }:

let
  inherit (pkgs) lib config;
  free = {
    shortName = "bsd3";
    free = true;
  };
  module =
    { pname, disabled ? false, ... }@attrs:
    if disabled then
      throw "${pname} not supported for interpreter python${version}"
    else
      pkgs.stdenv.mkDerivation (
        {
          name = "python${version}-${pname}";
          meta.license = free;
        }
        // removeAttrs attrs [ "pname" "disabled" ]
        // { passthru = { pythonModule.pythonVersion = version; } // attrs.passthru or { }; }
      );
  callPackage = pkgs.newScope (self // { inherit module; });

  self = {
    numpy = callPackage ({ module, blas, lapack }: module { pname = "numpy-1.19.1"; buildInputs = [ blas lapack ]; }) { };

    # The assertion of the time: it looks into magma and the toolkit, so that a harmless question forces unfree packages.
    pytorch = callPackage (
      { module, cudatoolkit, cudnn, magma, mpi, numpy, cudaSupport ? config.cudaSupport or false, MPISupport ? false }:
      assert !cudaSupport || magma.cudatoolkit.outPath == cudatoolkit.outPath;
      module {
        pname = "pytorch-1.6.0";
        buildInputs = lib.optionals cudaSupport [ cudatoolkit cudnn magma ] ++ lib.optional MPISupport mpi;
        propagatedBuildInputs = [ numpy ];
        passthru = { inherit cudaSupport; };
      }
    ) { };
    pytorchWithCuda = self.pytorch.override { cudaSupport = true; };
    pytorchWithoutCuda = self.pytorch.override { cudaSupport = false; };

    cupy = callPackage (
      { module, cudatoolkit, cudnn, nccl, cutensor, numpy }:
      module {
        pname = "cupy-8.0.0";
        buildInputs = [ cudatoolkit cudnn nccl cutensor ];
        propagatedBuildInputs = [ numpy ];
      }
    ) { };
    pycuda = callPackage ({ module, cudatoolkit, numpy }: module { pname = "pycuda-2020.1"; buildInputs = [ cudatoolkit ]; propagatedBuildInputs = [ numpy ]; }) { };

    # Ignores the global flag, as most did.
    jaxlib = callPackage (
      { module, cudatoolkit, cudnn, cudaSupport ? false }:
      module {
        pname = "jaxlib-0.1.55";
        buildInputs = lib.optionals cudaSupport [ cudatoolkit cudnn ];
        passthru = { inherit cudaSupport; };
      }
    ) { };
    black = module {
      pname = "black-19.10b0";
      disabled = version == "3.7";
    };
  };
in
self
